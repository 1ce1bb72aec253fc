"""What the engine asks of a worker, and what a worker answers while it works.

A job is one file at one generation. Events arrive in the order in which they happen: `Loaded` first, then one
`StageFinished` for each target and stage, followed by `InferenceHint`, `ExpressionsSeen` and `TensorsSeen` where there
are any; after the previews of all targets `UntakenSeen` for each; then `Finished`. A worker that dies says nothing
more; the supervisor tells.

Jobs with a `task`, which are no analyses, send `Loaded`, then `Progressed`, `ArtifactMade`, `PartlyAnswered` and
`Answered` as they go, and `Finished` at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Union, get_args

from inductor_debug_schema.answers.bisect_document import BisectDocument, BisectPiece
from inductor_debug_schema.answers.compile_time_document import CompileTimeDocument
from inductor_debug_schema.answers.debug_document import DebugDocument
from inductor_debug_schema.answers.diff_document import DiffDocument, DiffPiece
from inductor_debug_schema.answers.measurement_document import MeasurementDocument
from inductor_debug_schema.answers.repro_document import ReproDocument
from inductor_debug_schema.answers.run_profile_document import RunProfileDocument
from inductor_debug_schema.answers.same_results_document import SameResults
from inductor_debug_schema.answers.suggestions_document import SuggestionsDocument
from inductor_debug_schema.answers.transfers_document import TransfersDocument
from inductor_debug_schema.artifacts import ArtifactKind
from inductor_debug_schema.captures import SizesSeen, StageCaptured
from inductor_debug_schema.expressions import ExpressionsSeen
from inductor_debug_schema.findings import FileStatus, Finding, Inferred, Stage, StageReport
from inductor_debug_schema.job_tasks import Task
from inductor_debug_schema.kernel_builds import KernelBuild
from inductor_debug_schema.positions import Location
from inductor_debug_schema.sizes import SizeSetting
from inductor_debug_schema.tensors import TensorsSeen
from inductor_debug_schema.untaken import UntakenBlock


@dataclass(frozen=True, slots=True)
class TargetSetting:
    """A target declared outside the file, from `[tool.inductor-debug.targets."file.py::Name"]`.

    `init` and `inputs` are Python expressions, evaluated in the module's namespace inside the worker. `at` is where it
    is declared.
    """

    name: str
    init: str | None = None
    inputs: str | None = None
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A Python expression that gives what is to be checked: a module, a function, or a pair of it and its inputs.

    It is evaluated in the file's namespace, inside the worker. `at` is where it is written; None for a command line.
    """

    expression: str
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class InferenceHint:
    """What was inferred for a target, for the next job on the same file. Workers send it and are given it back.

    `key` is a digest of the text that the inference rests on, `answer` the worker's own notes; neither means anything
    to anybody else. `evidence` is a digest of what declares the target's inputs: an answer is kept for a later text
    with the same evidence, which it then judges. It is empty for the note that nothing could be inferred.
    """

    target: str
    key: str
    answer: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class CellStart:
    """Where a cell of a notebook begins in the text of all that ran: its first line, and its number for people."""

    line: int
    number: int


@dataclass(frozen=True, slots=True)
class JobRequest:
    """One file to work on.

    `text` is what to run, whatever stands on disk; `profile` is the accelerator's parsed and validated TOML
    document (`accelerators.profile`). Limits are seconds and bytes. `only` names the targets to look at, all where
    it is empty, and `without` those in which an earlier job of the file ended: their parts are looked at, they are
    not. Free sizes of those that are `fixed` are numbers, because an earlier job took too long with symbols.
    `keep_graphs` asks an analysis for its graphs and all that is worth keeping of them, as artifacts; `show_graphs`
    for the graphs alone, so that they are at hand when somebody wants to see them; `keep_captures` for what its
    stages saw, to be judged again; `keep_guards` for what Dynamo guards on; `keep_costs` for what each expression
    costs at least; `keep_trace` for torch's structured trace; `trace_tensors` for when each tensor is made, read
    and freed. `sizes` are to replace those of the inputs, `seek_sizes` asks which sizes are free, and with
    `larger_sizes` those that nobody set are such as load an accelerator (`capture.sizes.larger_sizes`). Random
    numbers start from `seed`. `hints` are what earlier jobs inferred for this file. `torch_logs` is what torch is
    to log, as `TORCH_LOGS` says it. User code may write to the folder `scratch` alone (empty: it is kept from
    nothing); `allow` names what it may do all the same, of "network", "write" and "subprocess".
    """

    job: int
    path: str
    text: str
    project_root: str
    stages: list[Stage]
    profile: dict[str, Any]
    targets: list[TargetSetting] = field(default_factory=list)
    memory_limit: int = 8 << 30
    infer: bool = True
    """Whether classes without inputs are given inferred ones."""
    task: Union[Task, None] = None
    """What to do instead of an analysis."""
    seed: int = 0
    only: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    keep_graphs: bool = False
    show_graphs: bool = False
    keep_captures: bool = False
    keep_guards: bool = False
    keep_costs: bool = False
    keep_trace: bool = False
    trace_tensors: bool = False
    sizes: list[SizeSetting] = field(default_factory=list)
    seek_sizes: bool = False
    larger_sizes: bool = False
    hints: list[InferenceHint] = field(default_factory=list)
    scratch: str = ""
    allow: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    """What is built of the file beside what it offers by itself."""
    follow_main: bool = False
    """Whether what stands under `if __name__ == "__main__":` is run, too, as far as it calls its models."""
    argv: list[str] = field(default_factory=list)
    """The command line that the file sees while it runs, its own name left out."""
    torch_logs: str = ""
    cells: list[CellStart] = field(default_factory=list)
    """Where the text is that of a notebook: users are told of lines within its cells."""
    export_formats: bool = False
    """Whether an export is also to say which formats take the program."""


