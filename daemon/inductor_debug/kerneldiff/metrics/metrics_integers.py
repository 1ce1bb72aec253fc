"""Adds one block of two integer or bool tensors, exactly: no value passes through a float where it could be rounded."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from inductor_debug.kerneldiff.metrics.blocks import Block
from inductor_debug.kerneldiff.metrics.metrics_general import GeneralMetrics
from inductor_debug.kerneldiff.metrics.metrics_sums import Sums
from inductor_debug.kerneldiff.metrics.metrics_ulp import differences
from inductor_debug.kerneldiff.metrics.metrics_worst import Worst

INTEGERS = frozenset(
    getattr(torch, name)
    for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
    if hasattr(torch, name)
)
_LOWEST = -(2**63)


class IntegerMetrics:
    """Takes blocks of integers of any two dtypes of `INTEGERS`.

    Where uint64 meets numbers below zero, differences need more than 64 bits: such a block goes by way of float64,
    which rounds large ones.
    """

    def __init__(self, sums: Sums, worst: Worst, *dtypes: torch.dtype) -> None:
        self._sums = sums
        self._worst = worst
        self._unsigned = torch.uint64 in dtypes
        self._general = GeneralMetrics(sums, worst, equal_nan=True)

    def add(self, block: Block) -> None:
        """Adds a block."""
        if self._unsigned and (_negative(block.reference) or _negative(block.actual)):
            self._general.add(block)
            return
        sums = self._sums
        sums.elements += block.reference.numel()
        sums.compared += block.reference.numel()
        reference, actual = (self._ordered(side) for side in (block.reference, block.actual))
        size = _magnitude(block.reference)
        norm = float(torch.linalg.vector_norm(size).item())
        sums.relative += int(size.count_nonzero().item())
        sums.note_ulp(0)
        if torch.equal(reference, actual):
            sums.add_norms(0.0, norm, norm, norm * norm)
            return
        steps = differences(reference, actual)
        largest = int(steps.max().item()) - _LOWEST
        sums.max_abs = max(sums.max_abs, largest)
        sums.note_ulp(largest)
        self._differing(block, _unsigned(steps), size)
        sums.add_norms(
            float(torch.linalg.vector_norm(_unsigned(steps)).item()),
            norm,
            float(torch.linalg.vector_norm(_magnitude(block.actual)).item()),
            float((_number(block.reference) * _number(block.actual)).sum().item()),
        )
        self._tolerances(steps, _unsigned(steps), size)
        if self._worst.wants(largest):
            self._worst.take(block, _unsigned(steps))

    def _ordered(self, values: Tensor) -> Tensor:
        """As int64, in order and with the same differences; what goes up to 2**64 is moved down by 2**63."""
        if not self._unsigned:
            return values.to(torch.int64)
        return (values.view(torch.int64) if values.dtype is torch.uint64 else values.to(torch.int64)) ^ _LOWEST

    def _differing(self, block: Block, error: Tensor, size: Tensor) -> None:
        sums = self._sums
        sums.sum_abs += float(error.sum().item())
        relative = error / size.masked_fill(size == 0, math.inf)
        sums.max_rel = max(sums.max_rel, float(relative.max().item()))
        sums.sum_rel += float(relative.sum().item())

    def _tolerances(self, steps: Tensor, error: Tensor, size: Tensor) -> None:
        sums, tolerances = self._sums, self._sums.tolerances
        if tolerances.atol == 0 and tolerances.rtol == 0:
            sums.mismatches += int((steps != _LOWEST).count_nonzero().item())
            sums.needed_atol = max(sums.needed_atol, int(steps.max().item()) - _LOWEST)
        else:
            allowed = tolerances.rtol * size if math.isfinite(tolerances.rtol) else torch.full_like(size, math.inf)
            excess = error - allowed
            sums.mismatches += int((excess > tolerances.atol).count_nonzero().item())
            sums.needed_atol = max(sums.needed_atol, float(excess.max().item()))
        over = error - tolerances.atol
        needed = (over / size).masked_fill(over <= 0, 0.0)
        sums.needed_rtol = max(sums.needed_rtol, float(needed.max().item()))


def _negative(values: Tensor) -> bool:
    """Whether any number is below zero."""
    return values.dtype is not torch.uint64 and bool((values.to(torch.int64) < 0).any())


def _magnitude(values: Tensor) -> Tensor:
    return _number(values).abs_()


def _number(values: Tensor) -> Tensor:
    """As float64, of its own."""
    if values.dtype is torch.uint64:
        return _unsigned(values.view(torch.int64) ^ _LOWEST)
    return values.to(torch.float64)


def _unsigned(steps: Tensor) -> Tensor:
    """int64 that holds `n - 2**63`, as float64 `n`."""
    bits = steps ^ _LOWEST
    value = bits.to(torch.float64)
    return torch.where(bits < 0, value + 2.0**64, value)
