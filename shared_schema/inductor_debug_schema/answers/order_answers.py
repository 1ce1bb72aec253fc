"""What an editor may say with a command that takes its time, and what it is answered.

The big parts travel as artifacts; an answer names their files and has what fits into a message.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Union

from inductor_debug_schema.answers.bisect_document import BisectDocument
from inductor_debug_schema.answers.diff_document import DiffBlame, DiffVerdict
from inductor_debug_schema.answers.repro_document import ReproDocument
from inductor_debug_schema.answers.suggestions_document import SuggestionsDocument
from inductor_debug_schema.answers.transfers_document import TransferSummary
from inductor_debug_schema.artifacts import ArtifactReference
from inductor_debug_schema.comparisons import AcceleratorComparison
from inductor_debug_schema.findings import Stage, StageState
from inductor_debug_schema.positions import Location


@dataclass(frozen=True, kw_only=True)
class OrderOutcome:
    """What became of an order.

    `status` is the file's (`FileStatus`), or "cancelled"; `reason` says why nothing came of it. `notes` say which
    artifacts could not be kept.
    """

    uri: str
    status: str
    reason: Union[str, None]
    notes: list[str]
    artifacts: list[ArtifactReference]


@dataclass(frozen=True, kw_only=True)
class PagedOutcome(OrderOutcome):
    """What became of an order whose answer may come with a page, for who asks for one.

    `page` is its text, None where it is the last of the artifacts, or where nothing came of the order. Links in it
    start at `root`, the folder of the project.
    """

    page: Union[str, None] = None
    root: str = ""


@dataclass(frozen=True, kw_only=True)
class DiffOptions:
    """How a comparison is made; what is None has its default.

    `backend` and `reference` are names; `inject` has faults for an emulated backend; `nodes` looks for the operation at
    fault, `plots` and `maps` make pictures of errors. `time_limit` is in seconds.
    """

    backend: Union[str, None] = None
    reference: Union[str, None] = None
    atol: Union[float, None] = None
    rtol: Union[float, None] = None
    seed: Union[int, None] = None
    runs: Union[int, None] = None
    gradients: Union[bool, None] = None
    inject: Union[list[str], None] = None
    nodes: Union[bool, None] = None
    plots: Union[bool, None] = None
    maps: Union[bool, None] = None
    time_limit: Union[float, None] = None


@dataclass(frozen=True, kw_only=True)
class DiffSummary:
    """A comparison without its tables; `blame` has the most blamed operations."""

    target: str
    reference: str
    backend: str
    verdict: Union[DiffVerdict, None]
    why: str
    blame: list[DiffBlame]
    partial: bool


@dataclass(frozen=True, kw_only=True)
class DiffAnswer(OrderOutcome):
    """`inductorDebug.diff`: one comparison for each target; the documents are artifacts."""

    comparisons: list[DiffSummary]


@dataclass(frozen=True, kw_only=True)
class BisectOptions:
    """What is climbed; what is None has its default.

    `backends` replace the usual ladder, `accelerator` is climbed last, `passes` searches Inductor's passes.
    """

    reference: Union[str, None] = None
    backends: Union[list[str], None] = None
    accelerator: Union[str, None] = None
    seed: Union[int, None] = None
    gradients: Union[bool, None] = None
    passes: Union[bool, None] = None
    inject: Union[list[str], None] = None


@dataclass(frozen=True, kw_only=True)
class BisectAnswer(PagedOutcome):
    """`inductorDebug.bisect`: the document of each target."""

    bisections: list[BisectDocument]
    said: list[str]
    """The verdict of each, in a sentence."""


@dataclass(frozen=True, kw_only=True)
class TransfersOverview:
    """The transfers of one target without their rows, which are an artifact: one JSON document a line."""

    target: str
    accelerator: str
    summary: TransferSummary
    problem: Union[str, None]
    error: Union[str, None]


@dataclass(frozen=True, kw_only=True)
class TransfersAnswer(PagedOutcome):
    """`inductorDebug.transfers`: an overview of each target."""

    transfers: list[TransfersOverview]


@dataclass(frozen=True, kw_only=True)
class SuggestAnswer(PagedOutcome):
    """`inductorDebug.suggest`: the document of each target."""

    suggestions: list[SuggestionsDocument]


class ChartKind(str, Enum):
    """What a page of charts shows."""

    MEMORY = "memory"
    ROOFLINE = "roofline"
    PROFILE = "profile"
    COMPILE_TIME = "compile-time"


@dataclass(frozen=True, kw_only=True)
class ChartAnswer(OrderOutcome):
    """`inductorDebug.memory` and others of one run, and `recording`: the artifacts are documents of one kind, as JSON.

    Where the run ended early, they are as far as it came, and `reason` says why it did, at `place`. Where it
    `lacks_accelerator`, nothing came because of the one that is chosen: it is none, or nobody says how fast it is.
    """

    kind: ChartKind
    place: Union[Location, None] = None
    lacks_accelerator: bool = False


@dataclass(frozen=True, kw_only=True)
class AcceleratorsAnswer(PagedOutcome):
    """`inductorDebug.compareAccelerators`: the comparison with as many findings as fit; `place` of what `reason` says.

    `comparison` is None where the capture failed.
    """

    place: Union[Location, None]
    comparison: Union[AcceleratorComparison, None]


@dataclass(frozen=True, kw_only=True)
class DebugAnswer(OrderOutcome):
    """`inductorDebug.debug`: the files were written, and `configuration` starts the debugger; None where nothing was.

    `folder` is what the configuration means by `${workspaceFolder}`, `script` what it runs. `stops` are where the line
    that was named is computed, the graph first. `written` says that `.vscode/launch.json` has the configuration.
    """

    configuration: Union[dict[str, Any], None] = None
    folder: str = ""
    script: str = ""
    stops: list[Location] = field(default_factory=list)
    written: bool = False


@dataclass(frozen=True, kw_only=True)
class ReproOptions:
    """Which finding is to be cut out; `line` counts from zero, `fingerprint` is that of a finding that is shown.

    With `backend` it is for what that backend does to the target.
    """

    rule: Union[str, None] = None
    line: Union[int, None] = None
    fingerprint: Union[str, None] = None
    backend: Union[str, None] = None


@dataclass(frozen=True, kw_only=True)
class ReproAnswer(OrderOutcome, ReproDocument):
    """`inductorDebug.repro`: the reproducer, with the script as `text` where no file has it."""

    text: Union[str, None] = None


@dataclass(frozen=True, slots=True)
class GraphStage:
    """How a stage of a target ended, of which graphs were asked."""

    stage: Stage
    state: StageState
    notes: list[str]


@dataclass(frozen=True, slots=True)
class GraphTarget:
    """A target of a file whose graphs were captured; `line` counts from zero."""

    name: str
    line: int
    stages: list[GraphStage]


@dataclass(frozen=True, kw_only=True)
class GraphAnswer(OrderOutcome):
    """`inductorDebug.graph`: the graphs are artifacts."""

    targets: list[GraphTarget]


@dataclass(frozen=True, kw_only=True)
class ReportAnswer(OrderOutcome):
    """`inductorDebug.report`: the report is an artifact, whose links are relative to `root`."""

    root: str
