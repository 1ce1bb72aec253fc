"""What a comparison of two tensors found, as plain data with its JSON form.

These are values only: `tensors.compare_tensors` makes them, and the verdict reads them.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import asdict, dataclass, field
from typing import Any, Union

from inductor_debug_schema import DiffElement, DiffMetrics, DiffTolerances, to_wire
from inductor_debug_schema.answers.diff_document import Value

from inductor_debug.kerneldiff.metrics.comparison_config import Tolerances, number_for_json

Number = Union[bool, int, float, complex]


@dataclass(frozen=True, slots=True)
class Metrics:
    """The differences of `actual` from `reference`. None where there is nothing to measure, such as in empty tensors.

    Errors are taken where both values are finite; relative ones also want a reference that is not zero. Complex
    numbers differ by the modulus of their difference. `mismatch_percent` is the share of elements outside the
    tolerances. `cosine` is the cosine of the angle between both tensors as vectors, `snr_db` is
    `20 * log10(norm(reference) / norm(error))`, infinite for no error. `max_ulp` counts the representable values
    between two elements, in the less precise dtype of the two (0 for +0 and -0; integers count by one).
    `nonfinite_mismatches` are the places where one side has a NaN or an infinity that the other has not.
    """

    elements: int = 0
    max_abs: float | None = None
    mean_abs: float | None = None
    max_rel: float | None = None
    mean_rel: float | None = None
    rmse: float | None = None
    mismatch_percent: float = 0.0
    mismatches: int = 0
    cosine: float | None = None
    snr_db: float | None = None
    max_ulp: int | None = None
    nan_reference: int = 0
    nan_actual: int = 0
    inf_reference: int = 0
    inf_actual: int = 0
    nonfinite_mismatches: int = 0
    norm_reference: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The metrics by name; numbers that JSON does not know are None."""
        return {name: number_for_json(value) for name, value in asdict(self).items()}

    def on_wire(self, anchored_ratio: Value = None) -> DiffMetrics:
        """The metrics for JSON; numbers that JSON does not know are None.

        Args:
            anchored_ratio: the error over the error to expect, None where that is not measured.
        """
        return DiffMetrics(**self.to_dict(), anchored_ratio=anchored_ratio)


@dataclass(frozen=True, slots=True)
class WorstElement:
    """One of the elements that differ most: its index in the tensor and both values."""

    index: tuple[int, ...]
    reference: Number
    actual: Number

    def on_wire(self) -> DiffElement:
        """For JSON: NaN, infinities and complex numbers are strings."""
        return DiffElement(list(self.index), value_for_json(self.reference), value_for_json(self.actual))


@dataclass(frozen=True, slots=True)
class PassesWith:
    """The smallest tolerances that would pass: `atol` with the rtol asked for, `rtol` with the atol asked for.

    None where no tolerance would do, because a NaN or an infinity differs or (`rtol`) a reference is zero.
    They are rounded up by a millionth part, so that they also pass `torch.allclose` and its rounding.
    """

    atol: float | None
    rtol: float | None

    def on_wire(self) -> DiffTolerances:
        """For JSON."""
        return DiffTolerances(number_for_json(self.atol), number_for_json(self.rtol))


@dataclass(frozen=True, slots=True)
class TensorComparison:
    """The outcome for one pair of tensors.

    `shape` and `dtype` are the reference's (`float32`, without `torch.`). `passed` says that every element is within
    the tolerances, but for the share that may not be, and that there is no `problem`, which names what else does not
    fit: a shape, a dtype, a device. `worst` lists elements that differ, the worst first: non-finite ones, then by
    absolute error.
    """

    shape: tuple[int, ...]
    dtype: str
    passed: bool
    tolerances: Tolerances
    metrics: Metrics = field(default_factory=Metrics)
    worst: tuple[WorstElement, ...] = ()
    passes_with: PassesWith | None = None
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The part of the `diff` document that tells of one tensor, without its name."""
        passes = self.passes_with or PassesWith(None, None)
        document: dict[str, Any] = to_wire(
            {
                "shape": self.shape,
                "dtype": self.dtype,
                "passed": self.passed,
                "metrics": self.metrics.on_wire(),
                "worst": [element.on_wire() for element in self.worst],
                "passes_with": passes.on_wire(),
                "tolerances": PassesWith(self.tolerances.atol, self.tolerances.rtol).on_wire(),
                "problem": self.problem,
            }
        )
        return document


def value_for_json(value: Number) -> Value:
    """`value` where JSON knows it, else a string that tells it: `NaN`, `Infinity`, `-Infinity`, `(1+2j)`."""
    if isinstance(value, complex):
        return str(value) if cmath.isfinite(value) else str(value).replace("inf", "Infinity").replace("nan", "NaN")
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value
