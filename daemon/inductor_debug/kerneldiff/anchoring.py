"""How much larger a backend's error is than the error that its precision makes anyway.

Both are measured from the same model in higher precision. The expected error is the larger of what the baseline (eager
in the same precision) makes and of rounding the exact result once; where that alone would condemn a backend,
`Jitter` measures what rounding every operation a little differently does to the model.

Nothing here decides what a ratio means: see `verdict`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from inductor_debug.kerneldiff.configuration import ComparisonConfig
from inductor_debug.kerneldiff.tensors import compare_tensors

_QUIET = ComparisonConfig(atol=0.0, rtol=0.0, worst=0, check_dtype=False)
_ROUNDING_RMS = 1 / math.sqrt(12) / 2
"""The standard deviation of one rounding, in units at the value rounded: uniform within half a unit, and a value lies
anywhere between two powers of two, which halves it roughly."""
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Error:
    """A difference from the exact result: root mean square, and the largest one."""

    rms: float
    largest: float
    invalid: bool = False
    """There are NaNs or infinities where the exact result is finite, or the other way round."""


@dataclass(frozen=True, slots=True)
class Anchored:
    """A backend's error and the one to expect; `ratio` is the larger quotient, infinite for invalid numbers."""

    actual: Error
    expected: Error
    ratio: float


def error_from(exact: torch.Tensor, other: torch.Tensor) -> Error:
    """How far `other` is from `exact`."""
    metrics = compare_tensors(exact, other, _QUIET).metrics
    return Error(metrics.rmse or 0.0, metrics.max_abs or 0.0, metrics.nonfinite_mismatches > 0)


def rounding_error(exact: torch.Tensor, unit: float) -> Error:
    """What rounding the exact result once does."""
    finite = exact.detach().abs().to(torch.float64)
    finite = finite[torch.isfinite(finite)] if not bool(torch.isfinite(finite).all()) else finite
    if finite.numel() == 0:
        return Error(0.0, 0.0)
    rms = float(finite.square().mean().sqrt())
    return Error(unit * rms * _ROUNDING_RMS, unit * float(finite.max()) / 2)


def larger(*errors: Error) -> Error:
    """The larger of each part; invalid only where all are."""
    return Error(
        max(error.rms for error in errors),
        max(error.largest for error in errors),
        any(error.invalid for error in errors),
    )


def anchor(exact: torch.Tensor, expected: Error, actual_tensor: torch.Tensor, reference: torch.Tensor) -> Anchored:
    """The error of `actual_tensor` against `expected`; NaNs and infinities of the reference's are no fault."""
    actual = error_from(exact, actual_tensor)
    if actual.invalid and _new_invalid(reference, actual_tensor):
        return Anchored(actual, expected, math.inf)
    ratio = max(_quotient(actual.rms, expected.rms), _quotient(actual.largest, expected.largest))
    return Anchored(actual, expected, ratio)


def _quotient(actual: float, expected: float) -> float:
    return 0.0 if actual == 0 else actual / max(expected, _TINY)


def _new_invalid(reference: torch.Tensor, actual: torch.Tensor) -> bool:
    """Whether `actual` has a NaN or infinity where `reference` has a finite number."""
    return bool((torch.isfinite(reference) & ~torch.isfinite(actual.to(reference.device))).any())


class Jitter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Moves every element that an operation computes by up to a unit, at random: another way of rounding.

    Views, copies and random numbers stay as they are. It draws from a generator of its own.
    """

    def __init__(self, unit: float, seed: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._unit = unit
        self._generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        schema = getattr(func, "_schema", None)
        if schema is None or schema.is_mutable or torch.Tag.nondeterministic_seeded in func.tags:
            return result
        if any(argument.alias_info is not None for argument in schema.arguments) or func in _EXACT:
            return result
        return pytree.tree_map(self._move, result)

    def _move(self, leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or not leaf.dtype.is_floating_point or leaf.layout is not torch.strided:
            return leaf
        factor = torch.rand(leaf.shape, generator=self._generator).sub_(0.5).mul_(2 * self._unit).add_(1.0)
        return leaf.mul_(factor.to(device=leaf.device, dtype=leaf.dtype)) if _own(leaf) else leaf


def _own(tensor: torch.Tensor) -> bool:
    """Whether each element has memory of its own, so that it may be moved in place."""
    return all(stride != 0 or size <= 1 for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


_EXACT = frozenset(
    {
        torch.ops.aten.clone.default,
        torch.ops.aten.zeros_like.default,
        torch.ops.aten.ones_like.default,
        torch.ops.aten.full.default,
        torch.ops.aten.full_like.default,
        torch.ops.aten.zeros.default,
        torch.ops.aten.ones.default,
        torch.ops.aten.empty.memory_format,
        torch.ops.aten.cat.default,
        torch.ops.aten.embedding.default,
        torch.ops.aten.relu.default,
        torch.ops.aten.where.self,
        torch.ops.aten.neg.default,
    }
)
"""Operations that compute nothing that would be rounded."""
