"""How far sums may be off when they are formed in another order than eager's.

Eager adds up in many short chains that it joins at the end (a cascade, which hardly errs); compilers and accelerators
may run through all elements with a few running totals. What that does is read off the data: the running totals are
known, so is what float32 makes of each addition to them. Errors of equal numbers all have one sign, those of random
ones cancel, and both matter: `Errors.shift` is what this order comes to, `Errors.spread` the standard deviation of
others like it. Nothing here moves values; `perturbation` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from inductor_debug.accelerators.number_formats import NumberFormat
from inductor_debug.capture.tensors.rounding import rounded
from inductor_debug.kerneldiff.metrics.wide_devices import widenable

_aten = torch.ops.aten
_SHORTEST = 16
"""Sums of fewer elements differ by no more than other roundings do."""
_BLOCK = 1 << 22
"""Elements looked at together, in float64."""
_ROUNDING = 0.21
"""The standard deviation of a rounding, in units at the value: uniform within half a unit (1 / sqrt(12) = 0.29), which
is up to twice as much for values just above a power of two as for those just below."""


@dataclass(frozen=True, slots=True)
class Chains:
    """How sums are formed: the running totals (8 are those of a plain vectorised loop over float32) and their format.

    Without a format it is float32, or float64 for numbers of that type.
    """

    lanes: int
    totals: NumberFormat | None = None

    def kept(self, totals: Tensor, values: Tensor) -> Tensor:
        """Running totals, in float64, as they are kept for sums of `values`."""
        if self.totals is not None:
            return rounded(totals, self.totals)
        return totals.to(_wide(values)).to(torch.float64)

    def unit(self, values: Tensor) -> float:
        """The distance between 1 and the next number of the running totals."""
        return torch.finfo(_wide(values)).eps if self.totals is None else self.totals.unit


@dataclass(frozen=True, slots=True)
class Errors:
    """What another order adds to every element of a result: a `shift`, and the standard deviation around it."""

    shift: Tensor
    spread: Tensor

    def times(self, factor: Any) -> Errors:
        """The errors of a result that is `factor` times as large; nothing where the factor is not finite."""
        parts = (self.shift * factor, self.spread * abs(factor))
        return Errors(*(part.nan_to_num(0.0, 0.0, 0.0) for part in parts))


def errors_of(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], how: Chains) -> tuple[Errors, ...]:
    """The errors of each result of an ATen operation; nothing for operations that add nothing up.

    Args:
        func: an `OpOverload`.
        args: what it is called with.
        kwargs: likewise.
        how: which sums are formed.
    """
    compute = _ADDING.get(func)
    tensors = [argument for argument in args if isinstance(argument, Tensor)]
    if compute is None or not tensors or not all(tensor.is_floating_point() for tensor in tensors):
        return ()
    found = compute(how, *args, **kwargs)
    return found if isinstance(found, tuple) else (found,)


def bias_errors(gradient: Tensor, how: Chains) -> Errors:
    """The same for the gradient of a convolution's bias: a sum over everything but the channels."""
    return _sum(how, gradient, [0, *range(2, gradient.dim())])


