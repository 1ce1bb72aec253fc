"""Which devices can compute in float64, and where to go with what lies on one that cannot (Apple's GPUs, some others).

Everything here measures in float64, so what lies on such a device is measured on the CPU. Nothing else is moved.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor

HOST = torch.device("cpu")


@functools.cache
def has_float64(device: torch.device) -> bool:
    """Whether `device` computes in float64; found out by trying."""
    if device.type in ("cpu", "cuda", "meta"):
        return True
    try:
        return float(torch.full((1,), 2.0, dtype=torch.float64, device=device).add_(1.0)[0]) == 3.0
    except (RuntimeError, TypeError, NotImplementedError):
        return False


def measured_on(device: torch.device) -> torch.device:
    """Where what lies on `device` is measured: there, or on the CPU."""
    return device if has_float64(device) else HOST


def widenable(tensor: Tensor) -> Tensor:
    """`tensor` where float64 can be made of it: itself, or a copy on the CPU."""
    return tensor if has_float64(tensor.device) else tensor.to(HOST)
