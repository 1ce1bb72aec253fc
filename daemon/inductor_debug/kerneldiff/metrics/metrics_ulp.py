"""How many representable values lie between two floating-point numbers, exactly, from their bits.

Read as integers, the magnitudes of a floating-point format are in order, so a difference of integers counts the values
between (the method of AlmostEqualUlps, B. Dawson, "Comparing Floating Point Numbers"). +0 and -0 are the same place.
Non-finite values have no distance: callers take them out first.
"""

from __future__ import annotations

import torch
from torch import Tensor

SIGNED_BITS: dict[torch.dtype, torch.dtype] = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float8_e4m3fn: torch.int8,
    torch.float8_e5m2: torch.int8,
    torch.float8_e4m3fnuz: torch.int8,
    torch.float8_e5m2fnuz: torch.int8,
}
"""The integer dtype through which the bits of a sign-and-magnitude float dtype are read."""

_LOWEST = -(2**63)


def has_distances(dtype: torch.dtype) -> bool:
    """Whether distances of this dtype can be counted."""
    return dtype in SIGNED_BITS or dtype is torch.float8_e8m0fnu


def bits_of(value: float, dtype: torch.dtype) -> int:
    """The magnitude of `value`, at least 0, read as an integer in `dtype`: how many values lie between it and zero."""
    return int(torch.tensor(value, dtype=dtype).view(SIGNED_BITS[dtype]).item())


def max_distance(reference: Tensor, actual: Tensor) -> int:
    """The largest distance between elements of two tensors of one float dtype, all finite."""
    if reference.numel() == 0:
        return 0
    if reference.dtype is torch.float8_e8m0fnu:
        # An exponent without a sign.
        steps = reference.view(torch.uint8).to(torch.int16) - actual.view(torch.uint8).to(torch.int16)
        return int(steps.abs().max().item())
    return largest_difference(_places(reference), _places(actual))


def _places(values: Tensor) -> Tensor:
    """Each value's place among all values of its dtype, 0 for zero, as int64."""
    bits = values.view(SIGNED_BITS[values.dtype])
    magnitude = (bits & torch.iinfo(bits.dtype).max).to(torch.int64)
    return torch.where(bits < 0, -magnitude, magnitude)


def largest_difference(left: Tensor, right: Tensor) -> int:
    """The largest difference between elements of two int64 tensors; it may need 64 bits without a sign."""
    return int(differences(left, right).max().item()) - _LOWEST


def differences(left: Tensor, right: Tensor) -> Tensor:
    """`abs(left - right) - 2**63` of int64 tensors: in order, and it always fits."""
    return (torch.maximum(left, right) - torch.minimum(left, right)) ^ _LOWEST
