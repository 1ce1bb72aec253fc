"""Shapes of grouped matrix products in dtypes that torch refuses only where tensors have no values.

torch's meta kernel of `_grouped_mm` copies the checks of the CUDA kernel and takes bfloat16 alone
(`torch/_meta_registrations.py`, torch 2.11 to 2.14); the CPU kernel takes float32 and float16 as well, so that a
mixture of experts runs in eager mode and not on fake tensors. What the meta kernel takes is left to it. Dynamo traces
under a fake mode of its own, which refuses as a user's `torch.compile` does.
"""

from __future__ import annotations

from typing import Any

import torch

GROUPED_PRODUCT: Any = getattr(getattr(torch.ops.aten, "_grouped_mm", None), "default", None)
"""The operator; None where torch has none."""
_CPU_DTYPES = (torch.float32, torch.float16)


def grouped_product(
    first: torch.Tensor,
    second: torch.Tensor,
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor | None:
    """The result of a product whose groups end at `offs`, without values; None for what the meta kernel judges.

    Args:
        first: `[m, k]` (rows or contraction in groups) or `[groups, m, k]`.
        second: `[k, n]` (columns or contraction in groups) or `[groups, k, n]`.
        offs: int32 `[groups]`, where each group ends; needed unless both have three dimensions.
        bias: refused by torch, if given.
        out_dtype: dtype of the result, that of `first` where None.
    """
    ranks = (first.dim(), second.dim())
    if first.device.type != "cpu" or first.dtype not in _CPU_DTYPES or second.dtype is not first.dtype:
        return None
    if bias is not None or not set(ranks) <= {2, 3} or (offs is None) != (ranks == (3, 3)):
        return None
    if ranks != (2, 2) and first.size(-1) != second.size(-2):
        return None
    rows, columns = first.size(-2), second.size(-1)
    shape = [rows, columns]
    if ranks[0] == ranks[1]:
        groups = first.size(0) if offs is None else offs.size(0)
        shape = [groups, rows, columns]
    return first.new_empty(shape, dtype=out_dtype or first.dtype)
