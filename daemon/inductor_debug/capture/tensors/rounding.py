"""Rounds tensors to number formats that torch may not have, exactly, and fast: in blocks that fit the cache.

Values stay float32 or float64 tensors; what is rounded is their value. A number's bits, read as an integer, are in the
order of magnitudes, so adding half of the last kept bit and cutting rounds to nearest, carries into the exponent
included. Below the lowest exponent, where the distance between numbers no longer shrinks, the arithmetic of the float
itself rounds: adding and subtracting a number whose last bit has that distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from inductor_debug.accelerators.number_formats import NumberFormat, Overflow, Ties
from inductor_debug.capture.tensors.memory_spans import memory_order

_BLOCK = 32_000
"""Elements rounded together: their buffers fit the second-level cache, and torch starts no threads for so few."""


@dataclass(frozen=True, slots=True)
class _Carrier:
    """The float dtype that holds the values: its integers, mantissa bits and smallest exponent."""

    dtype: torch.dtype
    integers: torch.dtype
    mantissa_bits: int
    lowest_exponent: int


_FLOAT32 = _Carrier(torch.float32, torch.int32, 23, -126)
_FLOAT64 = _Carrier(torch.float64, torch.int64, 52, -1022)


def rounded(values: Tensor, number_format: NumberFormat) -> Tensor:
    """A new tensor with each element rounded to the nearest number of the format.

    Args:
        values: a floating-point tensor of any shape; float16 and bfloat16 are widened to float32 on the way.
        number_format: what to round to.

    Returns:
        A tensor of the same shape and dtype, with the same strides if the values lie densely in memory. Values that the
        dtype cannot hold (1-6-9 ones beyond float16) are rounded once more, to the dtype.

    Raises:
        TypeError: the tensor is not floating-point.
    """
    if not values.dtype.is_floating_point:
        raise TypeError(f"only floating-point tensors are rounded, not {values.dtype}")
    carrier = _FLOAT64 if values.dtype is torch.float64 else _FLOAT32
    order = memory_order(values)
    source = values.detach().permute(order)
    if not source.is_contiguous():
        order, source = tuple(range(values.dim())), values.detach().contiguous()
    result = torch.empty(source.shape, dtype=values.dtype, device=values.device)
    source, target = source.view(-1), result.view(-1)
    size = _BLOCK if values.device.type == "cpu" else max(values.numel(), 1)
    rounder = _Rounder(number_format, carrier, min(size, source.numel()), values.device)
    with torch.no_grad():
        for start in range(0, source.numel(), size):
            rounder.round(source[start : start + size], target[start : start + size])
    return result.permute(tuple(order.index(dimension) for dimension in range(values.dim())))


class _Rounder:
    """Rounds blocks; holds the constants of a format and the buffers."""

    def __init__(self, number_format: NumberFormat, carrier: _Carrier, elements: int, device: torch.device) -> None:
        self._format = number_format
        self._carrier = carrier
        self._drop = carrier.mantissa_bits - number_format.mantissa_bits
        self._work = torch.empty(elements, dtype=carrier.dtype, device=device)
        self._scratch = torch.empty_like(self._work)
        self._wide: Tensor | None = None
        self._normal = 2.0**number_format.lowest_exponent
        # The carrier's own subnormal numbers are as far apart as the format's where both begin at one exponent.
        self._same_range = number_format.lowest_exponent == carrier.lowest_exponent

    def round(self, source: Tensor, target: Tensor) -> None:
        """Rounds one block into `target`."""
        work, scratch = self._work[: source.numel()], self._scratch[: source.numel()]
        if source.dtype is not self._carrier.dtype:
            # Not into `work`: what NaN and small numbers were has to be known when that is rounded.
            source = self._widened(source)
        if self._drop > 0:
            self._nearest(source, work, scratch)
        else:
            work.copy_(source)
        torch.abs(work, out=scratch)
        # Both extremes are NaN where the block has one; then no comparison holds, and both are looked into.
        if not float(scratch.amax()) <= self._format.largest:
            self._overflow(source, work)
        if not float(scratch.amin()) >= max(self._normal, self._format.smallest):
            self._small(source, work)
        target.copy_(work)

    def _widened(self, source: Tensor) -> Tensor:
        if self._wide is None:
            self._wide = torch.empty_like(self._work)
        return self._wide[: source.numel()].copy_(source)

    def _nearest(self, source: Tensor, work: Tensor, scratch: Tensor) -> None:
        bits, out, odd = (part.view(self._carrier.integers) for part in (source, work, scratch))
        half = 1 << (self._drop - 1)
        if self._format.ties is Ties.EVEN:
            torch.bitwise_right_shift(bits, self._drop, out=odd)
            odd.bitwise_and_(1)
            torch.add(bits, odd, out=out)
            out.add_(half - 1)
        else:
            torch.add(bits, half, out=out)
        out.bitwise_and_(-1 << self._drop)

    def _overflow(self, source: Tensor, work: Tensor) -> None:
        """Replaces numbers beyond the largest one, and the bits that NaN became."""
        largest, overflow = self._format.largest, self._format.overflow
        nan = source.isnan()
        if overflow is Overflow.SATURATE:
            work.clamp_(-largest, largest)
        else:
            beyond = math.inf if overflow is Overflow.INFINITY else math.nan
            work.copy_(torch.where(work.abs() > largest, torch.full_like(work, beyond).copysign_(work), work))
        work.masked_fill_(nan, math.nan)

    def _small(self, source: Tensor, work: Tensor) -> None:
        """Rounds numbers below the lowest exponent, or flushes them to zero of their sign."""
        number_format = self._format
        if number_format.subnormals:
            if self._same_range:
                return
            step = 2.0 ** (number_format.lowest_exponent - number_format.mantissa_bits)
            magic = 1.5 * step * 2.0**self._carrier.mantissa_bits
            small = source.clamp(-self._normal, self._normal)
            if number_format.ties is Ties.AWAY:
                # Exact: the step is a power of two, and a fraction is exact below it.
                whole = (small / step).trunc()
                fixed = (whole + (small / step - whole).mul_(2).trunc_()) * step
            else:
                fixed = (small + magic) - magic
            fixed.copysign_(source)
        else:
            fixed = torch.zeros_like(work).copysign_(source)
        # Flushing looks at the rounded number: one that rounds up to the smallest is not flushed.
        limit = self._normal if number_format.subnormals else number_format.smallest
        mask = (source if number_format.subnormals else work).abs() < limit
        work.copy_(torch.where(mask, fixed, work))
