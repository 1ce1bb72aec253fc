"""Changes to a guess: another size for a dimension, another rank or dtype for a tensor. Why is not known here."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

from inductor_debug.capture.inference.specs.argument_names import default_size
from inductor_debug.capture.inference.specs.call_plan import GENERIC
from inductor_debug.capture.inference.specs.specs import Guess, TensorSpec, map_tensors, tensors_in

_BATCH = "B"
"""What is hardly ever of a size that somebody else wants."""


def with_dtype(guess: Guess, shape: tuple[int, ...], dtype: str) -> Iterator[Guess]:
    """Gives the tensor of this shape another dtype, or if there is none every tensor in turn."""
    sizes = guess.size_of()
    tensors = guess.tensors()
    same = [(name, spec) for name, spec in tensors if spec.shape(sizes) == shape]
    for name, spec in same or tensors:
        if spec.dtype != dtype:
            yield replaced(guess, name, spec, replace(spec, dtype=dtype))


def with_rank(guess: Guess, shape: tuple[int, ...], wanted: TensorSpec) -> Iterator[Guess]:
    """Gives the tensor of this shape the wanted one, or every tensor in turn as many more or fewer dimensions."""
    sizes = guess.size_of()
    for name, spec in guess.tensors():
        if spec.shape(sizes) == shape:
            yield replaced(guess, name, spec, replace(wanted, dtype=spec.dtype))
    difference = len(wanted.dims) - len(shape)
    for name, spec in guess.tensors():
        yield from shifted(guess, name, spec, difference)


def shifted(guess: Guess, name: str, spec: TensorSpec, difference: int) -> Iterator[Guess]:
    """Adds or removes as many dimensions after the batch."""
    rank = len(spec.dims) + difference
    if not 0 <= rank <= 6 or difference == 0:
        return
    dims = list(spec.dims)
    if difference > 0:
        fresh = [dim for dim in ("T", "S", "M", "K") if dim not in dims]
        yield replaced(guess, name, spec, replace(spec, dims=(*dims[:1], *fresh[:difference], *dims[1:])))
        ones = (1,) * difference
        yield replaced(guess, name, spec, replace(spec, dims=(*dims[:1], *ones, *dims[1:])))
    else:
        yield replaced(
            guess, name, spec, replace(spec, dims=(*dims[:1], *dims[1 - difference :])[:rank] if rank else ())
        )
        yield replaced(guess, name, spec, replace(spec, dims=tuple(dims[:rank])))


def resized(guess: Guess, got: int, wanted: int, shape: tuple[int, ...] = (), index: int = -1) -> Iterator[Guess]:
    """Guesses under which a size that came out as `got` may come out as `wanted`; nothing is made empty."""
    if got < 1 or wanted < 1:
        return
    sizes = guess.size_of()
    if shape:
        alike = [(name, spec) for name, spec in guess.tensors() if spec.shape(sizes) == shape]
        together = guess  # an image and its mask
        for name, spec in alike if len(alike) > 1 else ():
            together = redimensioned(together, name, spec, index, wanted)
        if together != guess:
            yield together
        yield from (redimensioned(guess, name, spec, index, wanted) for name, spec in alike)
        yield from _each_alone(guess, shape, index, wanted)
    called = [name for name in guess.used_sizes() if sizes[name] == got and name != _BATCH]
    yield from (guess.with_sizes(**{name: wanted}) for name in called)
    for name, spec in guess.tensors():
        for position, dim in enumerate(spec.dims):
            if dim == got:
                yield redimensioned(guess, name, spec, position, wanted)
    if sizes.get(_BATCH) != got:
        yield resized_everywhere(guess, got, wanted)
    joined: list[Guess] = []
    for name, spec in guess.tensors():
        for position, dim in enumerate(spec.dims):
            value = dim if isinstance(dim, int) else sizes[dim]
            if value > 1 and position > 0:
                yield from scaled(guess, name, spec, position, value, got, wanted)
                if isinstance(dim, str) and value < got and value + wanted - got > 0:
                    joined.append(resized_alone(guess, name, spec, position, value + wanted - got))
            elif position > 0 and value == 1 and wanted % got == 0:
                joined.append(resized_alone(guess, name, spec, position, wanted // got))
    yield from joined
    if sizes.get(_BATCH) == got:
        yield guess.with_sizes(**{_BATCH: wanted})


def _each_alone(guess: Guess, shape: tuple[int, ...], index: int, wanted: int) -> Iterator[Guess]:
    """Another size for one tensor of several of this shape that an argument has: feature maps have channels each."""
    sizes = guess.size_of()
    for argument in guess.arguments:
        alike = [number for number, spec in enumerate(tensors_in(argument.spec)) if spec.shape(sizes) == shape]
        for number in alike if len(alike) > 1 else ():
            yield resized_item(guess, argument.name, number, index, wanted)


def scaled(
    guess: Guess, name: str, spec: TensorSpec, position: int, value: int, got: int, wanted: int
) -> Iterator[Guess]:
    """Another size for a dimension of which `got` seems to be a multiple, a part, or a bit more or less."""
    if value != got and got % value == 0 and wanted % (got // value) == 0:
        yield redimensioned(guess, name, spec, position, wanted // (got // value))
    elif value != got and value % got == 0:
        yield redimensioned(guess, name, spec, position, wanted * (value // got))
    elif 0 < value + wanted - got < 100_000 and (abs(got - value) < 64 or value < got) and value != got:
        yield redimensioned(guess, name, spec, position, value + wanted - got)


def redimensioned(guess: Guess, name: str, spec: TensorSpec, position: int, size: int) -> Guess:
    """Another size for one dimension: of all that share its name, or of this one alone if it was fixed."""
    dim = spec.dims[position]
    return guess.with_sizes(**{dim: size}) if isinstance(dim, str) else resized_alone(guess, name, spec, position, size)


def resized_alone(guess: Guess, name: str, spec: TensorSpec, position: int, size: int) -> Guess:
    """Another size for one dimension of one tensor, whatever shares its name."""
    return replaced(guess, name, spec, replace(spec, dims=(*spec.dims[:position], size, *spec.dims[position + 1 :])))


def resized_item(guess: Guess, name: str, number: int, position: int, size: int) -> Guess:
    """Another size for one dimension of one tensor of an argument, which is the `number`th in it."""
    return _changed_item(
        guess, name, number, lambda spec: replace(spec, dims=(*spec.dims[:position], size, *spec.dims[position + 1 :]))
    )


def replaced_item(guess: Guess, name: str, number: int, new: TensorSpec) -> Guess:
    """Another tensor for one of an argument, which is the `number`th in it."""
    return _changed_item(guess, name, number, lambda spec: new)


def _changed_item(guess: Guess, name: str, number: int, change: Callable[[TensorSpec], TensorSpec]) -> Guess:
    count = itertools.count()
    whole = guess.spec_of(name)
    assert whole is not None
    return guess.with_spec(name, map_tensors(whole, lambda spec: change(spec) if next(count) == number else spec))


def resized_together(guess: Guess, size: int, other: int) -> Guess:
    """Another size for all fixed dimensions that have one size, in whatever tensor."""

    def changed(spec: TensorSpec) -> TensorSpec:
        return replace(spec, dims=tuple(other if dim == size else dim for dim in spec.dims))

    arguments = tuple(replace(item, spec=map_tensors(item.spec, changed)) for item in guess.arguments)
    return replace(guess, arguments=arguments)


def resized_everywhere(guess: Guess, size: int, other: int) -> Guess:
    """Another size wherever the call has this one, for dimensions that must agree with each other."""
    sizes = guess.size_of()
    named = guess.with_sizes(**{name: other for name in guess.used_sizes() if sizes[name] == size})
    return resized_together(named, size, other)


def replaced(guess: Guess, name: str, old: TensorSpec, new: TensorSpec) -> Guess:
    """Another tensor for all those of the argument `name` that are `old`."""
    whole = guess.spec_of(name)
    assert whole is not None
    changed = guess.with_spec(name, map_tensors(whole, lambda item: new if item == old else item))
    return with_all_sizes(changed)


def with_all_sizes(guess: Guess) -> Guess:
    """The guess with a size for every name that has none yet."""
    sizes = guess.size_of()
    for name in guess.used_sizes():
        if name not in sizes:
            sizes[name] = default_size(name, sizes)
    return replace(guess, sizes=tuple(sorted(sizes.items())))


def of_rank(spec: TensorSpec, rank: int) -> TensorSpec:
    """A tensor of another rank that keeps the fixed sizes where those usually are."""
    dims = list(GENERIC.get(rank, ()))
    fixed = [dim for dim in spec.dims if isinstance(dim, int)]
    if fixed and rank > 1:
        dims[1 if rank >= 4 else -1] = fixed[-1] if rank < 4 else fixed[0]
    return replace(spec, dims=tuple(dims))


def ranks_together(guess: Guess, ranks: tuple[int, ...]) -> Iterator[Guess]:
    """All tensors of numbers, if there are several, with one of the ranks: what is joined has the same."""
    alike = [(name, spec) for name, spec in guess.tensors() if spec.dtype == "float32"]
    for rank in ranks if len(alike) > 1 else ():
        together = guess
        for name, spec in alike:
            if len(spec.dims) != rank:
                together = replaced(together, name, spec, of_rank(spec, rank))
        if together != guess:
            yield together


def resized_names(guess: Guess, got: int, wanted: int) -> Iterator[Guess]:
    """Another size for every name, and then for every single dimension, that has the size `got`."""
    sizes = guess.size_of()
    for name in sorted(guess.used_sizes(), key=_BATCH.__eq__):
        if sizes[name] == got:
            yield guess.with_sizes(**{name: wanted})
    for name, spec in guess.tensors():
        for position, dim in enumerate(spec.dims):
            if (dim if isinstance(dim, int) else sizes[dim]) == got:
                yield resized_alone(guess, name, spec, position, wanted)
