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

from inductor_debug.kerneldiff.metrics.blocks import Block
from inductor_debug.kerneldiff.metrics.metrics_general import GeneralMetrics
from inductor_debug.kerneldiff.metrics.metrics_sums import Sums
from inductor_debug.kerneldiff.metrics.metrics_ulp import SIGNED_BITS, bits_of, max_distance
from inductor_debug.kerneldiff.metrics.metrics_worst import Worst

_SAFE = {torch.float32: (1e-15, 1e15), torch.float64: (1e-145, 1e145)}
"""Largest magnitudes of a block between which squares, and their sums, neither overflow nor lose what counts."""

_ROWS = 5
"""The error, the quotient, and the squares of both sides and of the error."""

_ALIKE = 16.0
"""Squares of two sides that differ by no more leave the inner product its digits."""

_SURELY = 1 - 1e-6
"""Relative errors that are smaller than a tolerance by that factor are within it, however they were rounded."""


class _Work:
    """Both sides of a block in the dtype computed in, and buffers of its size, whose parts are cut once.

    `rows` are `error`, the moduli of the difference; `quotient`, the same divided by `size`; and the squares of both
    sides and of the error, the first of which is free as `scratch` once they have been summed. `size` holds the moduli
    of the reference.
    """

    def __init__(self, count: int, dtype: torch.dtype, compute: torch.dtype, device: torch.device) -> None:
        buffers = torch.empty(_ROWS + (1 if dtype is compute else 3), count, dtype=compute, device=device)
        self.count = count
        self.rows = buffers[:_ROWS]
        self.error, self.quotient, *self.squares = self.rows
        self.scratch = self.squares[0]
        self.size, *self._wide = buffers[_ROWS:]
        self.measured = buffers[:2]
        self.found = torch.empty(2 + _ROWS, dtype=compute, device=device)
        self.maxima, self.totals = self.found[:2], self.found[2:]
        self.reference = self.actual = self.error

    def take(self, block: Block) -> None:
        """Sets both sides."""
        self.reference, self.actual = block.reference, block.actual
        if self._wide:
            self.reference, self.actual = self._wide[0].copy_(block.reference), self._wide[1].copy_(block.actual)


