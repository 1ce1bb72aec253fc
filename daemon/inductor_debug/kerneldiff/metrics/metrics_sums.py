"""What has been added up so far of two tensors whose blocks go by, and the metrics that follow from it.

Norms are carried as norms, joined by `hypot`, so that squares of very large or very small numbers are never formed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from inductor_debug.kerneldiff.metrics.comparison_config import Tolerances
from inductor_debug.kerneldiff.metrics.metrics import Metrics, PassesWith

_SLACK = 1e-6
_COUNTED = (
    *("elements", "compared", "relative", "sum_abs", "sum_rel", "mismatches", "nonfinite_mismatches", "product"),
    *("nan_reference", "nan_actual", "inf_reference", "inf_actual"),
)
_ALIKE = 2.0
"""Of sides whose norms differ by at most that factor, the norm of the error tells the cosine best."""
_SMALLEST = 1e-280
"""Products of norms below that one have lost digits, and so has the inner product."""
_RECORDED = ("max_abs", "max_rel", "needed_atol", "needed_rtol")


@dataclass(slots=True)
class Sums:
    """Running totals. `compared` counts places where both sides are finite, `relative` those with a reference not zero.

    `needed_atol` and `needed_rtol` are the tolerances that would do so far; the latter is infinite once a reference of
    zero is off by more than atol. `ulp` is None for dtypes without distances.
    """

    tolerances: Tolerances
    elements: int = 0
    compared: int = 0
    relative: int = 0
    max_abs: float = 0.0
    sum_abs: float = 0.0
    max_rel: float = 0.0
    sum_rel: float = 0.0
    error: float = 0.0
    reference: float = 0.0
    actual: float = 0.0
    product: float = 0.0
    mismatches: int = 0
    needed_atol: float = 0.0
    needed_rtol: float = 0.0
    ulp: int | None = None
    nan_reference: int = 0
    nan_actual: int = 0
    inf_reference: int = 0
    inf_actual: int = 0
    nonfinite_mismatches: int = 0

    def note_ulp(self, distance: int) -> None:
        """A distance that was met."""
        self.ulp = max(self.ulp or 0, distance)

    def add_norms(self, error: float, reference: float, actual: float, product: float = 0.0) -> None:
        """The Euclidean norms of a block's error and of both sides, and the inner product of these."""
        self.product += product
        self.error = math.hypot(self.error, error)
        self.reference = math.hypot(self.reference, reference)
        self.actual = math.hypot(self.actual, actual)

    def merge(self, other: Sums) -> None:
        """Adds what another walk over other blocks found."""
        for name in _COUNTED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _RECORDED:
            setattr(self, name, max(getattr(self, name), getattr(other, name)))
        self.add_norms(other.error, other.reference, other.actual)
        if other.ulp is not None:
            self.note_ulp(other.ulp)

    def metrics(self) -> Metrics:
        """Everything that follows."""
        some, relative = self.compared > 0, self.relative > 0
        return Metrics(
            elements=self.elements,
            max_abs=self.max_abs if some else None,
            mean_abs=self.sum_abs / self.compared if some else None,
            max_rel=self.max_rel if relative else None,
            mean_rel=self.sum_rel / self.relative if relative else None,
            rmse=self.error / math.sqrt(self.compared) if some else None,
            mismatch_percent=100 * self.mismatches / self.elements if self.elements else 0.0,
            mismatches=self.mismatches,
            cosine=self._cosine() if some else None,
            snr_db=self._snr() if some else None,
            max_ulp=self.ulp if some else None,
            nan_reference=self.nan_reference,
            nan_actual=self.nan_actual,
            inf_reference=self.inf_reference,
            inf_actual=self.inf_actual,
            nonfinite_mismatches=self.nonfinite_mismatches,
            norm_reference=self.reference if some else None,
        )

    def passes_with(self) -> PassesWith:
        """The tolerances that would have passed."""
        if self.nonfinite_mismatches:
            return PassesWith(None, None)
        rtol = self.needed_rtol if math.isfinite(self.needed_rtol) else None
        atol = self.needed_atol if float(self.needed_atol).is_integer() else _rounded_up(self.needed_atol)
        return PassesWith(atol, None if rtol is None else _rounded_up(rtol))

    def _cosine(self) -> float | None:
        if self.reference == 0 and self.actual == 0:
            return 1.0
        if self.reference == 0 or self.actual == 0:
            return None
        left, right = self.reference, self.actual
        alike = max(left, right) <= _ALIKE * min(left, right)
        if alike or not math.isfinite(self.product) or left * right < _SMALLEST:
            # The three sides of the triangle: exact where it matters, for sides that are almost equal.
            cosine = ((left / right) + (right / left) - (self.error / left) * (self.error / right)) / 2
        else:
            cosine = self.product / left / right
        return max(-1.0, min(1.0, cosine)) if math.isfinite(cosine) else None

    def _snr(self) -> float | None:
        if self.error == 0:
            return math.inf
        if self.reference == 0:
            return -math.inf
        return 20 * (math.log10(self.reference) - math.log10(self.error)) if math.isfinite(self.error) else None


def _rounded_up(tolerance: float) -> float:
    """More than any rounding between here and a comparison takes away."""
    return tolerance * (1 + _SLACK)
