"""The `diff` document: what a comparison of a backend with a reference found, whole or growing.

Numbers that JSON does not know are None where they are measurements, and text ("Infinity", "NaN") where they are
values of the user's or ratios, of which infinity means something.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.positions import Range

Value = Union[bool, int, float, str, None]
"""A number of a tensor or a ratio; text where JSON has no number for it."""


class DiffVerdict(str, Enum):
    """What a comparison comes to."""

    PASS = "pass"
    """The backend's error is what its precision makes anyway."""
    SUSPICIOUS = "suspicious"
    """Larger than to be expected, or not to be told from noise."""
    WRONG = "wrong"
    """Far larger than rounding can explain, or of another shape, type or structure."""
    FAILED = "failed"
    """There is nothing to compare: a side raised, or the comparison itself could not be made."""

    @property
    def rank(self) -> int:
        """0 for a pass, more for worse."""
        return list(DiffVerdict).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffMetrics:
    """The differences of one tensor from the reference's, as `kerneldiff.metrics.metrics.Metrics` has them.

    `anchored_ratio` is the backend's error over the error to expect, None where that is not measured.
    """

    elements: int
    max_abs: Union[float, None]
    mean_abs: Union[float, None]
    max_rel: Union[float, None]
    mean_rel: Union[float, None]
    rmse: Union[float, None]
    mismatch_percent: Union[float, None]
    mismatches: int
    cosine: Union[float, None]
    snr_db: Union[float, None]
    max_ulp: Union[int, None]
    nan_reference: int
    nan_actual: int
    inf_reference: int
    inf_actual: int
    nonfinite_mismatches: int
    norm_reference: Union[float, None]
    anchored_ratio: Value = None


@dataclass(frozen=True, slots=True)
class DiffElement:
    """One of the elements that differ most; `index` is empty where there is no pair of tensors."""

    index: list[int]
    reference: Value
    actual: Value


@dataclass(frozen=True, slots=True)
class DiffTolerances:
    """Tolerances as `torch.allclose` has them; None where none would do."""

    atol: Union[float, None]
    rtol: Union[float, None]


@dataclass(frozen=True, slots=True)
class DiffSpread:
    """Ratios of several runs, of which a tensor's row tells the worst."""

    ratios: list[Value]
    mean: Value
    variance: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffTensor:
    """One output, updated input or gradient.

    `shape` is None where there is no pair of tensors. `passed` is the view by `tolerances`, of which the verdict does
    not depend. `problem` names what else does not fit: a shape, a dtype, a device.
    """

    name: str
    verdict: DiffVerdict
    why: str
    shape: Union[list[int], None]
    dtype: str
    passed: bool
    metrics: DiffMetrics
    worst: list[DiffElement]
    passes_with: DiffTolerances
    tolerances: Union[DiffTolerances, None] = None
    problem: str = ""
    runs: Union[DiffSpread, None] = None


@dataclass(frozen=True, slots=True)
class DiffError:
    """The difference of one value from the reference's; `relative` is None where it is infinite.

    `invalid` says that it is not a number, or of another shape.
    """

    max_abs: Union[float, None]
    rmse: Union[float, None]
    relative: Union[float, None]
    anchored_ratio: Value
    invalid: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffNode:
    """One operation of a graph, with its own error (`isolated`) and that of everything up to it (`accumulated`).

    `growth` is the accumulated error over the largest among its inputs, `replaced` the part of the graph's error that
    is left when this one result is the reference's.
    """

    node: str
    graph: str
    op: str
    path: Union[str, None]
    range: Union[Range, None]
    module: str
    isolated: Union[DiffError, None]
    accumulated: Union[DiffError, None]
    growth: Value
    replaced: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffSegment:
    """A piece of a graph that an opaque backend was given by itself: the operations from `start` to `end`, exclusive.

    `isolated` is None where it could not be compiled or run by itself; `why` says what was raised. Of long pieces,
    `ops` and `nodes` are the first and the last.
    """

    graph: str
    start: int
    end: int
    ops: list[str]
    nodes: list[str]
    path: Union[str, None]
    range: Union[Range, None]
    isolated: Union[DiffError, None]
    wrong: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffBlame:
    """An operation that computes something wrong, and why we say so; `nodes` are those that cannot be told apart."""

    path: Union[str, None]
    range: Union[Range, None]
    op: str
    node: str
    graph: str
    module: str
    nodes: list[str]
    why: str


@dataclass(frozen=True, slots=True)
class DiffFault:
    """A fault that was put in on purpose: into how many operations, how many it changed, whether it was found."""

    fault: str
    operations: int
    changed: int
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffDocument:
    """A comparison of one target. `verdict` is None only while it goes on, `partial` says that it did not end.

    `seconds` are those of its parts, by name. `first_divergent` and `largest_growth` name nodes.
    """

    schema: int
    target: str
    reference: str
    backend: str
    verdict: Union[DiffVerdict, None]
    why: str
    outputs: list[DiffTensor]
    gradients: list[DiffTensor]
    nodes: list[DiffNode]
    segments: list[DiffSegment]
    blame: list[DiffBlame]
    faults: list[DiffFault]
    first_divergent: Union[str, None]
    largest_growth: Union[str, None]
    deterministic: Union[bool, None]
    seed: int
    runs: int
    weights: str
    notes: list[str]
    seconds: dict[str, float]
    partial: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffPiece:
    """What has been added to a comparison since its last piece: rows of tables, and other values as they are now.

    A comparison that begins is `begun`, whole and without rows. What is None has not changed. `answers.growing` says
    how rows are added.
    """

    begun: Union[DiffDocument, None]
    outputs: list[DiffTensor] = field(default_factory=list)
    gradients: list[DiffTensor] = field(default_factory=list)
    nodes: list[DiffNode] = field(default_factory=list)
    segments: list[DiffSegment] = field(default_factory=list)
    verdict: Union[DiffVerdict, None] = None
    why: Union[str, None] = None
    deterministic: Union[bool, None] = None
    notes: Union[list[str], None] = None
