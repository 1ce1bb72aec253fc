"""One capture judged for several accelerators: what each would find, and what a run would cost there at least."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from inductor_debug_schema.findings import FileStatus, Finding, Severity, Stage, TargetReport


@dataclass(frozen=True, slots=True)
class TargetCost:
    """What one run of a target costs at least on an accelerator, by the deepest `stage` that saw it.

    `ops` ran, of which it has no kernel for `unsupported_ops` and leaves `fallback_ops` to the host; `computing_ops`
    leaves out views. `parameters` are elements of those that the run used, with `parameter_bytes`. `padding_bytes` of
    what the run makes and reads are padding, None where the accelerator pads nothing. `operations` are floating-point
    operations. Bytes are as the accelerator stores them: `peak_bytes` the most memory needed at once, `moved_bytes`
    what is read from outside and written as a result. Not `exact`, a size was a symbol and counted with its smallest
    value. `seconds_at_least` is the roofline's lower bound, None where the profile does not say how fast the
    accelerator is; `limited_by` is then "", else "memory" or "compute".
    """

    target: str
    stage: Stage
    ops: int
    unsupported_ops: int
    operations: int
    moved_bytes: int
    peak_bytes: int
    exact: bool
    seconds_at_least: Union[float, None] = None
    limited_by: str = ""
    fallback_ops: int = 0
    computing_ops: int = 0
    parameters: int = 0
    parameter_bytes: int = 0
    padding_bytes: Union[int, None] = None


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How many findings a rule has at a severity."""

    rule: str
    severity: Severity
    findings: int


@dataclass(frozen=True, slots=True)
class AcceleratorColumn:
    """What one accelerator makes of the capture.

    `accelerator` is what to set to choose it (a name, or the path of a profile), `name` what the profile calls itself,
    `title` what people call it. `chosen` says that it is the one of the settings. `device_bytes` is its memory, None
    where the profile does not say. `findings` are those that a check for it reports, `counts` sums them up.
    """

    accelerator: str
    name: str
    title: str
    chosen: bool
    status: FileStatus
    device_bytes: Union[int, None] = None
    counts: list[RuleCount] = field(default_factory=list)
    costs: list[TargetCost] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class AcceleratorComparison:
    """A file, or one `target` of it ("" for all), captured once and judged for several accelerators."""

    path: str
    target: str
    targets: list[TargetReport] = field(default_factory=list)
    columns: list[AcceleratorColumn] = field(default_factory=list)
