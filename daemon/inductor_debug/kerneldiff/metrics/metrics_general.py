"""Adds one block of any two tensors of numbers, with no assumption: complex, mixed dtypes, NaN, infinities, extremes.

It works in float64 and takes its time; `metrics_floats` takes the blocks that are plain.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from inductor_debug.kerneldiff.metrics.blocks import Block
from inductor_debug.kerneldiff.metrics.metrics_sums import Sums
from inductor_debug.kerneldiff.metrics.metrics_ulp import SIGNED_BITS, has_distances, max_distance
from inductor_debug.kerneldiff.metrics.metrics_worst import Worst

_BYTES = {torch.float8_e8m0fnu: torch.uint8} | {d: bits for d, bits in SIGNED_BITS.items() if bits is torch.int8}
"""Dtypes that torch indexes by their bytes only. A zero byte is zero, or the smallest number where there is no zero."""


class GeneralMetrics:
    """Takes blocks of floating-point, complex, quantised or mixed tensors."""

    def __init__(self, sums: Sums, worst: Worst, *, equal_nan: bool) -> None:
        self._sums = sums
        self._worst = worst
        self._equal_nan = equal_nan

    def add(self, block: Block) -> None:
        """Adds a block."""
        cleaned, removed = self.cleaned(block)
        self._sums.elements += block.reference.numel()
        self._sums.compared += block.reference.numel() - removed
        self._finite(cleaned, _wide(cleaned.reference), _wide(cleaned.actual))
        if removed < block.reference.numel():
            self._distance(cleaned)

    def cleaned(self, block: Block) -> tuple[Block, int]:
        """The block with zeros on both sides where a side is not finite, and how many such places there are.

        What is told of NaN and infinities is added here; zeros add nothing to any error or norm.
        """
        if block.reference.is_quantized or block.actual.is_quantized:
            return block, 0
        bad = _nonfinite(block.reference).logical_or_(_nonfinite(block.actual))
        places = bad.nonzero().view(-1)
        if places.numel() == 0:
            return block, 0
        self._nonfinite(block, places)
        reference, actual = (side.clone() for side in (block.reference, block.actual))
        for side in (reference, actual):
            side.view(_BYTES.get(side.dtype, side.dtype))[places] = 0
        return Block(block.start, reference, actual), places.numel()

    def _nonfinite(self, block: Block, places: Tensor) -> None:
        sums = self._sums
        reference, actual = (
            _wide(side.view(_BYTES.get(side.dtype, side.dtype))[places].view(side.dtype))
            for side in (block.reference, block.actual)
        )
        nan_reference, nan_actual = reference.isnan(), actual.isnan()
        sums.nan_reference += int(nan_reference.sum())
        sums.nan_actual += int(nan_actual.sum())
        # A complex number may have both; it is then counted as NaN.
        sums.inf_reference += int((reference.isinf() & ~nan_reference).sum())
        sums.inf_actual += int((actual.isinf() & ~nan_actual).sum())
        agree = reference == actual
        if self._equal_nan:
            agree |= nan_reference & nan_actual
        differing = places[~agree]
        if differing.numel():
            sums.nonfinite_mismatches += differing.numel()
            sums.mismatches += differing.numel()
            self._worst.take_nonfinite(block, differing)

    def _finite(self, block: Block, reference: Tensor, actual: Tensor) -> None:
        sums, tolerances = self._sums, self._sums.tolerances
        error, size = (actual - reference).abs(), reference.abs()
        largest = float(error.max().item())
        sums.max_abs = max(sums.max_abs, largest)
        sums.sum_abs += float(error.sum().item())
        sums.add_norms(_norm(error), _norm(size), _norm(actual.abs()), _product(reference, actual))
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

    def _distance(self, block: Block) -> None:
        reference, actual = block.reference, block.actual
        if reference.is_quantized or actual.is_quantized:
            return
        if reference.is_complex() and actual.is_complex():
            reference, actual = (torch.view_as_real(part.resolve_conj()).view(-1) for part in (reference, actual))
        common = _less_precise(reference.dtype, actual.dtype)
        if common is None or not has_distances(common):
            return
        reference, actual = reference.to(common), actual.to(common)
        # What is too large for the less precise dtype has no place in it.
        beyond = _nonfinite(reference).logical_or_(_nonfinite(actual))
        if bool(beyond.any()):
            reference, actual = reference[~beyond], actual[~beyond]
        self._sums.note_ulp(max_distance(reference, actual))


def _nonfinite(values: Tensor) -> Tensor:
    """Where values are NaN or infinite."""
    if not (values.is_floating_point() or values.is_complex()):
        return torch.zeros(values.shape, dtype=torch.bool, device=values.device)
    # Several times as fast as `isfinite`: zero times a number that is not finite is NaN, which differs from itself.
    zeros = (values.to(torch.float32) if values.element_size() < 4 else values) * 0
    return zeros != zeros


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


def _product(left: Tensor, right: Tensor) -> float:
    """The real part of the inner product."""
    if left.is_complex() or right.is_complex():
        left, right = (torch.view_as_real(side.to(torch.complex128).resolve_conj()) for side in (left, right))
    return float((left * right).sum().item())