def _sum(how: Chains, values: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Errors:
    dims = _dimensions(values, dim)
    kept = [dimension for dimension in range(values.dim()) if dimension not in dims]
    shape = [values.shape[dimension] for dimension in kept]
    rows = widenable(values.detach()).permute([*kept, *dims]).reshape(math.prod(shape), -1 if values.numel() else 0)
    if keepdim:
        shape = [1 if dimension in dims else size for dimension, size in enumerate(values.shape)]
    shift = torch.zeros(rows.shape[0], dtype=torch.float64, device=rows.device)
    squares = torch.zeros_like(shift)
    if rows.shape[1] >= _SHORTEST:
        together = max(_BLOCK // rows.shape[1], 1)
        for start in range(0, rows.shape[0], together):
            part = slice(start, start + together)
            _add(rows[part], how, shift[part], squares[part])
    return Errors(shift.view(shape), squares.sqrt_().view(shape))


def _add(rows: Tensor, how: Chains, shift: Tensor, squares: Tensor) -> None:
    """Adds up what the format makes of each addition in each row; a row's rest after the last full step is left out."""
    lanes = how.lanes
    steps = max(_BLOCK // (lanes * rows.shape[0]), 1)
    totals = torch.zeros(rows.shape[0], 1, lanes, dtype=torch.float64, device=rows.device)
    for first in range(0, rows.shape[1] // lanes, steps):
        count = min(steps, rows.shape[1] // lanes - first)
        added = rows[:, first * lanes : (first + count) * lanes].reshape(-1, count, lanes).to(torch.float64)
        after = added.cumsum(1).add_(totals)
        before = how.kept(torch.cat([totals, after[:, :-1]], 1), rows)
        exact = before + added
        error = how.kept(exact, rows).sub_(exact).nan_to_num_(0.0, 0.0, 0.0)
        shift += error.sum((1, 2))
        squares += error.square_().sum((1, 2))
        totals = after[:, -1:]


def _mean(how: Chains, values: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Errors:
    return _sum(how, values, dim, keepdim).times(1 / max(_count(values, dim), 1))


def _variance(how: Chains, values: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Errors:
    wide = values.detach().to(_wide(values))
    squares = (wide - wide.mean(_dimensions(values, dim), keepdim=True)).square_()
    correction = 1 if correction is None else correction
    return _sum(how, squares, dim, keepdim).times(1 / max(_count(values, dim) - correction, 1))


def _variance_and_mean(how: Chains, values: Tensor, dim: Any = None, **kwargs: Any) -> tuple[Errors, Errors]:
    return _variance(how, values, dim, **kwargs), _mean(how, values, dim, kwargs.get("keepdim", False))


def _deviation(how: Chains, values: Tensor, dim: Any = None, **kwargs: Any) -> Errors:
    deviation = torch.std(values.detach().to(_wide(values)), dim, **kwargs)
    return _variance(how, values, dim, **kwargs).times(0.5 / deviation)


def _norm(how: Chains, values: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, **kwargs: Any) -> Errors:
    wide = values.detach().to(_wide(values))
    norm = torch.linalg.vector_norm(wide, ord, dim, keepdim)
    return _sum(how, wide.square(), dim, keepdim).times(0.5 / norm if ord == 2 else 0.0)


def _matmul(how: Chains, left: Tensor, right: Tensor) -> Errors:
    """Products are added up one after another: running totals grow as a random walk does."""
    wide = _wide(left)
    size = (left.detach().to(wide).square() @ right.detach().to(wide).square()).sqrt_()
    spread = size.mul_(_ROUNDING * how.unit(left) * math.sqrt(left.shape[-1] / 2))
    return Errors(torch.zeros_like(spread), spread)


def _addmm(how: Chains, bias: Tensor, left: Tensor, right: Tensor, *, beta: float = 1, alpha: float = 1) -> Errors:
    return _matmul(how, left, right).times(alpha)


def _dimensions(values: Tensor, dim: Any) -> list[int]:
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return list(range(values.dim()))
    chosen = (dim,) if isinstance(dim, int) else dim
    return [dimension % max(values.dim(), 1) for dimension in chosen]


def _count(values: Tensor, dim: Any) -> int:
    return math.prod(values.shape[dimension] for dimension in _dimensions(values, dim))


def _wide(values: Tensor) -> torch.dtype:
    """What sums are formed in: float16 and bfloat16 are added up in float32 everywhere."""
    return torch.float64 if values.dtype is torch.float64 else torch.float32


_ADDING: dict[Any, Callable[..., Errors | tuple[Errors, ...]]] = {
    _aten.sum.default: _sum,
    _aten.sum.dim_IntList: _sum,
    _aten.mean.default: _mean,
    _aten.mean.dim: _mean,
    _aten.var.correction: _variance,
    _aten.var_mean.correction: _variance_and_mean,
    _aten.std.correction: _deviation,
    _aten.linalg_vector_norm.default: _norm,
    _aten.dot.default: _matmul,
    _aten.vdot.default: _matmul,
    _aten.mv.default: _matmul,
    _aten.addmv.default: _addmm,
    _aten.mm.default: _matmul,
    _aten.bmm.default: _matmul,
    _aten.addmm.default: _addmm,
    _aten.baddbmm.default: _addmm,
}
