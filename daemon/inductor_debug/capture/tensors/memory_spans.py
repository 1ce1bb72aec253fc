"""How much memory a tensor reaches over: from the first element that it shows to the last, gaps included.

Sizes and strides are all it takes, so it holds for fake tensors and for tensors that are not there. Nothing is read.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch


def span(shape: Sequence[int], stride: Sequence[int]) -> int:
    """Elements of memory from the first to the last that such a tensor shows, both included."""
    if 0 in shape:
        return 0
    return 1 + sum(int((size - 1) * step) for size, step in zip(shape, stride, strict=True))


def extent(tensor: torch.Tensor) -> tuple[int, int]:
    """The first byte of its memory that a strided tensor uses, and the one after the last."""
    first = int(tensor.storage_offset())
    return first * tensor.itemsize, (first + span(tensor.shape, tensor.stride())) * tensor.itemsize
