"""Runs one operator that failed on fake tensors again on real ones, to learn whether it is the user's fault.

Real tensors of the same geometry, full of zeros, either raise too, and then in the words the user would see, or they
do not, and then the fake tensors were at fault. It never allocates more than a fixed bound; beyond it, the fake error
is believed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from inductor_debug.capture.tensors.memory_spans import span
from inductor_debug.capture.tensors.recorder import FailedOp

_LARGEST_TRIAL = 256 << 20
"""Bytes that a trial may allocate for its arguments."""


def real_error(failed: FailedOp) -> BaseException | None:
    """The error that real tensors raise, None where they do not; the original where it cannot be tried."""
    leaves = pytree.tree_leaves((failed.args, failed.kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    try:
        if any(_is_symbolic(tensor) for tensor in tensors) or sum(map(_bytes, tensors)) > _LARGEST_TRIAL:
            return failed.error
        with _disable_current_modes(), torch.no_grad():
            args, kwargs = pytree.tree_map(_real, (failed.args, failed.kwargs))
            failed.function(*args, **kwargs)
    except NotImplementedError:
        return failed.error
    except Exception as error:
        return error
    return None


def _is_symbolic(tensor: torch.Tensor) -> bool:
    return tensor.layout is not torch.strided or any(
        not isinstance(length, int) for length in (*tensor.shape, *tensor.stride())
    )


def _bytes(tensor: torch.Tensor) -> int:
    return span(tensor.shape, tensor.stride()) * tensor.dtype.itemsize


def _real(value: Any) -> Any:
    if isinstance(value, torch.device):
        return torch.device("cpu")
    if not isinstance(value, torch.Tensor):
        return value
    flat = torch.zeros(span(value.shape, value.stride()), dtype=value.dtype, device="cpu")
    return flat.as_strided(value.shape, value.stride())
