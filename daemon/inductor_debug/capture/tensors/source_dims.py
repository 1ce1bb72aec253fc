"""From which dimensions of which input an operator's output has its sizes. A table of families, no operator is run.

Dimensions whose size is the operator's own (a convolution's channels, beside its spatial dimensions) are left out; an
operator of no known family hands on what stands at the same place, counted from the end, as broadcasting does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from inductor_debug.rules.recording.ops import Op, Size


class Slot(NamedTuple):
    """Which part of a size a view has split off: `before` is the product of what lies in front of it."""

    before: int
    size: int

    def among(self, shape: tuple[Size, ...], dims: tuple[int, ...]) -> tuple[int, ...]:
        """Of dimensions that were joined to the size, those that make up the part; all where none fit."""
        outer = 1
        for start, dim in enumerate(dims):
            inner = 1
            for end in range(start, len(dims) if outer == self.before else start):
                inner *= _number(shape[dims[end]])
                if inner == self.size:
                    return dims[start : end + 1]
            outer *= _number(shape[dim])
        return dims


class SourceDim(NamedTuple):
    """The index of an input, its dimensions, and which part of them is meant where it is not all of them."""

    input: int
    dims: tuple[int, ...]
    slot: Slot | None = None


_Family = Callable[[Op, int, tuple[int, ...]], "SourceDim | None"]


def source_of(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    """Where the dimensions `dims` of an output come from; None where nothing is known, or they begin here."""
    if not op.inputs or not dims:
        return None
    family = _FAMILIES.get(op.packet, _aligned)
    found = family(op, output, dims)
    return found if found is not None and found.dims else None


def _product_of(left: int, right: int) -> _Family:
    def source(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
        rank = len(op.outputs[output].shape)
        if dims == (rank - 1,):
            return SourceDim(right, (len(op.inputs[right].shape) - 1,))
        return SourceDim(left, tuple(dim for dim in dims if dim < rank - 1))

    return source


def _convolution(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    rank = len(op.outputs[output].shape)
    channels = rank - len(op.inputs[1].shape) + 1
    if dims == (channels,):
        return SourceDim(1, (1 if op.arguments.get("transposed") else 0,))
    return SourceDim(0, tuple(dim for dim in dims if dim != channels))


def _grouped(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    """A view: runs of dimensions with the same number of elements on both sides belong together."""
    old, new = _numbers(op.inputs[0].shape), _numbers(op.outputs[output].shape)
    if old is None or new is None:
        return None
    found: list[int] = []
    slot: Slot | None = None
    i = j = 0
    while i < len(old) or j < len(new):
        start, begin = i, j
        left = right = 1
        if i < len(old):
            left, i = old[i], i + 1
        if j < len(new):
            right, j = new[j], j + 1
        while left != right:
            if left < right and i < len(old):
                left, i = left * old[i], i + 1
            elif j < len(new):
                right, j = right * new[j], j + 1
            else:
                return None
        if any(begin <= dim < j for dim in dims):
            found += range(start, i)
            if len(dims) == 1 and i - start == 1:
                slot = Slot(math.prod(new[begin : dims[0]]), new[dims[0]])
    return SourceDim(0, tuple(found), slot if len(found) == 1 and slot and slot.size != old[found[0]] else None)


def _transposed(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    rank = len(op.inputs[0].shape)
    order = list(range(rank))
    first, second = int(op.arguments.get("dim0", 0)), int(op.arguments.get("dim1", 1))
    if rank > 1:
        order[first], order[second] = order[second], order[first]
    return SourceDim(0, tuple(order[dim] for dim in dims))


def _permuted(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    order = op.arguments["dims"]
    return SourceDim(0, tuple(int(order[dim]) % len(order) for dim in dims))


def _unsqueezed(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    new = int(op.arguments["dim"]) % len(op.outputs[output].shape)
    return SourceDim(0, tuple(dim - (dim > new) for dim in dims if dim != new))


def _removed(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    """What takes dimensions away, or leaves them with size 1: reductions, `select`, `squeeze`, `unbind`."""
    rank, left = len(op.inputs[0].shape), len(op.outputs[output].shape)
    if rank == left:
        return SourceDim(0, dims)
    given = op.arguments.get("dim")
    gone = {int(dim) % rank for dim in (given if isinstance(given, list) else [] if given is None else [given])}
    if op.packet == "aten.squeeze":
        gone = {dim for dim in gone or range(rank) if op.inputs[0].shape[dim] == 1}
    kept = [dim for dim in range(rank) if dim not in gone]
    return SourceDim(0, tuple(kept[dim] for dim in dims)) if len(kept) == left else None


def _joined(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    """`cat`: the size along its dimension is a sum, of which the largest part is followed."""
    rank = len(op.outputs[output].shape)
    dim = int(op.arguments.get("dim", 0) or 0) % rank
    parts = [index for index, meta in enumerate(op.inputs) if len(meta.shape) == rank]
    if dim not in dims or not parts:
        return SourceDim(parts[0], dims) if parts else None
    largest = max(parts, key=lambda index: size if isinstance(size := op.inputs[index].shape[dim], int) else 0)
    return SourceDim(largest, dims)


def _embedded(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    rank = len(op.outputs[output].shape)
    if dims == (rank - 1,):
        return SourceDim(0, (1,))
    return SourceDim(1, tuple(dim for dim in dims if dim < rank - 1))


def _attended(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    rank = len(op.outputs[output].shape)
    return SourceDim(2, dims) if dims == (rank - 1,) else SourceDim(0, tuple(dim for dim in dims if dim < rank - 1))


def _aligned(op: Op, output: int, dims: tuple[int, ...]) -> SourceDim | None:
    rank = len(op.outputs[output].shape)
    sizes = [op.outputs[output].shape[dim] for dim in dims]
    fitting: SourceDim | None = None
    for index, meta in enumerate(op.inputs):
        moved = tuple(dim - rank + len(meta.shape) for dim in dims)
        if min(moved) < 0:
            continue
        if [meta.shape[dim] for dim in moved] == sizes:
            return SourceDim(index, moved)
        if fitting is None and len(meta.shape) == rank:
            fitting = SourceDim(index, moved)
    return fitting


_REDUCTIONS = (
    "sum",
    "mean",
    "amax",
    "amin",
    "max",
    "min",
    "argmax",
    "argmin",
    "prod",
    "var",
    "std",
    "logsumexp",
    "any",
)
_FAMILIES: Mapping[str, _Family] = MappingProxyType(
    {
        **{f"aten.{name}": _product_of(0, 1) for name in ("mm", "bmm", "matmul")},
        **{f"aten.{name}": _product_of(1, 2) for name in ("addmm", "baddbmm")},
        **{f"aten.{name}": _grouped for name in ("view", "_unsafe_view", "_reshape_alias", "reshape")},
        **{f"aten.{name}": _transposed for name in ("transpose", "t")},
        **{f"aten.{name}": _removed for name in (*_REDUCTIONS, "select", "squeeze", "unbind")},
        "aten.convolution": _convolution,
        "aten.permute": _permuted,
        "aten.unsqueeze": _unsqueezed,
        "aten.cat": _joined,
        "aten.embedding": _embedded,
        "aten._scaled_dot_product_cudnn_attention": _attended,
        "aten._scaled_dot_product_flash_attention": _attended,
        "aten._scaled_dot_product_flash_attention_for_cpu": _attended,
        "aten._scaled_dot_product_efficient_attention": _attended,
    }
)


def _number(size: Size) -> int:
    return size if isinstance(size, int) else 0


def _numbers(sizes: tuple[Any, ...]) -> list[int] | None:
    return list(sizes) if all(isinstance(size, int) and size > 0 for size in sizes) else None
