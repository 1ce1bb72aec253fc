"""Guesses that mend what contradicts itself where torch refused a call: only the inputs are changed that it came of.

That two sizes should be equal, or that one should be a number which the code gives, is an equation between dimensions
of inputs. Each is solved for the dimensions that have such a size; sizes are distinct, so these are hardly ever others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from inductor_debug.capture.failures.conflicts import Conflict, ConflictKind, Side
from inductor_debug.capture.inference.search.operand_watch import RefusedOperands
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials
from inductor_debug.capture.inference.specs.spec_changes import replaced, shifted
from inductor_debug.capture.inference.specs.specs import DTYPE_LETTERS, Dimension, Guess, TensorSpec

_RANKS = (ConflictKind.RANK, ConflictKind.INDEX)
_LARGEST = 100_000
_MOST_MENDED = 24
"""Contradictions that are mended in a row."""
_MOST_MENDS = 6
"""Ways to mend one that are tried."""
_Contradiction = tuple[tuple[int, ...], ConflictKind, int, "int | None", "int | None", "int | None"]


def mended(trials: Trials, outcome: TrialOutcome, allows: Callable[[Guess], bool]) -> TrialOutcome:
    """How far a call comes that failed, if its contradictions are mended one after the other.

    A mend is kept that brings the call on, or to another contradiction in the same place: equations are solved one by
    one where each can be. Which is true of `outcome`, if none can.

    Args:
        trials: runs calls.
        outcome: how the call ended.
        allows: whether a call may be tried.
    """
    met = {_contradiction(outcome)}
    for _ in range(_MOST_MENDED):
        others = filter(allows, itertools.islice(by_conflict(outcome), _MOST_MENDS))
        better = next((other for other in map(trials.run, others) if _is_better(other, outcome, met)), None)
        if better is None:
            break
        outcome = better
        if outcome.error is None:
            break
        met.add(_contradiction(outcome))
    return outcome


def _is_better(outcome: TrialOutcome, before: TrialOutcome, met: Collection[_Contradiction | None]) -> bool:
    if outcome.error is None or outcome.progress > before.progress:
        return True
    return outcome.progress == before.progress and _contradiction(outcome) not in {None, *met}


def _contradiction(outcome: TrialOutcome) -> _Contradiction | None:
    """What tells a contradiction from others in the same place; sizes do not."""
    refused = outcome.refused()
    if refused is None:
        return None
    left, right = refused.conflict.left, refused.conflict.right
    other = (right.operand, right.dim) if right is not None else (None, None)
    return outcome.progress, refused.conflict.kind, left.operand, left.dim, *other


def by_conflict(outcome: TrialOutcome) -> Iterator[Guess]:
    """Guesses under which the two sides of a contradiction may agree."""
    refused = outcome.refused()
    if refused is None:
        return
    guess, conflict = outcome.guess, refused.conflict
    if conflict.kind in _RANKS and isinstance(conflict.wanted, int):
        yield from _of_rank(guess, refused, conflict.wanted)
    elif conflict.kind is ConflictKind.DTYPE:
        for name, spec in _inputs(guess, refused, conflict.left):
            if isinstance(conflict.wanted, str) and conflict.wanted in DTYPE_LETTERS:
                yield replaced(guess, name, spec, replace(spec, dtype=conflict.wanted, filled=""))
    elif conflict.kind in (ConflictKind.SIZE, ConflictKind.VOLUME, ConflictKind.DIVISIBILITY):
        # What is broadcast from one agrees with everything, and shows nothing.
        for side, size in sorted(_equations(conflict), key=lambda equation: equation[1] == 1):
            yield from _sized(guess, refused, side, size)
        if conflict.right is None and isinstance(conflict.wanted, int) and conflict.left.dim is not None:
            yield from _given_otherwise(guess, conflict.wanted, conflict.left.size)


def _of_rank(guess: Guess, refused: RefusedOperands, wanted: int) -> Iterator[Guess]:
    """What the operand came of with as many dimensions more, or fewer, as it has too few or too many."""
    conflict = refused.conflict
    if conflict.kind is ConflictKind.INDEX:
        wanted = -wanted if wanted < 0 else wanted + 1
    for name, spec in _inputs(guess, refused, conflict.left):
        yield from shifted(guess, name, spec, wanted - conflict.left.size)


def _equations(conflict: Conflict) -> Iterator[tuple[Side, int]]:
    """Each side that inputs may be changed for, and the size that it should have."""
    left, right, wanted = conflict.left, conflict.right, conflict.wanted
    if conflict.kind is ConflictKind.DIVISIBILITY:
        if isinstance(wanted, int) and wanted > 0:
            yield left, max(left.size - left.size % wanted, wanted)
        return
    if right is not None:
        yield right, left.size
    other = wanted if isinstance(wanted, int) else right.size if right is not None else 0
    if other > 0:
        yield left, other


def _inputs(guess: Guess, refused: RefusedOperands, side: Side) -> Iterator[tuple[str, TensorSpec]]:
    """The tensors of the call that a side came of."""
    tensors = guess.tensors()
    numbers = refused.sources[side.operand] if side.operand < len(refused.sources) else ()
    yield from dict.fromkeys(tensors[number] for number in sorted(numbers) if number < len(tensors))


def _sized(guess: Guess, refused: RefusedOperands, side: Side, wanted: int) -> Iterator[Guess]:
    """What a side came of with the size that it should have: where the input has it itself, or in proportion."""
    sizes, exact, others, cut = guess.size_of(), [], [], []
    for name, spec in _inputs(guess, refused, side):
        # A batch is hardly ever of a size that somebody else wants.
        for position, dim in sorted(enumerate(spec.dims), key=lambda place: place[0] == 0):
            size = dim if isinstance(dim, int) else sizes[dim]
            if side.dim is not None and size == side.size:
                exact += [*_alone(guess, name, spec, position, wanted), *_everywhere(guess, dim, wanted)]
                continue
            if (other := _in_proportion(size, side.size, wanted)) is not None:
                others += [*_everywhere(guess, dim, other), *_alone(guess, name, spec, position, other)]
            if position and size > side.size and 1 < (longer := size + wanted - side.size) <= _LARGEST:
                cut += _alone(guess, name, spec, position, longer)  # something is taken off: `x[:, 32:]`
    yield from exact
    yield from others
    yield from cut


def _given_otherwise(guess: Guess, number: int, wanted: int) -> Iterator[Guess]:
    """Inputs with another size where they have a number of the call's: code took it from there, `b, t, n = x.shape`."""
    sizes = guess.size_of()
    for name, spec in dict.fromkeys(guess.tensors()):
        for position, dim in enumerate(spec.dims):
            if number > 1 and number == (dim if isinstance(dim, int) else sizes[dim]):
                yield from [*_alone(guess, name, spec, position, wanted), *_everywhere(guess, dim, wanted)]


def _in_proportion(size: int, have: int, wanted: int) -> int | None:
    """What a size should be that a multiple `have` of was computed from, so that it comes out as wanted."""
    if size < 1 or have < 1 or have % size or wanted * size % have:
        return None
    other = wanted * size // have
    return other if 0 < other <= _LARGEST and other != size else None


def _alone(guess: Guess, name: str, spec: TensorSpec, position: int, size: int) -> list[Guess]:
    """Another size for one dimension; of a size that has a name it gets the name, and stays free with it."""
    sizes = guess.size_of()
    named: Dimension = next((known for known in guess.used_sizes() if sizes[known] == size), size)
    return [replaced(guess, name, spec, replace(spec, dims=(*spec.dims[:position], named, *spec.dims[position + 1 :])))]


def _everywhere(guess: Guess, dim: Dimension, size: int) -> list[Guess]:
    """Another size for all that share the name of a dimension, where several do."""
    if isinstance(dim, int) or sum(other == dim for _, spec in guess.tensors() for other in spec.dims) < 2:
        return []
    return [guess.with_sizes(**{dim: size})]