INFERRED_ORIGIN = "inferred"
"""The `origin` of a target whose inputs nobody gave."""


@dataclass(frozen=True, slots=True)
class TargetFound:
    """A target the file offers; `origin` names the convention that found it."""

    name: str
    line: int
    origin: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The file was executed.

    `dependencies` are the project's own files it imported (absolute paths), `modules` the third-party modules it
    loaded that a fork server may load beforehand.
    """

    targets: list[TargetFound]
    dependencies: list[str]
    modules: list[str]
    seconds: float
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A stage of a target begins.

    `symbols_may_slow` says that free sizes are symbols in it, after an earlier stage was quick: where it takes long, it
    is worth while to run the target once more with numbers.
    """

    target: str
    stage: Stage
    symbols_may_slow: bool = False


@dataclass(frozen=True, slots=True)
class StageFinished:
    """A stage of a target ended with these findings (all of that stage and target)."""

    target: str
    report: StageReport
    findings: list[Finding]
    inferred: Inferred | None = None


@dataclass(frozen=True, slots=True)
class UntakenSeen:
    """What a target's run left out of the functions that it reached, and no other target of the file ran."""

    target: str
    blocks: list[UntakenBlock]


@dataclass(frozen=True, slots=True)
class Finished:
    """The job is over. `findings` are those of no target: syntax and import errors, a module that raises.

    `looked_at` are the files and folders that an analysis read or found missing (absolute paths): while they stay the
    same, so does what it tells. Files of installed libraries are left out, the folders that these lie in are not.
    """

    status: FileStatus
    findings: list[Finding] = field(default_factory=list)
    dependencies: list[str] = field(default_factory=list)
    looked_at: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Progressed:
    """How far a task has come: `done` of `total` steps (0 where nobody knows), and what it does now, in words."""

    message: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class ArtifactMade:
    """Something to keep: the engine writes it into the artifact store, or drops it where it cannot.

    `title` says in a few words what it is; `suffix` is the file name's (`.graph`, `.txt`, `.cpp`, `.png`).
    """

    kind: ArtifactKind
    title: str
    suffix: str
    media_type: str
    content: bytes
    target: str = ""
    stage: Union[Stage, None] = None


Answer = Union[
    KernelBuild,
    DiffDocument,
    BisectDocument,
    ReproDocument,
    TransfersDocument,
    SameResults,
    SuggestionsDocument,
    MeasurementDocument,
    RunProfileDocument,
    CompileTimeDocument,
    DebugDocument,
]
"""What a task answers for one target or one kernel; a reader tells them apart by their required fields."""

AnswerPiece = Union[DiffPiece, BisectPiece]
"""What has been added to an answer while it is made."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of a task for one target: a document of the contract (`diff`, `repro`, `bisect`, `transfers`)."""

    target: str
    document: Answer


@dataclass(frozen=True, slots=True)
class PartlyAnswered:
    """What has been added to a target's answer since the last time.

    Where `Answered` never comes, because the task was cancelled or died, this is what there is.
    """

    target: str
    piece: AnswerPiece


Event = Union[
    Loaded,
    StageStarted,
    StageFinished,
    StageCaptured,
    SizesSeen,
    ExpressionsSeen,
    TensorsSeen,
    UntakenSeen,
    InferenceHint,
    Progressed,
    ArtifactMade,
    PartlyAnswered,
    Answered,
    Finished,
]
"""What a worker sends while it works on a job."""

EVENT_TYPES: dict[str, type] = {cls.__name__: cls for cls in get_args(Event)}
"""Event classes by the name they carry on the wire."""
