"""All commands of the server, each with what it is told and what it answers: the one place that declares them.

Any command may carry `partialResultToken` beside the fields of its request; those that find something on their way send
it there, as `PartialResult`.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, Union, get_args

from inductor_debug_schema.accelerator_entries import AcceleratorList
from inductor_debug_schema.answers.order_answers import (
    AcceleratorsAnswer,
    BisectAnswer,
    ChartAnswer,
    DebugAnswer,
    DiffAnswer,
    GraphAnswer,
    ReportAnswer,
    ReproAnswer,
    SuggestAnswer,
    TransfersAnswer,
)
from inductor_debug_schema.commands.command_answers import (
    CheckAnswer,
    GatheredBugReport,
    ImportAnswer,
    RulePage,
    WorkspaceAnswer,
    WrittenBugReport,
)
from inductor_debug_schema.commands.command_requests import (
    AcceleratorsRequest,
    AnyFileRequest,
    BisectRequest,
    BugReportRequest,
    CheckRequest,
    CompileTimeRequest,
    DebugRequest,
    DiffRequest,
    DirectiveRequest,
    EmptyRequest,
    ExplainRequest,
    FileRequest,
    GraphRequest,
    OutlineRequest,
    PageRequest,
    ProfileRequest,
    ReportRequest,
    ReproRequest,
    SetSizesRequest,
    TargetRequest,
    TensorsRequest,
    TransfersRequest,
    WorkspaceRequest,
    WriteBugReportRequest,
)
from inductor_debug_schema.outlines import DirectiveDraft, FileOutline
from inductor_debug_schema.sizes import TargetSizes
from inductor_debug_schema.tensors import LineTensors

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Command(Generic[Request, Answer]):
    """A command by its name. The types are given once, in brackets: `Command[DiffRequest, DiffAnswer]("…")`."""

    __orig_class__: Any

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def request(self) -> Any:
        """The type of its request; a union where there are several."""
        return get_args(self.__orig_class__)[0]

    @property
    def answer(self) -> Any:
        """The type of its answer, any that the codec knows."""
        return get_args(self.__orig_class__)[1]


CHECK = Command[CheckRequest, CheckAnswer]("inductorDebug.check")
CHECK_WORKSPACE = Command[WorkspaceRequest, WorkspaceAnswer]("inductorDebug.checkWorkspace")
GRAPH = Command[GraphRequest, GraphAnswer]("inductorDebug.graph")
IMPORT_ARTIFACTS = Command[FileRequest, ImportAnswer]("inductorDebug.importArtifacts")
DIFF = Command[DiffRequest, DiffAnswer]("inductorDebug.diff")
REPRO = Command[ReproRequest, ReproAnswer]("inductorDebug.repro")
BISECT = Command[BisectRequest, BisectAnswer]("inductorDebug.bisect")
TRANSFERS = Command[TransfersRequest, TransfersAnswer]("inductorDebug.transfers")
SUGGEST = Command[PageRequest, SuggestAnswer]("inductorDebug.suggest")
MEMORY = Command[TargetRequest, ChartAnswer]("inductorDebug.memory")
ROOFLINE = Command[TargetRequest, ChartAnswer]("inductorDebug.roofline")
COMPILE_TIME = Command[CompileTimeRequest, ChartAnswer]("inductorDebug.compileTime")
DEBUG = Command[DebugRequest, DebugAnswer]("inductorDebug.debug")
PROFILE = Command[ProfileRequest, ChartAnswer]("inductorDebug.profile")
RECORDING = Command[FileRequest, ChartAnswer]("inductorDebug.recording")
ACCELERATORS = Command[AnyFileRequest, AcceleratorList]("inductorDebug.accelerators")
COMPARE_ACCELERATORS = Command[AcceleratorsRequest, AcceleratorsAnswer]("inductorDebug.compareAccelerators")
SIZES = Command[FileRequest, list[TargetSizes]]("inductorDebug.sizes")
SET_SIZES = Command[SetSizesRequest, TargetSizes]("inductorDebug.setSizes")
OUTLINE = Command[OutlineRequest, FileOutline]("inductorDebug.outline")
DIRECTIVE = Command[DirectiveRequest, Union[DirectiveDraft, None]]("inductorDebug.directive")
TENSORS = Command[TensorsRequest, LineTensors]("inductorDebug.tensors")
BUG_REPORT = Command[
    Union[WriteBugReportRequest, BugReportRequest],
    Union[WrittenBugReport, GatheredBugReport],
]("inductorDebug.bugReport")
REPORT = Command[ReportRequest, ReportAnswer]("inductorDebug.report")
CANCEL = Command[AnyFileRequest, None]("inductorDebug.cancel")
RESTART = Command[EmptyRequest, None]("inductorDebug.restart")
INFER_ANEW = Command[FileRequest, None]("inductorDebug.inferAnew")
EXPLAIN = Command[ExplainRequest, RulePage]("inductorDebug.explain")

COMMANDS: tuple[Command[Any, Any], ...] = (
    CHECK,
    CHECK_WORKSPACE,
    GRAPH,
    IMPORT_ARTIFACTS,
    DIFF,
    REPRO,
    BISECT,
    TRANSFERS,
    SUGGEST,
    MEMORY,
    ROOFLINE,
    COMPILE_TIME,
    DEBUG,
    PROFILE,
    RECORDING,
    ACCELERATORS,
    COMPARE_ACCELERATORS,
    SIZES,
    SET_SIZES,
    OUTLINE,
    DIRECTIVE,
    TENSORS,
    BUG_REPORT,
    REPORT,
    CANCEL,
    RESTART,
    INFER_ANEW,
    EXPLAIN,
)
