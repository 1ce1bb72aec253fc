"""Builds models really, but for the numbers in their large tensors: what is written into those in place is left out.

Whether a constructor refuses, or a call, does not hang on the values of weights that are drawn anyway; drawing some
thousands of millions of them takes minutes, and the memory that nobody writes to is never taken.
"""

from __future__ import annotations

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

_LARGE = 1 << 20
"""From how many numbers on a tensor is not filled."""


class UndrawnWeights(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Inside, torch writes nothing in place into large tensors."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func._schema.name.endswith("_") and args[0].numel() >= _LARGE:
            return args[0]
        return func(*args, **(kwargs or {}))
