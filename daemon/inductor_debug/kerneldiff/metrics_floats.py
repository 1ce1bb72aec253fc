"""Adds one block of two real tensors of one floating-point dtype, in few passes over memory that fits the cache.

Half and quarter precision are widened to float32, float64 stays. A block that is not plain (NaN, infinities, numbers so
large or small that their squares leave the dtype) is left to `metrics_general`, which takes any block. What only a new
record can change (the largest relative error, the ULP distance, tolerances, the worst elements) is looked at only in
blocks whose bounds say that they may hold one.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from inductor_debug.kerneldiff.blocks import Block
from inductor_debug.kerneldiff.metrics_general import GeneralMetrics
from inductor_debug.kerneldiff.metrics_sums import Sums
from inductor_debug.kerneldiff.metrics_ulp import SIGNED_BITS, bits_of, max_distance
from inductor_debug.kerneldiff.metrics_worst import Worst

_SAFE = {torch.float32: (1e-15, 1e15), torch.float64: (1e-145, 1e145)}
"""Largest magnitudes of a block between which squares, and their sums, neither overflow nor lose what counts."""


class FloatMetrics:
    """Takes blocks of one floating-point dtype. Its buffers are as large as five blocks of the dtype computed in."""

    def __init__(self, sums: Sums, worst: Worst, dtype: torch.dtype, *, equal_nan: bool) -> None:
        self._sums = sums
        self._worst = worst
        self._dtype = dtype
        self._compute = torch.float64 if dtype is torch.float64 else torch.float32
        self._general = GeneralMetrics(sums, worst, equal_nan=equal_nan)
        self._buffers: list[Tensor] = []

    def add(self, block: Block) -> None:
        """Adds a block."""
        if not self._add_plain(block):
            self._general.add(block)

    def _add_plain(self, block: Block) -> bool:
        """Adds the block and returns True, or leaves everything as it was and returns False."""
        difference, error, scratch, reference, actual = self._prepare(block)
        torch.sub(actual, reference, out=difference)
        squares = float(torch.dot(difference, difference))
        if not math.isfinite(squares):
            return False
        size = float(torch.dot(reference, reference))
        if not self._safe(size, reference):
            return False
        if squares == 0 and not bool(difference.any()):
            self._add_equal(size, reference)
            return True
        other = float(torch.dot(actual, actual))
        torch.abs(difference, out=error)
        largest = float(error.amax())
        low, high = _SAFE[self._compute]
        if not low < largest < high or not self._safe(other, actual):
            return False
        torch.div(difference, reference, out=scratch)
        return self._add_differing(block, largest, (squares, size, other), (difference, error, scratch, reference))

    def _prepare(self, block: Block) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Three buffers, then both sides in the dtype computed in."""
        count = block.reference.numel()
        if not self._buffers or self._buffers[0].numel() < count:
            widened = 0 if self._dtype is self._compute else 2
            self._buffers = [
                torch.empty(count, dtype=self._compute, device=block.reference.device) for _ in range(3 + widened)
            ]
        difference, error, scratch, *wide = (buffer[:count] for buffer in self._buffers)
        if wide:
            return difference, error, scratch, wide[0].copy_(block.reference), wide[1].copy_(block.actual)
        return difference, error, scratch, block.reference, block.actual

    def _safe(self, square: float, values: Tensor) -> bool:
        """Whether a sum of squares can be trusted: it neither overflowed nor are the values too small for it."""
        low = _SAFE[self._compute][0]
        return math.isfinite(square) and (square > low * low * values.numel() or not bool(values.any()))

    def _add_equal(self, square: float, reference: Tensor) -> None:
        sums = self._sums
        sums.elements += reference.numel()
        sums.compared += reference.numel()
        sums.relative += int(reference.count_nonzero())
        sums.add_norms(0.0, math.sqrt(square), math.sqrt(square))
        sums.note_ulp(0)

    def _add_differing(
        self, block: Block, largest: float, squares: tuple[float, float, float], parts: tuple[Tensor, ...]
    ) -> bool:
        """`parts` are the difference, its modulus, the quotient of difference and reference, and the reference."""
        sums = self._sums
        difference, error, quotient, reference = parts
        lowest, highest, total, zero = self._relative(quotient, reference)
        if not math.isfinite(total):
            return False
        count = reference.numel()
        sums.elements += count
        sums.compared += count
        sums.relative += count if zero is None else count - int(zero.count_nonzero())
        sums.max_abs = max(sums.max_abs, largest)
        sums.sum_abs += float(error.sum())
        sums.max_rel = max(sums.max_rel, highest)
        sums.sum_rel += total
        sums.add_norms(*map(math.sqrt, squares))
        at_zero = 0.0 if zero is None else float((error * zero).amax())
        self._distance(block, lowest, highest, largest, quotient, zero, at_zero, difference)
        self._tolerances(error, reference, difference, largest, highest, zero, at_zero)
        if self._worst.wants(largest):
            self._worst.take(block, error)
        return True

    @staticmethod
    def _relative(quotient: Tensor, reference: Tensor) -> tuple[float, float, float, Tensor | None]:
        """The lowest quotient, the largest modulus of one, the sum of all moduli, and where the reference is zero.

        The quotient stays signed; where the reference is zero it becomes 0.
        """
        zero: Tensor | None = None
        lowest, highest = float(quotient.amin()), float(quotient.amax())
        if not (math.isfinite(lowest) and math.isfinite(highest)):
            zero = reference == 0
            quotient.masked_fill_(zero, 0.0)
            lowest, highest = float(quotient.amin()), float(quotient.amax())
        total = float(torch.linalg.vector_norm(quotient, 1))
        return lowest, max(-lowest, highest), total, zero

    def _tolerances(
        self,
        error: Tensor,
        reference: Tensor,
        scratch: Tensor,
        largest: float,
        highest: float,
        zero: Tensor | None,
        at_zero: float,
    ) -> None:
        sums, wanted = self._sums, self._sums.tolerances
        if largest <= wanted.atol and largest <= sums.needed_atol:
            return
        if math.isfinite(wanted.rtol):
            torch.abs(reference, out=scratch)
            torch.sub(error, scratch, alpha=wanted.rtol, out=scratch)
            excess = float(scratch.amax())
            sums.needed_atol = max(sums.needed_atol, excess)
            if excess > wanted.atol:
                sums.mismatches += int((scratch > wanted.atol).sum())
        if largest <= wanted.atol or highest <= sums.needed_rtol:
            return
        if at_zero > wanted.atol:
            sums.needed_rtol = math.inf
            return
        torch.sub(error, wanted.atol, out=scratch)
        scratch.div_(reference.abs())
        if zero is not None:
            scratch.masked_fill_(zero, 0.0)
        sums.needed_rtol = max(sums.needed_rtol, float(scratch.amax()))

    def _distance(
        self,
        block: Block,
        lowest: float,
        highest: float,
        largest: float,
        quotient: Tensor,
        zero: Tensor | None,
        at_zero: float,
        scratch: Tensor,
    ) -> None:
        """Counts the values between, exactly, where the block may hold a new record.

        A quotient of -1 or less is the only way to another sign (or to zero): those few are taken out and counted one
        by one. All others have one sign, so their bits differ by the distance.
        """
        sums, dtype = self._sums, self._dtype
        if dtype not in SIGNED_BITS:
            sums.note_ulp(max_distance(block.reference, block.actual))
            return
        if at_zero:
            sums.note_ulp(bits_of(at_zero, dtype))
        crossing = quotient <= -1 if lowest <= -1 else None
        if crossing is not None:
            places = crossing.nonzero().view(-1)
            sums.note_ulp(max_distance(block.reference[places], block.actual[places]))
        if self._bound(highest, largest) <= (sums.ulp or 0) and sums.ulp is not None:
            return
        integers = SIGNED_BITS[dtype]
        if scratch.element_size() == block.reference.element_size():
            steps = torch.sub(block.actual.view(integers), block.reference.view(integers), out=scratch.view(integers))
        else:
            steps = block.actual.view(integers) - block.reference.view(integers)
        for mask in (zero, crossing):
            if mask is not None:
                steps.masked_fill_(mask, 0)
        sums.note_ulp(max(int(steps.amax()), -int(steps.amin())))

    def _bound(self, highest: float, largest: float) -> int:
        """No distance between two values of one sign in the block is larger.

        With a relative error of at most 1/2 the two are at most two binades apart. Else both are at most three times
        the error.
        """
        binade = round(1 / torch.finfo(self._dtype).eps)
        if highest <= 0.5:
            return int(4 * binade * highest) + 4
        ceiling = min(3 * largest, torch.finfo(self._dtype).max)
        return max(2 * binade + 4, bits_of(ceiling, self._dtype) + 1)
