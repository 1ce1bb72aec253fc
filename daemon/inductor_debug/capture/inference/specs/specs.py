"""What a guess of inputs is: plain values that can be compared, changed and written down. Nothing here runs user code.

A dimension is a number where the model's own code fixes it, or the name of a size that is still free to be chosen;
two dimensions with one name have one size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Union

import torch

Dimension = Union[int, str]
"""A fixed size, or the name of one that `Guess.sizes` holds."""

DTYPE_LETTERS = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int64": "i64",
    "int32": "i32",
    "bool": "b8",
    "complex64": "c64",
}


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor; `dtype` has no `torch.` prefix.

    Integers are zeros, or `filled`: a number, the name of a size, or the numbers along the last dimension. Floats are
    of a normal distribution, or between 0 and 1 where they are `filled` with 1. Truth values are true, or every second
    one along the last dimension where they are `filled` with 2.
    """

    dims: tuple[Dimension, ...]
    dtype: str = "float32"
    filled: Dimension | tuple[int, ...] = ""

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The sizes as numbers."""
        return tuple(dim if isinstance(dim, int) else sizes[dim] for dim in self.dims)

    @property
    def is_halved(self) -> bool:
        """Whether every second truth value is false."""
        return self.dtype == "bool" and self.filled == 2 and len(self.dims) > 0

    def value(self, sizes: Mapping[str, int]) -> int | tuple[int, ...]:
        """What whole numbers are, or those along the last dimension."""
        if isinstance(self.filled, int | tuple):
            return self.filled
        return sizes.get(self.filled, 1) if self.filled else 0


@dataclass(frozen=True, slots=True)
class SequenceSpec:
    """A list or a tuple."""

    items: tuple[Spec, ...]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class MappingSpec:
    """A dict with string keys."""

    items: tuple[tuple[str, Spec], ...]


@dataclass(frozen=True, slots=True)
class ConstantSpec:
    """Anything else, by the expression that makes it in the file's namespace (`True`, `'train'`, `torch.relu`)."""

    text: str
    value: Any = field(compare=False, hash=False)


@dataclass(frozen=True, slots=True)
class ObjectSpec:
    """An instance of a class of the project, or a bare namespace, by what its constructor is given."""

    kind: Callable[..., Any]
    items: tuple[tuple[str, Spec], ...]

    @property
    def text(self) -> str:
        """The class, as the file calls it."""
        own = self.kind is not SimpleNamespace
        return str(getattr(self.kind, "__name__", self.kind)) if own else "__import__('types').SimpleNamespace"


Spec = Union[TensorSpec, SequenceSpec, MappingSpec, ObjectSpec, ConstantSpec]


@dataclass(frozen=True, slots=True)
class SpecArgument:
    """One argument of the call; `keyword` says that it must be passed by name."""

    name: str
    spec: Spec
    keyword: bool = False


@dataclass(frozen=True, slots=True)
class Guess:
    """One call to try."""

    arguments: tuple[SpecArgument, ...]
    sizes: tuple[tuple[str, int], ...] = ()

    def size_of(self) -> dict[str, int]:
        """The chosen sizes by name."""
        return dict(self.sizes)

    def with_sizes(self, **changes: int) -> Guess:
        """The same call with other sizes."""
        return replace(self, sizes=tuple(sorted({**dict(self.sizes), **changes}.items())))

    def with_spec(self, name: str, spec: Spec) -> Guess:
        """The same call with another value for the argument `name`."""
        return replace(
            self, arguments=tuple(replace(item, spec=spec) if item.name == name else item for item in self.arguments)
        )

    def spec_of(self, name: str) -> Spec | None:
        """The value for the argument `name`."""
        return next((item.spec for item in self.arguments if item.name == name), None)

    def tensors(self) -> list[tuple[str, TensorSpec]]:
        """All tensors with the names of the arguments they belong to, in order."""
        return [(item.name, spec) for item in self.arguments for spec in tensors_in(item.spec)]

    def list_lengths(self) -> frozenset[int]:
        """How long the arguments are that are lists."""
        specs = (item.spec for item in self.arguments)
        return frozenset(len(spec.items) for spec in specs if isinstance(spec, SequenceSpec) and spec.is_list)

    def used_sizes(self) -> list[str]:
        """Names of sizes that some tensor has, in order of first use."""
        return list(dict.fromkeys(dim for _, spec in self.tensors() for dim in spec.dims if not isinstance(dim, int)))


def tensors_in(spec: Spec) -> Iterator[TensorSpec]:
    """The tensors of a value, in order."""
    if isinstance(spec, TensorSpec):
        yield spec
    elif isinstance(spec, SequenceSpec):
        for item in spec.items:
            yield from tensors_in(item)
    elif isinstance(spec, MappingSpec | ObjectSpec):
        for _, item in spec.items:
            yield from tensors_in(item)


def map_tensors(spec: Spec, change: Callable[[TensorSpec], Spec]) -> Spec:
    """The same value with every tensor replaced by `change(tensor)`."""
    return map_leaves(spec, lambda leaf: change(leaf) if isinstance(leaf, TensorSpec) else leaf)


def map_leaves(spec: Spec, change: Callable[[TensorSpec | ConstantSpec], Spec]) -> Spec:
    """The same value with every tensor and every other single value replaced by `change(it)`, in order."""
    if isinstance(spec, TensorSpec | ConstantSpec):
        return change(spec)
    if isinstance(spec, SequenceSpec):
        return replace(spec, items=tuple(map_leaves(item, change) for item in spec.items))
    return replace(spec, items=tuple((key, map_leaves(item, change)) for key, item in spec.items))


def make_call(guess: Guess, *, free: frozenset[str] = frozenset()) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Makes the arguments, fake ones under a fake mode; dimensions of `free` names are marked as dynamic."""
    sizes = guess.size_of()
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for item in guess.arguments:
        value = _make(item.spec, sizes, free)
        if item.keyword:
            kwargs[item.name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


def _make(spec: Spec, sizes: Mapping[str, int], free: frozenset[str]) -> Any:
    if isinstance(spec, TensorSpec):
        return _tensor(spec, sizes, free)
    if isinstance(spec, SequenceSpec):
        items = [_make(item, sizes, free) for item in spec.items]
        return items if spec.is_list else tuple(items)
    if isinstance(spec, MappingSpec):
        return {key: _make(item, sizes, free) for key, item in spec.items}
    if isinstance(spec, ObjectSpec):
        return spec.kind(**{key: _make(item, sizes, free) for key, item in spec.items})
    return spec.value


def _tensor(spec: TensorSpec, sizes: Mapping[str, int], free: frozenset[str]) -> torch.Tensor:
    shape = spec.shape(sizes)
    dtype: torch.dtype = getattr(torch, spec.dtype)
    if dtype.is_floating_point or dtype.is_complex:
        made = (torch.rand if spec.filled else torch.randn)(shape, dtype=dtype)
    elif dtype is torch.bool:
        made = torch.ones(shape, dtype=dtype)
        if spec.is_halved:
            made[..., 1::2] = False
    elif isinstance(value := spec.value(sizes), tuple):
        made = torch.tensor(value, dtype=dtype).repeat(*shape[:-1], 1)
    else:
        made = torch.full(shape, value, dtype=dtype)
    for index, dim in enumerate(spec.dims):
        if dim in free and shape[index] > 1:
            torch._dynamo.maybe_mark_dynamic(made, index)
    return made
