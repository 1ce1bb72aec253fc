"""Guesses where arguments meet each other: joined for one module, or broadcast to one another. Nothing is run here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from inductor_debug.capture.inference.search.raised_facts import Raised
from inductor_debug.capture.inference.search.trial import TrialOutcome
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.spec_changes import (
    of_rank,
    replaced,
    resized,
    resized_alone,
    with_all_sizes,
)
from inductor_debug.capture.inference.specs.specs import Dimension, Guess, TensorSpec
from inductor_debug.capture.inference.usage.module_inputs import accepted


def by_operands(outcome: TrialOutcome) -> Iterator[Guess]:
    """An argument that is joined with what the model computed has its sizes, except where they are joined.

    Or what was computed has a dimension too many, because it was looked up with one index an example too many.
    """
    join, guess = outcome.joined(), outcome.guess
    names: dict[int, str] = {size: name for name, size in guess.sizes if name in guess.used_sizes()}
    computed = next((item.shape for item in join.operands if item.argument is None), ())
    for operand in join.operands if computed else ():
        spec = guess.spec_of(operand.argument) if operand.argument is not None else None
        if isinstance(spec, TensorSpec) and operand.argument is not None:
            # A size that has a name stays free with it.
            dims: list[Dimension] = [names.get(size, size) for size in computed]
            if -len(dims) <= join.dim < len(dims):
                dims[join.dim] = (spec.dims if len(spec.dims) == len(dims) else computed)[join.dim]
            batch = spec.dims[:1] if operand.shape[:1] == computed[:1] else computed[:1]
            guess = replaced(guess, operand.argument, spec, replace(spec, dims=(*batch, *dims[1:])))
    if guess != outcome.guess:
        yield guess
    given = min((len(item.shape) for item in join.operands if item.argument is not None), default=len(computed))
    for name, spec in outcome.guess.tensors() if len(computed) > given else ():
        fewer = len(spec.dims) - (len(computed) - given)
        if spec.dtype == "int64" and fewer > 0:
            yield replaced(outcome.guess, name, spec, of_rank(spec, fewer))


def by_joining(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    """Two tensors that were joined for a layer share what it takes; one of them is as wide as the model says."""
    if outcome.module is None:
        return
    for received in outcome.received:
        for wanted in accepted(outcome.module, received.position):
            if len(wanted.dims) != len(received.shape):
                continue
            for index, (size, got) in enumerate(zip(wanted.dims, received.shape, strict=True)):
                if isinstance(size, int) and size != got:
                    yield from _shared(outcome.guess, plan, received.shape, index, size)
                    yield from _beside_own(outcome.guess, received.shape, index, size)


def _shared(guess: Guess, plan: CallPlan, shape: tuple[int, ...], index: int, size: int) -> Iterator[Guess]:
    """Guesses in which two arguments that add up to `shape` at `index` add up to `size` there instead."""
    sizes = guess.size_of()
    alike = [item for item in guess.tensors() if len(item[1].dims) == len(shape)]
    # The later one first: what is kept beside an input is joined after it.
    for (name, spec), (other, beside) in itertools.permutations(reversed(alike), 2):
        if name == other or spec.shape(sizes)[index] + beside.shape(sizes)[index] != shape[index]:
            continue
        for width in plan.widths:
            if 0 < width < size:
                changed = resized_alone(guess, name, spec, index, width)
                yield resized_alone(changed, other, beside, index, size - width)


def _beside_own(guess: Guess, shape: tuple[int, ...], index: int, size: int) -> Iterator[Guess]:
    """Guesses in which an argument is as much larger as is lacking: what the model joins to it stays as it is."""
    for name, spec in guess.tensors():
        have = spec.shape(guess.size_of())[index] if len(spec.dims) == len(shape) else 0
        if 0 < have < shape[index] and have + size - shape[index] > 0:
            yield resized_alone(guess, name, spec, index, have + size - shape[index])


def by_partner(outcome: TrialOutcome) -> Iterator[Guess]:
    """Where two arguments are joined, the size that a layer says of the one is that of the other, too."""
    wanted, got = outcome.raised.joined_sizes or (0, 0)
    guess, sizes = outcome.guess, outcome.guess.size_of()
    for (name, spec), (_, partner) in itertools.permutations(guess.tensors(), 2):
        if len(spec.dims) == len(partner.dims):
            for index, (dim, other) in enumerate(zip(spec.dims, partner.dims, strict=True)):
                if isinstance(dim, str) and isinstance(other, int) and {wanted, got} == {sizes[dim], other}:
                    yield resized_alone(guess, name, spec, index, other)


def by_missing_dimension(outcome: TrialOutcome) -> Iterator[Guess]:
    """Where `[2, 512]` meets `[2, 96, 512]`, what came of an argument lacks the dimension that another one has."""
    guess = outcome.guess
    tensors = guess.tensors()
    for at, count in _missing(outcome.raised, guess.size_of().get("B")):
        for (name, spec), (_, whole) in itertools.permutations(tensors, 2):
            if len(whole.dims) == len(spec.dims) + count and spec.dims[:1] == whole.dims[:1]:
                dims = (*spec.dims[:at], *whole.dims[at : at + count], *spec.dims[at:])
                yield replaced(guess, name, spec, replace(spec, dims=dims))


def by_shapes(outcome: TrialOutcome) -> Iterator[Guess]:
    """Where `[2, 16, 8]` meets `[2, 64, 8]`, or is joined with it, one of the two sizes is to be the other."""
    given, wanted = outcome.raised.broadcast_shapes or ((), ())
    pairs = [pair for pair in zip(reversed(given), reversed(wanted), strict=False) if 1 not in pair]
    for size, other in [*pairs, *([joined] if (joined := outcome.raised.joined_sizes) else [])]:
        if size != other:
            yield from resized(outcome.guess, size, other)
            yield from resized(outcome.guess, other, size)


def _missing(raised: Raised, batch: int | None) -> Iterator[tuple[int, int]]:
    """Where dimensions may be missing, and how many: by the shapes that met, or because a batch met another size."""
    if (shapes := raised.broadcast_shapes) is not None and len(shapes[0]) != len(shapes[1]):
        short, long = sorted(shapes, key=len)
        count = len(long) - len(short)
        places = range(1, len(short) + 1)
        yield from ((at, count) for at in places if (*long[:at], *long[at + count :]) == short)
    if (ranks := raised.differing_ranks) is not None:
        yield 1, max(ranks) - min(ranks)
    if (sizes := raised.differing_sizes) is not None and batch in sizes[:2] and sizes[2] > 0:
        yield 1, sizes[2]


def by_one(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    """What meets values of several sizes is broadcast to each: a mask with one number for each row."""
    guess = outcome.guess
    for argument in guess.arguments if outcome.raised.about_broadcasting else ():
        spec = argument.spec
        if isinstance(spec, TensorSpec) and len(spec.dims) > 1 and spec.dims[-1] != 1:
            known = [item for item in plan.candidates_of(argument.name) if isinstance(item, TensorSpec)]
            met = {item.dims[-1] for item in known if len(item.dims) == len(spec.dims)}
            if sum(isinstance(size, int) for size in met) > 1:
                yield replaced(guess, argument.name, spec, replace(spec, dims=(*spec.dims[:-1], 1)))


def by_mask(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    """Where something cannot be broadcast and there is a mask, it is rather the mask's shape that is wrong."""
    if outcome.raised.about_broadcasting:
        for argument in outcome.guess.arguments:
            if isinstance(argument.spec, TensorSpec) and argument.spec.dtype == "bool":
                for spec in plan.candidates_of(argument.name):
                    if isinstance(spec, TensorSpec) and spec != argument.spec:
                        yield with_all_sizes(outcome.guess.with_spec(argument.name, spec))
