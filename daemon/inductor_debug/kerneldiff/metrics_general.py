"""Adds one block of any two tensors of numbers, with no assumption: complex, mixed dtypes, NaN, infinities, extremes.

It works in float64 and takes its time; `metrics_floats` takes the blocks that are plain.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from inductor_debug.kerneldiff.blocks import Block
from inductor_debug.kerneldiff.metrics_sums import Sums
from inductor_debug.kerneldiff.metrics_ulp import SIGNED_BITS, has_distances, max_distance
from inductor_debug.kerneldiff.metrics_worst import Worst


class GeneralMetrics:
    """Takes blocks of floating-point, complex, quantised or mixed tensors."""

    def __init__(self, sums: Sums, worst: Worst, *, equal_nan: bool) -> None:
        self._sums = sums
        self._worst = worst
        self._equal_nan = equal_nan

    def add(self, block: Block) -> None:
        """Adds a block."""
        reference, actual = _wide(block.reference), _wide(block.actual)
        finite = torch.isfinite(reference) & torch.isfinite(actual)
        compared = int(finite.count_nonzero().item())
        self._sums.elements += reference.numel()
        self._sums.compared += compared
        if compared < reference.numel():
            self._nonfinite(block, reference, actual, ~finite)
            reference = reference.masked_fill(~finite, 0)
            actual = actual.masked_fill(~finite, 0)
        if compared:
            self._finite(block, reference, actual)
            self._distance(block, finite)

    def _nonfinite(self, block: Block, reference: Tensor, actual: Tensor, mask: Tensor) -> None:
        sums = self._sums
        nan_reference, nan_actual = reference.isnan(), actual.isnan()
        sums.nan_reference += int(nan_reference.count_nonzero().item())
        sums.nan_actual += int(nan_actual.count_nonzero().item())
        # A complex number may have both; it is then counted as NaN.
        sums.inf_reference += int((reference.isinf() & ~nan_reference).count_nonzero().item())
        sums.inf_actual += int((actual.isinf() & ~nan_actual).count_nonzero().item())
        agree = reference == actual
        if self._equal_nan:
            agree |= nan_reference & nan_actual
        differ = mask & ~agree
        count = int(differ.count_nonzero().item())
        if count:
            sums.nonfinite_mismatches += count
            sums.mismatches += count
            self._worst.take_nonfinite(block, differ)

    def _finite(self, block: Block, reference: Tensor, actual: Tensor) -> None:
        sums, tolerances = self._sums, self._sums.tolerances
        error, size = (actual - reference).abs(), reference.abs()
        largest = float(error.max().item())
        sums.max_abs = max(sums.max_abs, largest)
        sums.sum_abs += float(error.sum().item())
        sums.add_norms(_norm(error), _norm(size), _norm(actual.abs()))
        zero = size == 0
        # Where the reference is zero there is no relative error; infinity makes it 0.
        divisor = size.masked_fill(zero, math.inf)
        relative = error / divisor
        sums.relative += int((~zero).count_nonzero().item())
        sums.max_rel = max(sums.max_rel, float(relative.max().item()))
        sums.sum_rel += float(relative.sum().item())
        if largest == 0:
            return
        excess = error - tolerances.rtol * size if math.isfinite(tolerances.rtol) else torch.zeros_like(error)
        over = excess > tolerances.atol
        count = int(over.count_nonzero().item())
        sums.needed_atol = max(sums.needed_atol, float(excess.max().item()))
        if count or largest > tolerances.atol:
            self._needed_rtol(error, divisor)
        sums.mismatches += count
        if self._worst.wants(largest):
            self._worst.take(block, error)

    def _needed_rtol(self, error: Tensor, divisor: Tensor) -> None:
        over = error - self._sums.tolerances.atol
        needed = float((over / divisor).max().item())
        if bool(((over > 0) & divisor.isinf()).any()):
            needed = math.inf
        self._sums.needed_rtol = max(self._sums.needed_rtol, needed)

    def _distance(self, block: Block, finite: Tensor) -> None:
        reference, actual = block.reference, block.actual
        if reference.is_quantized or actual.is_quantized:
            return
        if reference.is_complex() and actual.is_complex():
            reference, actual = (torch.view_as_real(part.resolve_conj())[finite] for part in (reference, actual))
        else:
            reference, actual = reference[finite], actual[finite]
        common = _less_precise(reference.dtype, actual.dtype)
        if common is not None and has_distances(common):
            reference, actual = reference.to(common), actual.to(common)
            both = torch.isfinite(reference) & torch.isfinite(actual) if common in SIGNED_BITS else None
            if both is not None and not bool(both.all()):
                reference, actual = reference[both], actual[both]
            self._sums.note_ulp(max_distance(reference.reshape(-1), actual.reshape(-1)))


def _less_precise(left: torch.dtype, right: torch.dtype) -> torch.dtype | None:
    if not (left.is_floating_point and right.is_floating_point):
        return None
    return max(left, right, key=lambda dtype: torch.finfo(dtype).eps)


def _wide(values: Tensor) -> Tensor:
    if values.is_quantized:
        values = values.dequantize()
    return values.to(torch.complex128 if values.is_complex() else torch.float64)


def _norm(values: Tensor) -> float:
    """The Euclidean norm of non-negative numbers, scaled so that no square overflows or vanishes."""
    scale = float(values.max().item())
    if scale == 0 or not math.isfinite(scale):
        return scale
    return scale * float(torch.linalg.vector_norm(values / scale).item())
