"""A survey of many models: what its file of results holds, a line of JSON each, `SurveyHeader` first.

Lines are added while the survey runs and never changed. Numbers that nobody knows are None, never 0. What is computed
(operations, bytes, bounds) is the same wherever the same text runs; what was measured stands apart (`measured`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from inductor_debug_schema.answers.diff_document import DiffVerdict
from inductor_debug_schema.answers.measurement_document import MeasurementDocument
from inductor_debug_schema.findings import Checked, FileStatus, Severity, Stage
from inductor_debug_schema.positions import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyHeader:
    """What was surveyed, how, and with which versions. `kind` is "survey".

    `asked` is what decides on the rows (stages, accelerators, backends …) as the command line has it, by option;
    results of two surveys are told apart by it. `models` says how many there are to be.
    """

    kind: str
    schema: int
    name: str
    version: str
    torch: str
    python: str
    machine: str
    started: str
    asked: dict[str, str]
    models: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyFinding:
    """A finding as a survey keeps it, with the lines of source that it is about.

    `accelerators` are those for which it was found. `excerpt` begins at the zero-based line `excerpt_line`. `cause` is
    the kind of a graph break (`BreakCause`), "" of other findings. Where the file is a notebook, `cell` is the number
    of the cell and `cell_line` the zero-based line in it at which the range begins; `cell` is 0 in other files.
    """

    rule: str
    severity: Severity
    message: str
    path: str
    range: Range
    stage: Stage
    op: Union[str, None]
    module: Union[str, None]
    count: int
    inferred: bool
    fingerprint: str
    accelerators: list[str]
    cause: str = ""
    excerpt: list[str] = field(default_factory=list)
    excerpt_line: int = 0
    cell: int = 0
    cell_line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyColumn:
    """What one accelerator ("none" for no one) makes of a model.

    `rules` says how many findings each rule has. `ops` compute something; of them run `fallback_ops` on the host and
    `unsupported_ops` nowhere. `moved_bytes` cross the memory's border at least, `peak_bytes` are needed at once, and
    `padding_bytes` of all that the run makes there are padding, None where the accelerator pads nothing.
    """

    accelerator: str
    rules: dict[str, int]
    ops: Union[int, None]
    fallback_ops: Union[int, None]
    unsupported_ops: Union[int, None]
    flops: Union[int, None]
    moved_bytes: Union[int, None]
    peak_bytes: Union[int, None]
    padding_bytes: Union[int, None]
    seconds_at_least: Union[float, None]
    limited_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyComparison:
    """KernelDiff's verdict on a backend; `blame` is the most blamed operation with its place, "" where none is.

    `error` is the largest of its errors over the error to expect, None where that was not measured.
    """

    compared_backend: str
    verdict: Union[DiffVerdict, None]
    why: str
    blame: str
    error: Union[float, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRow:
    """One target of one model. `kind` is "row"; a model whose file offers several has `of` rows, with their `number`.

    `index` is the model's place in the survey, whatever order they ended in. `key` is a digest of the model's text and
    of what was asked. `why` says what was not looked at, or why nothing was. `signature` are inputs that were inferred,
    "" where they were given. `parameters` counts elements of those that the run used, `parameter_bytes` their bytes.
    `recompile_cause` is the sentence of the first recompilation. `graph_page` is the page with its graphs, relative to
    the file of results, "" where none was drawn.
    """

    kind: str
    model: str
    target: str
    path: str
    tags: list[str]
    key: str
    index: int
    number: int
    of: int
    status: FileStatus
    checked: Checked
    why: str
    seconds: float
    stage: Union[Stage, None]
    signature: str
    graphs: Union[int, None]
    breaks: int
    recompiles: int
    recompile_cause: str
    parameters: Union[int, None]
    parameter_bytes: Union[int, None]
    columns: list[SurveyColumn]
    findings: list[SurveyFinding]
    measured: list[MeasurementDocument] = field(default_factory=list)
    compared: list[SurveyComparison] = field(default_factory=list)
    graph_page: str = ""
