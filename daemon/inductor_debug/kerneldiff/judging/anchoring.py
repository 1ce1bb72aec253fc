"""How much larger a backend's error is than the error that its precision makes anyway.

Both are measured from the same model in higher precision. The expected error is the larger of what the baseline (eager
in the same precision) makes and of rounding the exact result once; where that alone would condemn a backend,
`perturbation` measures what rounding every operation a little differently does to the model.

Nothing here decides what a ratio means: see `verdict`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig
from inductor_debug.kerneldiff.metrics.tensor_comparison import compare_tensors, plain
from inductor_debug.kerneldiff.metrics.wide_devices import widenable

_QUIET = ComparisonConfig(atol=0.0, rtol=0.0, worst=0, check_dtype=False)
_ROUNDING_RMS = 1 / math.sqrt(12) / 2
"""The standard deviation of one rounding, in units at the value rounded: uniform within half a unit, and a value lies
anywhere between two powers of two, which halves it roughly."""
_TINY = 1e-300
_NEARLY = 0.99
"""Numbers so close to a dtype's largest one may become infinite in a format of fewer bits."""
_NEARBY = 4.0
"""So may those that come that close by as many of the errors to expect."""


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
    finite = plain(widenable(exact)).abs().to(torch.float64)
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


def anchor(
    exact: torch.Tensor,
    expected: Error,
    actual_tensor: torch.Tensor,
    reference: torch.Tensor,
    best: torch.Tensor | None = None,
) -> Anchored:
    """The error of `actual_tensor` against `expected`.

    NaNs and infinities of the reference's are no fault, nor are infinities where the exact result is as large as the
    dtype's largest number. Numbers where both the exact result and the reference have none are one, unless the number
    format has no infinities: `best`, the best that it can hold, has a number there, too.
    """
    actual = error_from(exact, actual_tensor)
    if actual.invalid and not _excusable(exact, expected, actual_tensor, reference, best):
        return Anchored(actual, expected, math.inf)
    ratio = max(_quotient(actual.rms, expected.rms), _quotient(actual.largest, expected.largest))
    return Anchored(actual, expected, ratio)


def _quotient(actual: float, expected: float) -> float:
    return 0.0 if actual == 0 else actual / max(expected, _TINY)


def _excusable(
    exact: torch.Tensor, expected: Error, actual: torch.Tensor, reference: torch.Tensor, best: torch.Tensor | None
) -> bool:
    """Whether every NaN and infinity that one side has and the other has not comes from the precision."""
    exact = plain(exact)
    reference, actual = (plain(tensor.to(exact.device)) for tensor in (reference, actual))
    finite = torch.isfinite(actual)
    overflows = torch.zeros_like(finite)
    if actual.dtype.is_floating_point:
        highest = torch.finfo(actual.dtype).max * _NEARLY
        overflows = actual.isinf() & (exact.abs() + _NEARBY * expected.largest >= highest)
    lost = torch.isfinite(reference) & ~finite & ~overflows
    another = reference.isinf() & actual.isnan() & exact.isinf()
    made_up = ~torch.isfinite(reference) & ~torch.isfinite(exact) & finite
    if best is not None:
        best = plain(best.to(exact.device))
        another &= ~best.isnan()
        made_up &= ~torch.isfinite(best)
    return not bool((lost | another | made_up).any())
