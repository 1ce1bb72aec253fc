"""A worker pool without processes: every file says in its text what becomes of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from answers import answer
from inductor_debug.accelerators.profile import read_profile
from inductor_debug.artifacts.graph_columns import MEDIA_TYPE, encode
from inductor_debug.engine.pool.job_outcomes import JobEnd, JobOutcome
from inductor_debug.rules.costing.run_costs import RunCosts
from inductor_debug.rules.recording.ops import Frame, Op, Recording, TensorMeta
from inductor_debug.rules.recording.statistics import statistics_of
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    CompileTimeDocument,
    CompileTimeTask,
    Event,
    FileStatus,
    Finding,
    Finished,
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    Inferred,
    JobRequest,
    Loaded,
    Location,
    NodeRole,
    Position,
    Range,
    Severity,
    Stage,
    StageFinished,
    StageReport,
    StageState,
    TargetFound,
    to_wire,
)


class FakePool:
    """Finds one `dtype` warning for every `.double()` in a text.

    It looks at `helper.py` beside each file. A text with the words "no target", "no inputs", "crash", "timeout",
    "raise", "graph break" or "wait" does what they say; with "cut short" time is up when there are graphs already.
    """

    closed: ClassVar[int] = 0
    started: ClassVar[list[str]] = []
    interpreters: ClassVar[list[str]] = []
    for_one_job: ClassVar[list[bool]] = []
    requests: ClassVar[list[JobRequest]] = []
    torch_version: str | None = "2.13.0"
    python_version: str | None = "3.11.2"

    def __init__(self, *, interpreter: str, project_root: str, log_path: Path, one_job: bool = False) -> None:
        self.interpreters.append(interpreter)
        self.for_one_job.append(one_job)

    async def start(self) -> None:
        """Nothing to start."""

    async def close(self) -> None:
        """Counts, so that tests can see that nothing is left."""
        type(self).closed += 1

    async def run(self, request: JobRequest, on_event: Callable[[Event], None], *, timeout: float) -> JobEnd:
        self.started.append(request.path)
        self.requests.append(request)
        await asyncio.sleep(0)
        text = request.text
        if "wait" in text:
            await asyncio.Event().wait()
        if "crash" in text:
            return JobEnd(JobOutcome.CRASHED, "killed by SIGSEGV", "the last words\n", line=0)
        if "timeout" in text:
            return JobEnd(JobOutcome.TIMEOUT, seconds=timeout)
        found = [] if "no target" in text else [TargetFound("Model", 0, "directive")]
        on_event(Loaded(found, [], [], 0.01))
        if "no inputs" in text:
            report = StageReport(Stage.PREVIEW, StageState.SKIPPED, 0.0)
            on_event(StageFinished("Model", report, [], Inferred(reason="Inputs could not be inferred")))
            on_event(Finished(FileStatus.NO_TARGET))
            return JobEnd(JobOutcome.FINISHED)
        if isinstance(request.task, CompileTimeTask):
            on_event(Answered("Model", compile_time_of(request)))
            on_event(Finished(FileStatus.CLEAN))
            return JobEnd(JobOutcome.FINISHED)
        failed = "raise" in text
        if found:
            findings = [_raised(request.path)] if failed else _findings(request.path, text)
            report = StageReport(Stage.PREVIEW, StageState.FAILED if failed else StageState.DONE, 0.02, ops=7)
            on_event(StageFinished("Model", report, findings))
            report = StageReport(Stage.MOCK, StageState.SKIPPED if failed else StageState.DONE, 0.03, graphs=1, ops=7)
            on_event(StageFinished("Model", report, []))
            if request.keep_graphs and not failed:
                for made in kept_of(request, text):
                    on_event(made)
            if request.keep_costs:
                on_event(cost_of(request))
        if "cut short" in text:
            return JobEnd(JobOutcome.TIMEOUT, seconds=timeout)
        helper = str(Path(request.path).with_name("helper.py"))
        on_event(Finished(_status(found, failed, text), looked_at=[helper]))
        return JobEnd(JobOutcome.FINISHED)


def kept_of(request: JobRequest, text: str) -> list[ArtifactMade]:
    """A graph and statistics; with "nothing captured" in the text none, with "no graph" a document without one."""
    if "nothing captured" in text:
        return []
    stage = request.stages[-1]
    place = Location(request.path, Range(Position(0, 0), Position(0, 1)))
    nodes = [
        GraphNode("x", "placeholder", NodeRole.INPUT, shape=[4], dtype="float32", bytes=16, detail="x"),
        GraphNode("<y>", "aten.relu.default", inputs=["x"], shape=[4], dtype="float32", bytes=16, place=place),
        GraphNode("output", "output", NodeRole.OUTPUT, inputs=["<y>"]),
    ]
    graphs = [] if "no graph" in text else [Graph("0", GraphKind.FX, nodes)]
    document = GraphDocument("Model", stage, request.path, "abcd", "mock", "2.13.0", graphs)
    statistics = json.dumps(
        to_wire(statistics_of(Recording(), target="Model", stage=stage, path=request.path))
    ).encode()
    return [
        ArtifactMade(ArtifactKind.FX_GRAPHS, "graphs", ".graph", MEDIA_TYPE, encode(document), "Model", stage),
        ArtifactMade(ArtifactKind.STATISTICS, "statistics", ".json", "application/json", statistics, "Model", stage),
    ]


def cost_of(request: JobRequest) -> ArtifactMade:
    """What a product of two matrices of 64 KiB on the first line costs, and its sine on the second."""
    metas = [
        TensorMeta(number, 0, number, (128, 128), (128, 1), "float32", "cpu", 4, 1 << 16, dense=True)
        for number in range(4)
    ]
    frames = [
        (Frame(Location(request.path, Range(Position(line, 0), Position(line, 1))), "forward", in_project=True),)
        for line in range(2)
    ]
    ops = [
        Op(0, "aten.mm.default", {}, (metas[0], metas[1]), (metas[2],), frames[0], module="layers.0"),
        Op(1, "aten.sin.default", {}, (metas[2],), (metas[3],), frames[1], module="layers.1"),
    ]
    costs = RunCosts(read_profile(request.profile))
    document = costs.document(Recording(ops), "Model", request.stages[-1], request.path, lambda place: "x @ w")
    content = json.dumps(to_wire(document)).encode()
    return ArtifactMade(
        ArtifactKind.STATISTICS, "costs", ".json", "application/json", content, "Model", request.stages[-1]
    )


def compile_time_of(request: JobRequest) -> CompileTimeDocument:
    """Three seconds, of which two are spent on the first expression in two layers."""
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}}
    return answer(
        CompileTimeDocument,
        {
            "schema": 1, "target": "Model", "path": request.path, "seconds": 3.0, "start_up": 4.0, "placed": 2.0,
            "graphs": 1,
            "compile_phases": [
                {"part": "Dynamo", "phase": "tracing the code", "seconds": 1.0},
                {"part": "Inductor", "phase": "lowering", "seconds": 2.0},
            ],
            "expressions": [
                {
                    "path": request.path, "range": place, "text": "x @ w", "seconds": 2.0, "traced": 2, "nodes": 4,
                    "parts": {"Dynamo": 0.5, "Inductor": 1.5}, "modules": 2,
                },
                {"path": None, "range": None, "seconds": 1.0, "parts": {"Dynamo": 0.5, "Inductor": 0.5}},
            ],
            "modules": [{"module": f"layers.{number}", "kind": "Layer", "seconds": 1.0} for number in range(2)],
            "alike": [{"pattern": "layers.*", "kind": "Layer", "count": 2, "seconds": 2.0}],
            "slices": {
                "phases": [0, 0, 1, 1], "modules": [-1, 0, -1, 1], "expressions": [1, 0, 1, 0],
                "seconds": [0.5, 0.5, 0.5, 1.5],
            },
            "tried": _ways() if isinstance(request.task, CompileTimeTask) and request.task.ways else None,
        },
    )  # fmt: skip


def _ways() -> dict[str, Any]:
    """One way that saves most of it, and one that torch refuses."""
    return {
        "layers": [{"pattern": "layers.*", "kind": "Layer", "count": 2, "seconds": 2.0}],
        "trials": [
            {"compile_way": "as-it-is", "seconds": 3.0, "graphs": 1, "operations": 20},
            {
                "compile_way": "nested-regions", "seconds": 0.1, "graphs": 0, "operations": 0, "problem": "no region",
                "code": "never shown",
            },
            {
                "compile_way": "each-layer", "seconds": 0.75, "graphs": 1, "operations": 8, "same": "yes",
                "offered": True, "code": "for layer in model.modules():\n    layer.compile()",
            },
        ],
    }  # fmt: skip


def _status(found: list[TargetFound], failed: bool, text: str) -> FileStatus:
    if not found:
        return FileStatus.NO_TARGET
    if failed:
        return FileStatus.FAILED
    return FileStatus.FINDINGS if ".double()" in text or "graph break" in text else FileStatus.CLEAN


def _findings(path: str, text: str) -> list[Finding]:
    findings = []
    for number, line in enumerate(text.split("\n")):
        for word, rule, severity in (
            (".double()", "dtype", Severity.WARNING),
            ("graph break", "graph-break", Severity.WARNING),
            ("int64", "dtype", Severity.INFORMATION),
        ):
            if word in line:
                end = line.index(word) + len(word)
                area = Range(Position(number, len(line) - len(line.lstrip())), Position(number, end))
                message = f"{word} is not supported"
                findings.append(Finding(rule, severity, message, path, area, Stage.PREVIEW, "Model"))
    return findings


def _raised(path: str) -> Finding:
    area = Range(Position(0, 0), Position(0, 1))
    return Finding("capture-error", Severity.ERROR, "ValueError: no", path, area, Stage.PREVIEW, "Model")
