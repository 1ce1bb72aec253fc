"""Operations that torch refuses for tensors without values alone: `x[mask.byte()]` has a rule for real ones only.

What torch's rules for shapes refuse is tried on small real tensors of the same sizes, full of zeros. Nothing of them is
kept, and what is written to is not the user's.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._mode_utils import no_dispatch

_MOST_ELEMENTS = 1 << 18


class RefusedWithoutValuesError(RuntimeError):
    """Tensors without values are refused where real ones are not."""


def is_taken_with_values(func: Any, args: Any, kwargs: Any) -> bool:
    """Whether an operator takes real tensors of the sizes and dtypes of those that it is given."""
    tensors = [item for item in pytree.tree_leaves((args, kwargs)) if isinstance(item, torch.Tensor)]
    if any(item.numel() > _MOST_ELEMENTS or item.device.type != "cpu" for item in tensors):
        return False
    try:
        with no_dispatch():
            func(*pytree.tree_map(_zeros, args), **pytree.tree_map(_zeros, kwargs))
    except Exception:  # whatever an operator raises for zeros, it does not take them
        return False
    return True


def _zeros(value: Any) -> Any:
    return torch.zeros(value.shape, dtype=value.dtype) if isinstance(value, torch.Tensor) else value
