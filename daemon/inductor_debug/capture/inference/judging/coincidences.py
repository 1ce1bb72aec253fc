"""Sizes that nothing declares and that run with one value only, because two results of the model meet by chance.

Batches, lengths, heights and widths are free unless the model says otherwise: by a table of positions, a linear layer
after a flatten, a number in a reshape. Where such a size is refused because of the model's own parameters or constants,
the model declares it. Where two results that both come of the inputs contradict each other, only the guess made them
agree: a transpose that is missing is found so. Results that come of different inputs are another matter: those inputs
go together, as the caller knows. Nothing rests on how many dimensions each was given.

A batch is nobody's to declare: where it has become the features of a layer, a reshape has mixed it up with them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from inductor_debug.capture.inference.guessing.extents import declared_by
from inductor_debug.capture.inference.judging.refusing_call import refused_call
from inductor_debug.capture.inference.judging.remarks import Remark
from inductor_debug.capture.inference.search.dynamic_dims import Found, numbers_of
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.specs.call_plan import GENERIC, CallPlan
from inductor_debug.capture.inference.specs.spec_changes import replaced, resized_alone, resized_everywhere
from inductor_debug.capture.inference.specs.specs import Dimension, Guess, TensorSpec

_UNDECLARED = frozenset("BTSLHWFAN")
"""Names of sizes that are the caller's: batches, lengths, extents, nodes."""
_BATCH = "B"
_OF_INDICES = ("B", "T")
"""The usual dimensions of a tensor of indices."""
_ROWS = ("B", "N")
"""What the first dimension of several examples, or of a graph's nodes, is called."""
_FACTORS = (3, 5, 7, 11)
_PARTS = 3
"""How many parts an example has where it is tried with some."""
_LAYERS = (
    "RNN",
    "GRU",
    "LSTM",
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
)
_PRODUCTS = ("matmul", "__matmul__", "__rmatmul__", "mm", "mv", "bmm", "dot")


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A dimension that has one size only: of which argument, and of which tensor, by number; `called` as it is named.

    `is_tied` says that it runs with other sizes if another dimension has them, too, which should not matter.
    """

    argument: str
    number: int
    spec: TensorSpec
    dim: int
    size: int
    is_tied: bool

    @property
    def called(self) -> Dimension:
        """Its name, or its number."""
        return self.spec.dims[self.dim]

    @property
    def is_batch(self) -> bool:
        """Whether it counts examples, indices or the nodes of a graph, as far as the guess knows."""
        counts = (self.called in _ROWS and len(self.spec.dims) > 1) or self.spec.dtype == "int64"
        return self.dim == 0 and counts


def coincidences(
    trials: Trials, found: Found, given: Mapping[str, int], plan: Callable[[], CallPlan] | None = None
) -> list[Remark]:
    """The sizes of a call that runs which are no others for no reason that the model gives.

    Args:
        trials: runs calls.
        found: the call.
        given: the whole numbers that the constructor was given, by name.
        plan: knows which sizes of several arguments the text calls by one name; such arguments are one source.
    """
    result: dict[object, Remark] = {}
    if not _are_of_one_batch(found.guess):
        return []  # what was made to agree by chance says nothing of other sizes
    declared = declared_by(trials.subject, given)
    for fixed in _fixed(found):
        others = _others(fixed.size, trials)
        together = [resized_everywhere(found.guess, fixed.size, other) for other in others]
        if not fixed.is_tied and (
            (fixed.size in declared and not fixed.is_batch)
            or trials.run(together[0]).error is None
            or _is_square(trials, found.guess, fixed, others[0])
            or trials.run(_resized(found.guess, fixed, 1)).error is None  # what is one stands for any number
            or _is_rounded(trials, found.guess, fixed)
        ):
            continue
        if len(_sources(fixed, found.guess, plan)) == 1:
            # What has the same name was given the same size by us, not by the text.
            itself = resized_alone(found.guess, fixed.argument, fixed.spec, fixed.dim, others[0])
            if trials.run(itself).error is None:
                continue
        alone = [_resized(found.guess, fixed, other) for other in others]
        for refused in (together, alone):
            sources = _sources(fixed, found.guess, plan) if refused == together else frozenset((fixed.number,))
            because = _chance(trials, refused, fixed, others[0], sources, by_itself=refused == alone)
            if because and not (
                _is_anothers(trials, refused[0], fixed, found.guess)
                or _lacks_a_dimension(trials, found, fixed)
                or any(
                    _is_reshaped_by_the_model(trials, found.guess, fixed, sources, everywhere=everywhere)
                    for everywhere in {refused == together, False}  # where another dimension has that size by chance
                )
            ):
                said = f"It runs only where dimension {fixed.dim} of `{fixed.argument}` is {fixed.size}, and {because}."
                result.setdefault(trials.run(refused[0]).place, Remark("fixed-size", said, refused[0]))
                break
    return list(result.values())


def _is_reshaped_by_the_model(
    trials: Trials, ran: Guess, fixed: _Fixed, sources: frozenset[int], *, everywhere: bool
) -> bool:
    """Whether a number of the model's own is what a reshape makes of the size, which multiples of it get past.

    `z.view(-1, codebook.size(1))` takes three times the features for three times the rows, and what comes later refuses
    those. It refuses itself what shares no divisor with the number.
    """
    if fixed.is_batch:
        return False
    guesses = [
        resized_everywhere(ran, fixed.size, other) if everywhere else _resized(ran, fixed, other)
        for other in (fixed.size + 1, 2 * fixed.size + 1)
    ]
    one, other = (refused_call(trials, guess) for guess in guesses)
    if one is None or other is None or one.pair is None or other.pair is None or not one.is_like(other):
        return False
    comes = [not sources.isdisjoint(each) for each in one.sources_of_sides]
    return one.is_about_volume and comes == [True, False] and one.pair[1] == other.pair[1]


def _lacks_a_dimension(trials: Trials, found: Found, fixed: _Fixed) -> bool:
    """Whether what runs has a dimension too few: with one more, any number of examples runs.

    With one in front the first two become one, of examples and their parts; where a convolution took what was given for
    a single example, the channels were divided among the examples. With one at the end a sequence is an image.
    """
    if len(fixed.spec.dims) < 2:
        return False
    if _is_one_example(trials, found.guess, fixed):
        return True
    if not fixed.is_batch:
        return False
    channels, rest = fixed.spec.shape(found.guess.size_of())[1], fixed.spec.dims[2:]
    in_front = ((_BATCH, _PARTS, number, *rest) for number in (fixed.size * channels, channels))
    for dims in (*in_front, (_BATCH, channels, *rest, _PARTS)):
        more = replace(fixed.spec, dims=dims)
        if trials.run(replaced(found.guess, fixed.argument, fixed.spec, more)).error is None:
            return True
    return False


def _is_one_example(trials: Trials, ran: Guess, fixed: _Fixed) -> bool:
    """Whether what runs may be one example of several, and what is no batch then has other sizes, too."""
    chosen = ran.size_of()
    others = (spec for number, (_, spec) in enumerate(ran.tensors()) if number != fixed.number and spec.dims)
    counts = {spec.shape(chosen)[0] for spec in others}
    examples = counts.pop() if len(counts) == 1 else _PARTS  # as many as the others have
    sizes = (fixed.size, fixed.size * _FACTORS[0])[: 1 if fixed.is_batch else 2]
    dims = fixed.spec.dims
    several = (replace(fixed.spec, dims=(examples, *dims[: fixed.dim], size, *dims[fixed.dim + 1 :])) for size in sizes)
    calls = [replaced(ran, fixed.argument, fixed.spec, spec) for spec in several]
    return all(trials.run(call).error is None for call in calls)


def _are_of_one_batch(guess: Guess) -> bool:
    """Whether all inputs that are tensors of numbers have as many examples."""
    sizes = guess.size_of()
    shapes = [spec.shape(sizes) for _, spec in guess.tensors() if spec.dtype.startswith("float")]
    return len({shape[0] for shape in shapes if len(shape) > 1}) <= 1


def _fixed(found: Found) -> Iterator[_Fixed]:
    """Dimensions that are the caller's and not free, one for each size."""
    guess, sizes = found.guess, found.guess.size_of()
    seen: set[int] = set()
    for number, (name, spec) in enumerate(guess.tensors()):
        for dim, called in enumerate(spec.dims):
            size = called if isinstance(called, int) else sizes[called]
            tied = called == _BATCH and _is_tied(found)
            if (called in found.free and not tied) or size < 2 or size in seen or not _is_callers(spec, dim):
                continue
            seen.add(size)
            yield _Fixed(name, number, spec, dim, size, tied)


