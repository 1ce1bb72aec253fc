"""How far a node's value is from the reference's, quickly: the few numbers that are kept of every node.

Full metrics and verdicts are for outputs (`tensor_comparison`, `output_judging`).
"""

from __future__ import annotations

import math
from typing import Any

import torch

from inductor_debug.kerneldiff.execution.node_graphs import tensors_in
from inductor_debug.kerneldiff.judging.anchoring import error_from
from inductor_debug.kerneldiff.judging.diff_report import NodeError
from inductor_debug.kerneldiff.metrics.wide_devices import widenable

_SMALL = 1 << 24
NOTHING = NodeError(0.0, 0.0, 0.0)
"""No difference."""


def difference(reference: Any, actual: Any) -> NodeError:
    """The largest differences among the tensors of a node's value; integers differ by what they differ by."""
    largest = NOTHING
    for left, right in zip(tensors_in(reference), tensors_in(actual), strict=False):
        if _is_same(left, right) or _is_equal(left, right):
            continue
        found = _tensor_difference(left, right)
        if found.invalid or found.relative >= largest.relative:
            largest = found
    return largest


def _tensor_difference(left: torch.Tensor, right: torch.Tensor) -> NodeError:
    if left.shape != right.shape:
        return NodeError(math.inf, math.inf, math.inf, None, True)
    if left.numel() == 0:
        return NOTHING
    quick = _quick_difference(left, right)
    if quick is not None:
        return quick
    error = error_from(left, right)
    norm = _rms(left)
    relative = error.rms / norm if norm > 0 else (math.inf if error.rms > 0 else 0.0)
    return NodeError(error.largest, error.rms, relative, None, error.invalid)


def _quick_difference(left: torch.Tensor, right: torch.Tensor) -> NodeError | None:
    """The same for ordinary small tensors of finite numbers, in three passes; None for all others."""
    plain = left.layout is torch.strided and right.layout is torch.strided and left.device == right.device
    if not (plain and left.is_floating_point() and left.dtype is right.dtype and left.numel() <= _SMALL):
        return None
    wide = torch.float64 if left.dtype is torch.float64 else torch.float32
    error = right.to(wide) - left.to(wide)
    norm, reference = float(torch.linalg.vector_norm(error)), float(torch.linalg.vector_norm(left.to(wide)))
    if not (math.isfinite(norm) and math.isfinite(reference)):
        return None
    largest = float(error.abs_().amax())
    relative = norm / reference if reference > 0 else (math.inf if norm > 0 else 0.0)
    return NodeError(largest, norm / math.sqrt(left.numel()), relative)


def _rms(tensor: torch.Tensor) -> float:
    tensor = widenable(tensor)
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    norm = torch.linalg.vector_norm(tensor if tensor.is_floating_point() else tensor.to(torch.float64))
    value = float(norm)
    if not math.isfinite(value):
        finite = tensor[torch.isfinite(tensor)].to(torch.float64)
        return float(finite.square().mean().sqrt()) if finite.numel() else 0.0
    return value / math.sqrt(tensor.numel())


def _is_same(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether both are the same memory, looked at in the same way."""
    return left is right or (
        left.layout is torch.strided
        and right.layout is torch.strided
        and left.dtype is right.dtype
        and left.shape == right.shape
        and left.stride() == right.stride()
        and left.device == right.device
        and left.data_ptr() == right.data_ptr()
    )


def _is_equal(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether both are equal to the last bit; far cheaper to see than any metric, and stops at the first difference."""
    plain = left.layout is torch.strided and right.layout is torch.strided and not left.is_quantized
    return plain and left.dtype is right.dtype and left.device == right.device and torch.equal(left, right)


def differs_exactly(reference: Any, actual: Any) -> bool:
    """Whether integers or booleans differ at all."""
    for left, right in zip(tensors_in(reference), tensors_in(actual), strict=False):
        if left.is_floating_point() or left.is_complex() or _is_same(left, right):
            continue
        if left.shape != right.shape or not torch.equal(left, right):
            return True
    return False
