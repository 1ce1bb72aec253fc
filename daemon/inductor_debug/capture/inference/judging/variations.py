"""Other calls than the one that came furthest: what a class refuses in all of them, it refuses whatever it is given.

Each tensor and each size is changed alone and along with those that are as large; ranks, dtypes, lengths of lists,
numbers and arguments that may be left out are changed, too. Nothing is run here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.spec_changes import (
    of_rank,
    ranks_together,
    replaced,
    resized_alone,
    resized_item,
    resized_together,
    shifted,
    with_all_sizes,
)
from inductor_debug.capture.inference.specs.specs import (
    ConstantSpec,
    Dimension,
    Guess,
    MappingSpec,
    ObjectSpec,
    SequenceSpec,
    Spec,
    TensorSpec,
    map_leaves,
    tensors_in,
)

_FACTORS = (2, 3, 5)
_MOST_SHIFTED = 4
_STEPS, _FAR = (1, 2, 3, 4, 8), 7
"""By what two sizes are made larger that stay as far apart, and how often the larger of both."""
MOST_SHARED = 8
"""Ways to share out a size among two tensors."""
_IMAGE = 4
_USUAL_SIDES = {_IMAGE: 256, 5: 64}
"""The least of a side of an image and of a volume, by their rank."""
_UPRIGHT = ((128, 64), (256, 128))
"""How high and wide pictures of people are."""
_SQUARES = (32, 64, 128, 224, 512)
"""Sides of images: a network may take those of one size alone."""
_SIMPLE = (bool, int, float, str, type(None))


def are_exhaustive(guess: Guess) -> bool:
    """Whether the variations change everything that a call is made of, so that none of it is left to doubt."""
    return all(_is_known(item.spec) for item in guess.arguments)


def _is_known(spec: Spec) -> bool:
    if isinstance(spec, ConstantSpec):
        return isinstance(spec.value, _SIMPLE)
    if isinstance(spec, MappingSpec | ObjectSpec):
        return bool(spec.items) and all(_is_known(item) for _, item in spec.items)
    return isinstance(spec, TensorSpec) or all(map(_is_known, spec.items))


def of_sizes(guess: Guess, wanted: Iterable[int | str] = ()) -> Iterator[Guess]:
    """The call with other sizes; `wanted` are those that contradict each other."""
    numbers = [size for size in wanted if isinstance(size, int)]
    yield from shared_otherwise(guess, numbers)
    yield from multiplied_otherwise(guess, numbers)
    yield from meeting(guess, numbers)
    yield from _with_usual_sides(guess)
    yield from by_difference(guess, numbers)
    yield from joined_otherwise(guess, numbers)
    yield from _as_far_apart(guess)
    yield from _other_sizes(guess)
    yield from _of_items(guess, numbers)


@dataclass(frozen=True, slots=True)
class SizedGuess:
    """One size of a call: its name, empty for a fixed dimension, what it is, and the call with another one."""

    name: str
    usual: int
    at: Callable[[int], Guess]


def single_sizes(guess: Guess) -> Iterator[SizedGuess]:
    """Each named size, and each fixed dimension of each tensor."""
    sizes = guess.size_of()
    for size_name in guess.used_sizes():
        yield SizedGuess(size_name, sizes[size_name], partial(_with_size, guess, size_name))
    for name, spec in dict.fromkeys(guess.tensors()):
        for position, dim in enumerate(spec.dims):
            if isinstance(dim, int):
                yield SizedGuess("", dim, partial(resized_alone, guess, name, spec, position))


def _with_size(guess: Guess, name: str, size: int) -> Guess:
    return guess.with_sizes(**{name: size})


def _other_sizes(guess: Guess) -> Iterator[Guess]:
    """The call with one size, or one fixed dimension, changed."""
    sizes = guess.size_of()
    for name in guess.used_sizes():
        for factor in _FACTORS:
            yield guess.with_sizes(**{name: sizes[name] * factor})
        yield guess.with_sizes(**{name: sizes[name] + 1})
    # What takes squares alone comes as far with both sides changed, and with neither.
    for pair in dict.fromkeys(pair for _, spec in guess.tensors() for pair in _beside(spec)):
        for factor in _FACTORS[:2]:
            yield guess.with_sizes(**{name: sizes[name] * factor for name in pair})
    for name, spec in dict.fromkeys(guess.tensors()):
        for position, dim in enumerate(spec.dims):
            size = dim if isinstance(dim, int) else sizes[dim]
            # What code goes through by its own size may have parts for fewer.
            for other in (size * 2, size + 1, *((1, 2) if position and size > 2 else ())):
                yield resized_alone(guess, name, spec, position, other)
    for size in {dim for _, spec in guess.tensors() for dim in spec.dims if isinstance(dim, int) and dim > 1}:
        for other in (size * 2, size + 1):
            yield resized_together(guess, size, other)


def _as_far_apart(guess: Guess) -> Iterator[Guess]:
    """The call with two sizes beside each other larger by as much: windows cut from one may need their difference."""
    sizes = guess.size_of()
    for name, spec in dict.fromkeys(guess.tensors()):
        for position in range(1, len(spec.dims) - 1):
            pair, shape = spec.dims[position : position + 2], spec.shape(sizes)
            for step in (*_STEPS, _FAR * max(shape[position : position + 2])):
                one, other = (size + step for size in shape[position : position + 2])
                if isinstance(pair[0], str) and isinstance(pair[1], str) and pair[0] != pair[1]:
                    yield guess.with_sizes(**{pair[0]: one, pair[1]: other})
                else:
                    dims = (*spec.dims[:position], one, other, *spec.dims[position + 2 :])
                    yield replaced(guess, name, spec, replace(spec, dims=dims))


def _with_usual_sides(guess: Guess) -> Iterator[Guess]:
    """The call with images and volumes of a usual size, where they are smaller, and with square images.

    What halves a side five times makes the same of all that are small.
    """
    changed = (_with_sides(guess, _no_smaller), *(_with_sides(guess, partial(_square, side)) for side in _SQUARES))
    yield from (other for other in changed if other != guess)
    names = {"H", "W"} & set(guess.used_sizes())
    for height, width in _UPRIGHT if len(names) > 1 else ():
        yield guess.with_sizes(H=height, W=width)


def _no_smaller(sides: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(max(side, _USUAL_SIDES[2 + len(sides)]) for side in sides)


def _square(side: int, sides: tuple[int, ...]) -> tuple[int, ...]:
    return sides if 2 + len(sides) != _IMAGE else (side, side)


def _with_sides(guess: Guess, sides_of: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Guess:
    """The call with other sides of its images and volumes: those of a rank that are now so large."""
    sizes, changed = guess.size_of(), guess
    resized: dict[tuple[int, ...], tuple[Dimension, ...]] = {}
    for name, spec in dict.fromkeys(guess.tensors()):
        shape = spec.shape(sizes)
        sides = sides_of(shape[2:]) if len(shape) in _USUAL_SIDES else shape[2:]
        if sides != shape[2:]:
            resized[shape] = (*spec.dims[:2], *sides)
            changed = replaced(changed, name, spec, replace(spec, dims=resized[shape]))
    # What only had the last sizes of an image was broadcast to it.
    for name, spec in dict.fromkeys(guess.tensors()):
        whole = next((dims for shape, dims in resized.items() if spec.shape(sizes) == shape[-len(spec.dims) :]), None)
        if whole is not None and len(spec.dims) < len(whole):
            changed = replaced(changed, name, spec, replace(spec, dims=whole))
    return changed


def _beside(spec: TensorSpec) -> Iterator[tuple[str, str]]:
    """The pairs of named sizes that lie beside each other, the first dimension left out: it is a batch."""
    for one, other in itertools.pairwise(spec.dims[1:]):
        if isinstance(one, str) and isinstance(other, str) and one != other:
            yield one, other


def _of_items(guess: Guess, wanted: list[int]) -> Iterator[Guess]:
    """The call with one dimension of one of several like tensors changed: the items of a list differ, as may be."""
    sizes = guess.size_of()
    for argument in guess.arguments:
        specs = list(tensors_in(argument.spec))
        for number, spec in enumerate(specs if len(set(specs)) < len(specs) else ()):
            for position, size in enumerate(spec.shape(sizes)):
                for other in dict.fromkeys((*wanted, size * 2)):
                    if other not in (0, size):
                        yield resized_item(guess, argument.name, number, position, other)


def meeting(guess: Guess, wanted: Iterable[int | str]) -> Iterator[Guess]:
    """The call with one of the sizes that contradict each other wherever it has another one of them."""
    sizes = guess.size_of()
    numbers = dict.fromkeys(size for size in wanted if isinstance(size, int) and size > 0)
    for size, other in itertools.permutations(numbers, 2):
        names = {name: other for name in guess.used_sizes() if sizes[name] == size}
        yield resized_together(guess.with_sizes(**names), size, other)


def by_difference(guess: Guess, wanted: list[int]) -> Iterator[Guess]:
    """The call with a fixed dimension larger or smaller by what is lacking: the model may join something to it."""
    lacking = {one - other for one, other in itertools.permutations(dict.fromkeys(wanted), 2)}
    for size in single_sizes(guess):
        if not size.name:
            yield from (size.at(size.usual + step) for step in sorted(lacking) if size.usual + step > 0)


def shared_otherwise(guess: Guess, wanted: list[int]) -> Iterator[Guess]:
    """The call with a sum of two sizes shared out otherwise, one of them as wanted: joined tensors were split by us."""
    for (name, spec, position, size), (other, beside, where, rest) in itertools.permutations(_places(guess), 2):
        for new in wanted:
            if name != other and new != size and rest + size > new > 0:
                changed = resized_alone(guess, name, spec, position, new)
                yield resized_alone(changed, other, beside, where, rest + size - new)


def multiplied_otherwise(guess: Guess, wanted: list[int]) -> Iterator[Guess]:
    """The call with a product of two sizes shared out otherwise, one of them as wanted: the model may multiply them."""
    for (name, spec, position, size), (other, beside, where, rest) in itertools.permutations(_places(guess), 2):
        for new in wanted if name == other and spec is beside else ():
            if 0 < new < size and size % new == 0:
                dims = list(spec.dims)
                dims[position], dims[where] = new, rest * (size // new)
                yield replaced(guess, name, spec, replace(spec, dims=tuple(dims)))


def joined_otherwise(guess: Guess, wanted: list[int]) -> Iterator[Guess]:
    """The call with two sizes that may be joined to one that is refused, so that they make one that is wanted.

    That both are called alike is our doing: what joins them takes each as it is.
    """
    for (name, spec, position, size), (other, beside, where, rest) in itertools.combinations(_places(guess), 2):
        for total in wanted if name != other and size + rest in wanted else ():
            for new in range(1, min(total, MOST_SHARED + 1)) if total != size + rest else ():
                changed = resized_alone(guess, name, spec, position, new)
                yield resized_alone(changed, other, beside, where, total - new)


def _places(guess: Guess) -> list[tuple[str, TensorSpec, int, int]]:
    """Each dimension of each tensor but the first, which counts examples: whose, where, and its size."""
    sizes = guess.size_of()
    return [
        (name, spec, position, dim if isinstance(dim, int) else sizes[dim])
        for name, spec in dict.fromkeys(guess.tensors())
        for position, dim in enumerate(spec.dims)
        if position
    ]


def of_kinds(guess: Guess, plan: CallPlan) -> Iterator[Guess]:
    """The call with another argument, or a tensor of another rank or dtype."""
    yield from _other_arguments(guess, plan)
    yield from ranks_together(guess, (3, 4, 5))
    yield from _other_ranks(guess)
    yield _one_of_a_batch(guess)
    yield from _other_lengths(guess)
    yield from _other_numbers(guess)
    for name, spec in dict.fromkeys(guess.tensors()):
        for rank in range(6):
            if rank != len(spec.dims):
                yield replaced(guess, name, spec, of_rank(spec, rank))
        for dtype in ("float32", "int64", "bool"):
            if dtype != spec.dtype:
                yield replaced(guess, name, spec, TensorSpec(spec.dims, dtype))


def _other_ranks(guess: Guess) -> Iterator[Guess]:
    """The call with a dimension more, or fewer, of several tensors at once: where one is batched, so are others."""
    tensors = list(dict.fromkeys(guess.tensors()))
    for difference in (1, 2, -1):
        changed = [guess]
        for name, spec in tensors if len(tensors) > 1 else ():
            changed = [other for one in changed for other in shifted(one, name, spec, difference)][:_MOST_SHIFTED]
        yield from changed if len(tensors) > 1 else ()


def _one_of_a_batch(guess: Guess) -> Guess:
    """The call with the first dimension of every tensor left out."""
    for name, spec in dict.fromkeys(guess.tensors()):
        guess = replaced(guess, name, spec, replace(spec, dims=spec.dims[1:]))
    return guess


def _other_lengths(guess: Guess) -> Iterator[Guess]:
    """The call with a list that has an item more, or fewer, or is its first item alone."""
    for argument in guess.arguments:
        if isinstance(argument.spec, SequenceSpec) and argument.spec.items:
            items = argument.spec.items
            for other in (items[:-1], (*items, items[-1])):
                yield guess.with_spec(argument.name, replace(argument.spec, items=other))
            yield guess.with_spec(argument.name, items[0])


def _other_numbers(guess: Guess) -> Iterator[Guess]:
    """The call with another number in place of one that is no tensor."""
    for argument in guess.arguments:
        for change in (lambda number: number + 1, lambda number: number * 2, lambda number: number * 0 + 1):

            def changed(spec: TensorSpec | ConstantSpec, change: Callable[[float], float] = change) -> Spec:
                if isinstance(spec, TensorSpec) or type(spec.value) not in (int, float):
                    return spec
                return ConstantSpec(repr(change(spec.value)), change(spec.value))

            yield guess.with_spec(argument.name, map_leaves(argument.spec, changed))


def _other_arguments(guess: Guess, plan: CallPlan) -> Iterator[Guess]:
    given = {item.name for item in guess.arguments}
    for argument in guess.arguments:
        for spec in plan.candidates_of(argument.name):
            if spec != argument.spec:
                yield with_all_sizes(guess.with_spec(argument.name, spec))
    for name in plan.optional:
        if name not in given:
            for spec in plan.candidates_of(name)[:2]:
                yield plan.with_optional(guess, name, spec)
