"""Runs one operator again on real tensors: one that failed on fake ones, to learn whether it is the user's fault.

Real tensors of the same geometry, full of zeros, either raise too, and then in the words the user would see, or they
do not, and then the fake tensors were at fault. It never allocates more than a fixed bound; beyond it, the fake error
is believed. One that ran on tensors without values may have no kernel for their dtypes where there are values.
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
_LARGEST_PROBE = 1 << 20
"""The same, where many operators are tried."""


def real_error(failed: FailedOp) -> BaseException | None:
    """The error that real tensors raise, None where they do not; the original where it cannot be tried."""
    try:
        if not _can_be_tried(failed.args, failed.kwargs, _LARGEST_TRIAL):
            return failed.error
        _run(failed.function, failed.args, failed.kwargs)
    except NotImplementedError:
        return failed.error
    except Exception as error:
        return error
    return None


def lacks_kernel(function: Any, args: Any, kwargs: Any) -> bool:
    """Whether torch is seen to have no kernel on the CPU for an operator with tensors of these dtypes.

    Nothing is drawn for it: what is random does not run.
    """
    if torch.Tag.nondeterministic_seeded in getattr(function, "tags", ()):
        return False
    try:
        if _can_be_tried(args, kwargs, _LARGEST_PROBE):
            _run(function, args, kwargs)
    except NotImplementedError:
        return True
    except Exception:
        return False
    return False


def _can_be_tried(args: Any, kwargs: Any, most: int) -> bool:
    """Whether the tensors among the arguments have sizes that are numbers, and take no more than `most` bytes."""
    tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    return not any(map(_is_symbolic, tensors)) and sum(map(_bytes, tensors)) <= most


def _run(function: Any, args: Any, kwargs: Any) -> None:
    with _disable_current_modes(), torch.no_grad():
        real_args, real_kwargs = pytree.tree_map(_real, (args, kwargs))
        function(*real_args, **real_kwargs)


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