def _is_callers(spec: TensorSpec, dim: int) -> bool:
    """Whether a dimension is one that the caller chooses, by its name or where it has none by its place."""
    usual = _OF_INDICES if spec.dtype == "int64" else GENERIC.get(len(spec.dims), ())
    called = spec.dims[dim]
    return _UNDECLARED.issuperset(called if isinstance(called, str) else usual[dim : dim + 1])


def _is_square(trials: Trials, guess: Guess, fixed: _Fixed, other: int) -> bool:
    """Whether it runs with another size for all dimensions of the tensor that are the caller's and have that one.

    As many channels as pixels a side keep their number: the model declares it.
    """
    sizes, spec = guess.size_of(), fixed.spec
    equal = [
        _is_callers(spec, dim) and (called if isinstance(called, int) else sizes[called]) == fixed.size
        for dim, called in enumerate(spec.dims)
    ]
    dims = tuple(other if same else called for same, called in zip(equal, spec.dims, strict=True))
    changed = replaced(guess, fixed.argument, spec, replace(spec, dims=dims))
    return sum(equal) > 1 and trials.run(changed).error is None


def _is_rounded(trials: Trials, guess: Guess, fixed: _Fixed) -> bool:
    """Whether the next sizes run as well: strides round them all to the size that the model is made for."""
    if fixed.is_batch:
        return False
    calls = [
        call
        for size in (fixed.size - 1, fixed.size + 1)
        for call in (resized_everywhere(guess, fixed.size, size), _resized(guess, fixed, size))
    ]
    return any(trials.run(call).error is None for call in calls)


