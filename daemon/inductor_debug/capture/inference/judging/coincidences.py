"""Sizes that nothing declares and that run with one value only, because two results of the model meet by chance.

Batches, lengths, heights and widths are free unless the model says otherwise: by a table of positions, a linear layer
after a flatten, a number in a reshape. Where such a size is refused because of the model's own parameters or constants,
the model declares it. Where two results that both come of the inputs contradict each other, only the guess made them
agree: a transpose that is missing is found so. Results that come of different inputs are another matter: those inputs
go together, as the caller knows.
"""

from __future__ import annotations

from inductor_debug.capture.conflicts import ConflictKind
from inductor_debug.capture.inference.changes import resized_alone, resized_together
from inductor_debug.capture.inference.freedom import Found, numbers_of
from inductor_debug.capture.inference.judging.refusing_call import RefusedCall, refused_call
from inductor_debug.capture.inference.judging.remarks import Remark
from inductor_debug.capture.inference.plan import GENERIC
from inductor_debug.capture.inference.specs import Guess
from inductor_debug.capture.inference.trial import Trials

_UNDECLARED = frozenset("BTSLHWFA")
"""Names of sizes that are the caller's: batches, lengths, extents."""
_BATCH = "B"
_FACTORS = (3, 5, 7)


def coincidences(trials: Trials, found: Found) -> list[Remark]:
    """The sizes of a call that runs which are no others for no reason that the model gives."""
    guess, sizes = found.guess, found.guess.size_of()
    result: list[Remark] = []
    seen: set[int] = set()
    for number, (name, spec) in enumerate(guess.tensors()):
        for dim, called in enumerate(spec.dims):
            size = called if isinstance(called, int) else sizes[called]
            role = called if isinstance(called, str) else GENERIC.get(len(spec.dims), ())[dim : dim + 1]
            tied = called == _BATCH and _is_tied(found)
            if (called in found.free and not tied) or size < 2 or size in seen or not _UNDECLARED.issuperset(role):
                continue
            seen.add(size)
            other = _another(size, trials)
            if not tied and trials.run(_resized_everywhere(guess, size, other)).error is None:
                continue
            changed = guess.with_sizes(**{called: other}) if isinstance(called, str) else None
            changed = changed or resized_alone(guess, name, spec, dim, other)
            refused = refused_call(trials, changed)
            if refused is not None and _is_by_chance(refused, number, other):
                because = (
                    f"It runs only where dimension {dim} of `{name}` is {size}, and nothing in the model declares "
                    "that size."
                )
                result.append(Remark("fixed-size", because, changed))
    return result


def _is_tied(found: Found) -> bool:
    """Whether the batch runs only with the size of another dimension of a tensor, which has nothing to do with it."""
    traced = found.traced.size_of()
    together = (spec.dims for _, spec in found.traced.tensors() if _BATCH in spec.dims)
    return any(
        dim != _BATCH and isinstance(dim, str) and traced[dim] == traced[_BATCH] for dims in together for dim in dims
    )


def _another(size: int, trials: Trials) -> int:
    """A value that is no number of the model, and shares divisors with `size`."""
    taken = numbers_of(trials.subject)
    return next((size * factor for factor in _FACTORS if size * factor not in taken), size * 11)


def _resized_everywhere(guess: Guess, size: int, other: int) -> Guess:
    """Another size wherever the call has this one, for dimensions that must agree with each other."""
    sizes = guess.size_of()
    named = guess.with_sizes(**{name: other for name in guess.used_sizes() if sizes[name] == size})
    return resized_together(named, size, other)


def _is_by_chance(refused: RefusedCall, changed: int, size: int) -> bool:
    """Whether two results of one input are at odds, not one with a parameter, a constant or a number of the code.

    What is made anew with the size of the input (`torch.arange(x.shape[1])`) comes of it as well.

    Args:
        refused: what was refused.
        changed: the input of which a size was changed, by number.
        size: what that was changed to: no number of the model.
    """
    conflict = refused.conflict
    if conflict is None or conflict.kind is not ConflictKind.SIZE or conflict.right is None:
        return False
    sides = conflict.left, conflict.right
    comes_of = [changed in refused.sources[side.operand] for side in sides]
    return any(comes_of) and all(of or side.size == size for of, side in zip(comes_of, sides, strict=True))