@dataclass(frozen=True, slots=True)
class _Figures:
    """What a block adds up to: the largest error and quotient, their sums, and sums of squares."""

    largest: float
    highest: float
    total: float
    relative_total: float
    reference_square: float
    actual_square: float
    error_square: float


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
    """Takes blocks of one floating-point dtype. Its buffers are as large as eight blocks of the dtype computed in."""

    def __init__(self, sums: Sums, worst: Worst, dtype: torch.dtype, *, equal_nan: bool) -> None:
        self._sums = sums
        self._worst = worst
        self._dtype = dtype
        self._compute = torch.float64 if dtype is torch.float64 else torch.float32
        self._general = GeneralMetrics(sums, worst, equal_nan=equal_nan)
        self._work: _Work | None = None

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
        # This gives up at the first difference, so it costs nothing where there is one.
        if torch.equal(work.reference, work.actual):
            square = float(torch.dot(work.reference, work.reference))
            if not self._safe(square, work.reference):
                return False
            self._add_equal(square, work)
            return True
        figures = self._figures(work)
        low, high = _SAFE[self._compute]
        if not (
            math.isfinite(figures.error_square)
            and low < figures.largest < high
            and self._safe(figures.reference_square, work.reference)
            and self._safe(figures.actual_square, work.actual)
        ):
            return False
        relative = self._relative(work, figures)
        if not math.isfinite(relative.total):
            return False
        self._add_differing(block, work, relative, figures)
        return True

    def _prepare(self, block: Block) -> _Work:
        """Buffers that fit, and both sides in the dtype computed in."""
        count = block.reference.numel()
        if self._work is None or self._work.count != count:
            self._work = _Work(count, self._dtype, self._compute, block.reference.device)
        self._work.take(block)
        return self._work

    @staticmethod
    def _figures(work: _Work) -> _Figures:
        """Fills `error`, `size` and `quotient`.

        Every operation costs a thread the interpreter lock once, and so does every number fetched. So all sums are one
        operation (which adds pairwise, unlike `torch.dot`), both maxima are, and all numbers are fetched at once.
        """
        torch.sub(work.actual, work.reference, out=work.error)
        for side, square in zip((work.reference, work.actual, work.error), work.squares, strict=True):
            torch.mul(side, side, out=square)
        torch.div(work.error.abs_(), torch.abs(work.reference, out=work.size), out=work.quotient)
        torch.amax(work.measured, 1, out=work.maxima)
        torch.sum(work.rows, 1, out=work.totals)
        return _Figures(*work.found.tolist())

    def _safe(self, square: float, values: Tensor) -> bool:
        """Whether a sum of squares can be trusted: it neither overflowed nor are the values too small for it."""
        low = _SAFE[self._compute][0]
        return math.isfinite(square) and (square > low * low * values.numel() or not bool(values.any()))

    def _add_equal(self, square: float, work: _Work) -> None:
        sums, count = self._sums, work.reference.numel()
        sums.elements += count
        sums.compared += count
        sums.relative += int(torch.ne(work.reference, 0, out=work.scratch).sum())
        sums.add_norms(0.0, math.sqrt(square), math.sqrt(square), square)
        sums.note_ulp(0)

    def _add_differing(self, block: Block, work: _Work, relative: _Relative, figures: _Figures) -> None:
        sums, count, largest = self._sums, work.reference.numel(), figures.largest
        sums.elements += count
        sums.compared += count
        sums.relative += count - relative.zeros
        sums.max_abs = max(sums.max_abs, largest)
        sums.sum_abs += figures.total
        sums.max_rel = max(sums.max_rel, relative.highest)
        sums.sum_rel += relative.total
        squares = figures.error_square, figures.reference_square, figures.actual_square
        error, reference, actual = map(math.sqrt, squares)
        sums.add_norms(error, reference, actual, self._product(work, figures))
        self._distance(block, work, relative, largest)
        self._tolerances(work, relative, largest)
        if self._worst.wants(largest):
            self._worst.take(block, work.error)

    @staticmethod
    def _product(work: _Work, figures: _Figures) -> float:
        """The inner product of both sides: from the squares, unless one is so much larger that it leaves no digits."""
        left, right = figures.reference_square, figures.actual_square
        if max(left, right) <= _ALIKE * min(left, right):
            return (left + right - figures.error_square) / 2
        return float(torch.mul(work.reference, work.actual, out=work.scratch).sum())

    @staticmethod
    def _relative(work: _Work, figures: _Figures) -> _Relative:
        """The relative errors; where a reference is zero, `quotient` is filled once more, with 0 there."""
        if math.isfinite(figures.highest):
            return _Relative(figures.highest, figures.relative_total, 0, 0.0)
        error, size, quotient, scratch = work.error, work.size, work.quotient, work.scratch
        # Masks as numbers: arithmetic with them is several times as fast as filling by a mask.
        zero = torch.eq(size, 0, out=scratch)
        zeros = int(zero.sum())
        torch.div(error, torch.add(size, zero, out=quotient), out=quotient)
        at_zero = float(zero.mul_(error).amax())
        if at_zero:
            quotient.sub_(zero)
        return _Relative(float(quotient.amax()), float(quotient.sum()), zeros, at_zero)

    def _tolerances(self, work: _Work, relative: _Relative, largest: float) -> None:
        sums, wanted = self._sums, self._sums.tolerances
        within = not relative.zeros and relative.highest < wanted.rtol * _SURELY
        if not within and (largest > wanted.atol or largest > sums.needed_atol):
            self._mismatches(work, largest)
        if largest <= wanted.atol or (relative.highest <= sums.needed_rtol and relative.at_zero <= wanted.atol):
            return
        if relative.at_zero > wanted.atol:
            sums.needed_rtol = math.inf
            return
        over = torch.sub(work.error, wanted.atol, out=work.scratch)
        over.div_(work.size.masked_fill_(work.size == 0, math.inf) if relative.zeros else work.size)
        sums.needed_rtol = max(sums.needed_rtol, float(over.amax()))

    def _mismatches(self, work: _Work, largest: float) -> None:
        """Counts what is outside the tolerances, and sees by how much."""
        sums, wanted = self._sums, self._sums.tolerances
        if not math.isfinite(wanted.rtol):
            return
        excess = torch.sub(work.error, work.size, alpha=wanted.rtol, out=work.scratch)
        if largest > sums.needed_atol:
            sums.needed_atol = max(sums.needed_atol, float(excess.amax()))
        if largest > wanted.atol:
            sums.mismatches += int(torch.gt(excess, wanted.atol, out=excess).sum())

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
        """Whether two values, one of them at least as far from the other as from zero, may be farther apart than any.

        Read as an integer in units of a binade, a normal value is at most its logarithm plus the bias, so the product
        of two of different signs bounds how far they are apart by way of zero; it is at most a quarter of the error's
        square. Two of one sign, or a subnormal one and another, are apart by at most a binade more than the error is
        from zero.
        """
        if self._sums.ulp is None:
            return True
        information = torch.finfo(self._dtype)
        bias = 1.01 - math.log2(information.tiny)
        record = self._sums.ulp * information.eps
        if math.log2(largest) + bias + 1 > record:
            return True
        if 2 * (math.log2(largest) - 1 + bias) <= record:
            return False
        product = -float(torch.mul(work.reference, work.actual, out=work.scratch).amin())
        if abs(product) <= _SAFE[self._compute][0] ** 2:
            return True
        return product > 0 and math.log2(product) + 2 * bias > record

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
