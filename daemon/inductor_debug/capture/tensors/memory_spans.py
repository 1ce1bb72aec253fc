"""How much memory a tensor reaches over, gaps included, and in which order its dimensions lie there.

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


def memory_order(tensor: torch.Tensor) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost; those of size 1 stay where they are written."""
    if tensor.is_contiguous():
        return tuple(range(tensor.dim()))
    strides = tensor.stride()
    return tuple(sorted(range(tensor.dim()), key=lambda dimension: -strides[dimension]))
