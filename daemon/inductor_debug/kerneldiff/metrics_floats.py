"""Adds one block of two real tensors of one floating-point dtype, in few passes over memory that fits the cache.

Half and quarter precision are widened to float32, float64 stays. A block that is not plain (NaN, infinities, numbers so
large or small that their squares leave the dtype) is left to `metrics_general`, which takes any block. What only a new
record can change (the largest relative error, the ULP distance, tolerances, the worst elements) is looked at only in
blocks whose bounds say that they may hold one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from inductor_debug.kerneldiff.blocks import Block
from inductor_debug.kerneldiff.metrics_general import GeneralMetrics
from inductor_debug.kerneldiff.metrics_sums import Sums
from inductor_debug.kerneldiff.metrics_ulp import SIGNED_BITS, bits_of, max_distance
from inductor_debug.kerneldiff.metrics_worst import Worst

_SAFE = {torch.float32: (1e-15, 1e15), torch.float64: (1e-145, 1e145)}
"""Largest magnitudes of a block between which squares, and their sums, neither overflow nor lose what counts."""


@dataclass(frozen=True, slots=True)
class _Work:
    """Both sides of a block in the dtype computed in, and buffers of its size.

    `error` and `size` hold the moduli of the difference and of the reference, `quotient` the one by the other.
    """

    reference: Tensor
    actual: Tensor
    error: Tensor
    size: Tensor
    quotient: Tensor
    scratch: Tensor


@dataclass(frozen=True, slots=True)
class _Relative:
    """A block's relative errors: the largest one and their sum.

    `zeros` counts references that are zero, `at_zero` is the largest error at one.
    """

    highest: float
    total: float
    zeros: int
    at_zero: float


class FloatMetrics:
    """Takes blocks of one floating-point dtype. Its buffers are as large as six blocks of the dtype computed in."""

    def __init__(self, sums: Sums, worst: Worst, dtype: torch.dtype, *, equal_nan: bool) -> None:
        self._sums = sums
        self._worst = worst
        self._dtype = dtype
        self._compute = torch.float64 if dtype is torch.float64 else torch.float32
        self._general = GeneralMetrics(sums, worst, equal_nan=equal_nan)
        self._buffers: list[Tensor] = []

    def add(self, block: Block) -> None:
        """Adds a block."""
        if self._add_plain(block):
            return
        cleaned, removed = self._general.cleaned(block)
        self._sums.compared -= removed
        if removed == 0 or not self._add_plain(cleaned):
            self._general.add(cleaned)

    def _add_plain(self, block: Block) -> bool:
        """Adds the block and returns True, or leaves everything as it was and returns False."""
        work = self._prepare(block)
        size = float(torch.dot(work.reference, work.reference))
        if not self._safe(size, work.reference):
            return False
        # This gives up at the first difference, so it costs nothing where there is one.
        if torch.equal(work.reference, work.actual):
            self._add_equal(size, work)
            return True
        torch.sub(work.actual, work.reference, out=work.error)
        squares, other = float(torch.dot(work.error, work.error)), float(torch.dot(work.actual, work.actual))
        work.error.abs_()
        largest = float(work.error.amax())
        low, high = _SAFE[self._compute]
        if not (math.isfinite(squares) and low < largest < high and self._safe(other, work.actual)):
            return False
        relative = self._relative(work)
        if not math.isfinite(relative.total):
            return False
        self._add_differing(block, work, relative, largest, (squares, size, other))
        return True

    def _prepare(self, block: Block) -> _Work:
        """Buffers, and both sides in the dtype computed in."""
        count = block.reference.numel()
        if not self._buffers or self._buffers[0].numel() < count:
            widened = 0 if self._dtype is self._compute else 2
            self._buffers = [
                torch.empty(count, dtype=self._compute, device=block.reference.device) for _ in range(4 + widened)
            ]
        error, sizes, quotient, scratch, *wide = (buffer[:count] for buffer in self._buffers)
        reference, actual = block.reference, block.actual
        if wide:
            reference, actual = wide[0].copy_(reference), wide[1].copy_(actual)
        return _Work(reference, actual, error, sizes, quotient, scratch)

    def _safe(self, square: float, values: Tensor) -> bool:
        """Whether a sum of squares can be trusted: it neither overflowed nor are the values too small for it."""
        low = _SAFE[self._compute][0]
        return math.isfinite(square) and (square > low * low * values.numel() or not bool(values.any()))

    def _add_equal(self, square: float, work: _Work) -> None:
        sums, count = self._sums, work.reference.numel()
        sums.elements += count
        sums.compared += count
        sums.relative += int(torch.ne(work.reference, 0, out=work.scratch).sum())
        sums.add_norms(0.0, math.sqrt(square), math.sqrt(square))
        sums.note_ulp(0)

    def _add_differing(
        self, block: Block, work: _Work, relative: _Relative, largest: float, squares: tuple[float, float, float]
    ) -> None:
        sums, count = self._sums, work.reference.numel()
        sums.elements += count
        sums.compared += count
        sums.relative += count - relative.zeros
        sums.max_abs = max(sums.max_abs, largest)
        sums.sum_abs += float(work.error.sum())
        sums.max_rel = max(sums.max_rel, relative.highest)
        sums.sum_rel += relative.total
        sums.add_norms(*map(math.sqrt, squares))
        self._distance(block, work, relative, largest)
        self._tolerances(work, relative, largest)
        if self._worst.wants(largest):
            self._worst.take(block, work.error)

    @staticmethod
    def _relative(work: _Work) -> _Relative:
        """Fills `size`, and `quotient` with the relative errors, 0 where the reference is zero."""
        error, size, quotient, scratch = work.error, work.size, work.quotient, work.scratch
        torch.abs(work.reference, out=size)
        torch.div(error, size, out=quotient)
        highest = float(quotient.amax())
        zeros, at_zero = 0, 0.0
        if not math.isfinite(highest):
            # Masks as numbers: arithmetic with them is several times as fast as filling by a mask.
            zero = torch.eq(size, 0, out=scratch)
            zeros = int(zero.sum())
            torch.div(error, torch.add(size, zero, out=quotient), out=quotient)
            at_zero = float(zero.mul_(error).amax())
            if at_zero:
                quotient.sub_(zero)
            highest = float(quotient.amax())
        return _Relative(highest, float(quotient.sum()), zeros, at_zero)

    def _tolerances(self, work: _Work, relative: _Relative, largest: float) -> None:
        sums, wanted, scratch = self._sums, self._sums.tolerances, work.scratch
        if largest <= wanted.atol and largest <= sums.needed_atol:
            return
        if math.isfinite(wanted.rtol):
            torch.sub(work.error, work.size, alpha=wanted.rtol, out=scratch)
            if largest > sums.needed_atol:
                sums.needed_atol = max(sums.needed_atol, float(scratch.amax()))
            if largest > wanted.atol:
                sums.mismatches += int(torch.gt(scratch, wanted.atol, out=scratch).sum())
        if largest <= wanted.atol or (relative.highest <= sums.needed_rtol and relative.at_zero <= wanted.atol):
            return
        if relative.at_zero > wanted.atol:
            sums.needed_rtol = math.inf
            return
        torch.sub(work.error, wanted.atol, out=scratch)
        scratch.div_(work.size.masked_fill_(work.size == 0, math.inf) if relative.zeros else work.size)
        sums.needed_rtol = max(sums.needed_rtol, float(scratch.amax()))

    def _distance(self, block: Block, work: _Work, relative: _Relative, largest: float) -> None:
        """Counts the values between, exactly, where the block may hold a new record.

        Another sign (or a zero) takes an error as large as the reference: those few are taken out and counted one by
        one. All others have one sign, so their bits differ by the distance.
        """
        sums, dtype = self._sums, self._dtype
        if dtype not in SIGNED_BITS:
            sums.note_ulp(max_distance(block.reference, block.actual))
            return
        if relative.at_zero:
            sums.note_ulp(bits_of(relative.at_zero, dtype))
        crosses = relative.highest >= 1
        if crosses and self._may_cross_far(work, largest):
            places = (work.quotient >= 1).nonzero().view(-1)
            sums.note_ulp(max_distance(block.reference[places], block.actual[places]))
        if sums.ulp is not None and self._bound(relative.highest, largest) <= sums.ulp:
            return
        integers = SIGNED_BITS[dtype]
        steps = block.actual.view(integers) - block.reference.view(integers)
        if relative.zeros:
            steps.masked_fill_(work.reference == 0, 0)
        if crosses:
            steps.masked_fill_(work.quotient >= 1, 0)
        sums.note_ulp(max(int(steps.amax()), -int(steps.amin())))

    def _may_cross_far(self, work: _Work, largest: float) -> bool:
        """Whether two values of different signs may be farther apart than any so far.

        Read as an integer in units of a binade, a normal value is at most its logarithm plus the bias, so the product
        of two bounds how far they are apart by way of zero. A subnormal one adds at most a binade to the other, which
        is at most the error.
        """
        product = -float(torch.mul(work.reference, work.actual, out=work.scratch).amin())
        if self._sums.ulp is None or not product > _SAFE[self._compute][0] ** 2:
            return True
        information = torch.finfo(self._dtype)
        bias = 1.01 - math.log2(information.tiny)
        binades = max(math.log2(product) + 2 * bias, math.log2(largest) + bias + 1)
        return binades / information.eps > self._sums.ulp

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