def _is_tied(found: Found) -> bool:
    """Whether the batch runs only with the size of another dimension of a tensor, which has nothing to do with it."""
    traced = found.traced.size_of()
    together = (spec.dims for _, spec in found.traced.tensors() if _BATCH in spec.dims)
    return any(
        dim != _BATCH and isinstance(dim, str) and traced[dim] == traced[_BATCH] for dims in together for dim in dims
    )


def _others(size: int, trials: Trials) -> tuple[int, int]:
    """Two values that are no numbers of the model, and share divisors with `size`."""
    taken = numbers_of(trials.subject)
    one, other, *_ = [*(size * factor for factor in _FACTORS if size * factor not in taken), size * 13, size * 17]
    return one, other


def _resized(guess: Guess, fixed: _Fixed, other: int) -> Guess:
    """Another size for a dimension, and for what has its name."""
    if isinstance(fixed.called, str):
        return guess.with_sizes(**{fixed.called: other})
    return resized_alone(guess, fixed.argument, fixed.spec, fixed.dim, other)


def _would_meet(pair: tuple[int | str, int | str], follow: list[bool], ran: int, size: int) -> bool:
    """Whether the side that keeps its size is what the other one was, in proportion or but for a difference.

    Otherwise it is no size that the guess made agree: it was cut off at a size of the model's.
    """
    kept, following = pair if follow[1] else pair[::-1]
    if follow[0] == follow[1] or not isinstance(kept, int) or not isinstance(following, int):
        return True
    return kept * size == following * ran or kept - ran == following - size


def _is_anothers(trials: Trials, refused: Guess, fixed: _Fixed, ran: Guess) -> bool:
    """Whether a call is refused in the same way where the argument keeps its sizes, and other inputs alone change."""
    name, spec = refused.tensors()[fixed.number]
    kept = replaced(refused, name, spec, replace(spec, dims=fixed.spec.shape(ran.size_of())))
    if len(refused.tensors()) < 2:
        return False
    one, other = refused_call(trials, refused), refused_call(trials, kept)
    return one is not None and other is not None and one.is_like(other) and one.pair == other.pair


def _sources(fixed: _Fixed, guess: Guess, plan: Callable[[], CallPlan] | None) -> frozenset[int]:
    """The numbers of the tensors that have the dimension: its own, and those for which the text says so by its name."""
    alike = plan().called_alike(fixed.argument, fixed.dim) if plan is not None and len(guess.tensors()) > 1 else ()
    return frozenset((fixed.number, *(number for number, (name, _) in enumerate(guess.tensors()) if name in alike)))


def _chance(
    trials: Trials, guesses: list[Guess], fixed: _Fixed, size: int, numbers: frozenset[int], *, by_itself: bool
) -> str:
    """What is wrong where a size is refused though no parameter or constant declares it; empty where one does.

    Args:
        trials: runs calls.
        guesses: the call with two other sizes.
        fixed: the dimension.
        size: what the first of them has there.
        numbers: of the tensors that have the dimension.
        by_itself: whether no other dimension was given another size, so that what is refused is the batch.
    """
    one, other = (refused_call(trials, guess) for guess in guesses)
    if one is None or other is None or one.pair is None or other.pair is None or not one.is_like(other):
        return ""
    if not one.is_about_sizes or one.rests_on_ranks:
        return ""
    follow = [before != after for before, after in zip(one.pair, other.pair, strict=True)]
    comes = [not numbers.isdisjoint(sources) for sources in one.sources_of_sides]
    # What is made anew with the size of the input (`torch.arange(x.shape[1])`) comes of it as well.
    made = [
        follows and (not sources or there == size)
        for follows, sources, there in zip(follow, one.sources_of_sides, one.pair, strict=True)
    ]
    declared = any(known and not follows for known, follows in zip(one.declared_sides, follow, strict=True))
    by_chance = not declared and _would_meet(one.pair, follow, fixed.size, size)
    if any(comes) and all(map(operator.or_, comes, made)) and by_chance:
        return "nothing in the model declares that size"
    if not fixed.is_batch or not by_itself:
        return ""
    if follow[0] and comes[0] and one.function in _LAYERS and one.rows > 1:
        return "what is the batch there becomes features of a layer"
    alone = follow[0] != follow[1] and comes[follow.index(True)] and not one.is_of_stacks
    return "what is the batch there is multiplied with features" if alone and one.function in _PRODUCTS else ""
