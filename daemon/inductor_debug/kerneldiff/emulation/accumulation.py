"""Matrix products and sums whose running total is kept in a short number format, as accelerators keep them.

The contracted dimension is taken a piece at a time. Within a piece products are exact (two numbers of at most 12
significant bits) and are added in float32; the piece's sum and then the running total are rounded to the format. Real
hardware may round after every addition, and in another order: the size of the error is emulated, not its exact bits.
Padding of the last piece with zeros changes no sum, so a partial stick is a shorter piece here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from inductor_debug.accelerators.number_formats import NumberFormat
from inductor_debug.capture.tensors.rounding import rounded

_aten = torch.ops.aten


@dataclass(frozen=True, slots=True)
class Accumulator:
    """How sums are formed: the format of the running total, the elements of a piece, which end is taken first."""

    number_format: NumberFormat
    piece: int
    backwards: bool = False

    def matmul(self, left: Tensor, right: Tensor) -> Tensor:
        """`left @ right` for matrices or batches of them; float32 or float64."""
        return self._total(
            left.shape[-1],
            lambda start, end: left[..., start:end] @ right[..., start:end, :],
            left.new_zeros((*left.shape[:-1], right.shape[-1])),
        )

    def sum(self, values: Tensor, dimensions: tuple[int, ...], keepdim: bool) -> Tensor:
        """The sum over `dimensions`, all of them if there are none."""
        dims = sorted({dimension % max(values.dim(), 1) for dimension in dimensions}) or list(range(values.dim()))
        if not values.dim():
            return rounded(values, self.number_format)
        kept = [dimension for dimension in range(values.dim()) if dimension not in dims]
        flat = values.permute(*kept, *dims).reshape(*(values.shape[dimension] for dimension in kept), -1)
        total = self._total(
            flat.shape[-1], lambda start, end: flat[..., start:end].sum(-1), flat.new_zeros(flat.shape[:-1])
        )
        for dimension in dims if keepdim else ():
            total = total.unsqueeze(dimension)
        return total

    def _total(self, length: int, part: Callable[[int, int], Tensor], total: Tensor) -> Tensor:
        starts = list(range(0, length, self.piece))
        for start in reversed(starts) if self.backwards else starts:
            piece = rounded(part(start, min(start + self.piece, length)), self.number_format)
            total = rounded(total + piece, self.number_format)
        return total

    def compute(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | None:
        """The result of an ATen operation that adds up, or None for any other operation."""
        compute = _COMPUTE.get(func)
        return None if compute is None else compute(self, *args, **kwargs)


def accumulates(func: Any) -> bool:
    """Whether `Accumulator.compute` knows the operation."""
    return func in _COMPUTE


def _addmm(how: Accumulator, bias: Tensor, left: Tensor, right: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    product = how.matmul(left, right)
    return (product * alpha if alpha != 1 else product) + (bias * beta if beta != 1 else bias)


def _sum(
    how: Accumulator, values: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    return how.sum(values, _dimensions(dim), keepdim)


def _mean(
    how: Accumulator, values: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    total = how.sum(values, _dimensions(dim), keepdim)
    return total * (total.numel() / max(values.numel(), 1))


def _dimensions(dim: Any) -> tuple[int, ...]:
    if dim is None:
        return ()
    return (dim,) if isinstance(dim, int) else tuple(dim)


_COMPUTE: dict[Any, Callable[..., Tensor]] = {
    _aten.mm.default: Accumulator.matmul,
    _aten.bmm.default: Accumulator.matmul,
    _aten.addmm.default: _addmm,
    _aten.baddbmm.default: _addmm,
    _aten.sum.default: _sum,
    _aten.sum.dim_IntList: _sum,
    _aten.mean.default: _mean,
    _aten.mean.dim: _mean,
}
