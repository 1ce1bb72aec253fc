"""Dimensions that do not exist, where torch does not look on tensors without values: `softmax(x, dim=3)`.

Of all operators that are told a dimension by number, `aten._softmax` alone is in common use and takes any on `meta`
tensors, whose kernels fake ones use as well, while its real kernels refuse what is out of range (found in torch 2.13
by calling every operator). Ours looks, and makes a result of the same shape, strides and dtype.
"""

from __future__ import annotations

from functools import cache

import torch


@cache
def check_dimensions() -> torch.library.Library:
    """Has it refuse such dimensions in this process from now on, in the words of real kernels."""
    library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    # Torch 2.11 and 2.12 have a kernel in Python already and refuse another one unless they are told that it is meant.
    library.impl("_softmax", _softmax, "Meta", allow_override=True)  # type: ignore[no-untyped-call]
    return library


def _softmax(tensor: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    rank = max(tensor.dim(), 1)
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    dtype = torch.float32 if half_to_float else tensor.dtype
    return torch.empty_like(tensor, dtype=dtype, memory_format=torch.contiguous_format)
