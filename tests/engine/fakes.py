"""A pool without processes, for tests of everything above the workers.

Its findings are a pure function of the text: every `BAD` is one, of rule `dtype` in both stages; `PREVIEW` and `MOCK`
are found by that stage alone. `BROKEN` raises: an error, and no expression behind it is seen. Special words make the
job end in special ways (`FakePool.run`). A job can be held at any event with `FakePool.hold`, so that tests need no
sleeps.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from inductor_debug.engine.pool.job_outcomes import JobEnd, JobOutcome
from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    Event,
    ExpressionFact,
    ExpressionsSeen,
    FileStatus,
    Finding,
    Finished,
    JobRequest,
    Loaded,
    Position,
    Range,
    Severity,
    Stage,
    StageFinished,
    StageReport,
    StageStarted,
    StageState,
    TargetFound,
    TensorFact,
)

TARGET = "Model"
_WORDS = {Stage.PREVIEW: ("BAD", "PREVIEW"), Stage.MOCK: ("BAD", "MOCK")}


def findings_of(path: str, text: str, stage: Stage) -> list[Finding]:
    """What the fake worker finds in `text`: each of the stage's words, at its place."""
    return [
        Finding(
            "capture-error" if match[0] == "BROKEN" else "dtype",
            Severity.ERROR if match[0] == "BROKEN" else Severity.WARNING,
            f"{match[0]} is bad",
            path,
            Range(Position(number, match.start()), Position(number, match.end())),
            stage,
            TARGET,
            f"aten.{match[0].lower()}",
        )
        for number, line in enumerate(re.split("\r\n|\r|\n", text))
        for match in re.finditer("|".join((*_WORDS[stage], "BROKEN")), line)
    ]


def facts_of(path: str, text: str, stage: Stage) -> list[ExpressionFact]:
    """Each `FACT` in `text` is an expression that gives one row in the preview and two in mock."""
    rows = 1 if stage is Stage.PREVIEW else 2
    return [
        ExpressionFact(
            path,
            Range(Position(number, match.start()), Position(number, match.end())),
            [TensorFact([rows, 64], [64, 1], "float32")],
            True,
            {"aten.mul.Tensor": 1},
            1,
        )
        for number, line in enumerate(re.split("\r\n|\r|\n", text))
        for match in re.finditer("FACT", line)
    ]


@dataclass
class FakePool:
    """`requests` are all jobs that ever reached it, `killed` those that were cancelled.

    A `stubborn` pool goes on talking when a job is cancelled, as a process does until it is really dead.
    """

    interpreter: str = ""
    project_root: str = ""
    log_path: Path = Path()
    requests: list[JobRequest] = field(default_factory=list)
    killed: list[int] = field(default_factory=list)
    starts: int = 0
    closes: int = 0
    dependencies: list[str] = field(default_factory=list)
    stubborn: bool = False
    torch_version: str | None = None
    python_version: str | None = None
    _held: asyncio.Event | None = None
    _reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self) -> None:
        self.starts += 1
        self.torch_version, self.python_version = "2.13.0", "3.11.0"

    async def close(self) -> None:
        self.closes += 1

    def hold(self) -> asyncio.Event:
        """Jobs stop before their next event until the returned event is set."""
        self._held = asyncio.Event()
        self._reached.clear()
        return self._held

    async def reached(self) -> None:
        """Waits until a job is held."""
        await self._reached.wait()

    async def run(self, request: JobRequest, on_event: Callable[[Event], None], *, timeout: float) -> JobEnd:
        """Plays a job. `CRASH`, `HANG`, `HOG`, `NOTORCH`, `RAISES` and `IMPORTFAIL` in the text make it end so."""
        self.requests.append(request)
        try:
            return await self._play(request, on_event)
        except asyncio.CancelledError:
            self.killed.append(request.job)
            if self.stubborn:
                self._held = None
                return await self._play(request, on_event)
            raise

    async def _play(self, request: JobRequest, on_event: Callable[[Event], None]) -> JobEnd:
        text, path = request.text, request.path
        await self._pause()
        if "NOTORCH" in text:
            return JobEnd(JobOutcome.START_FAILED, "there is no torch in python3: install torch==2.13.0")
        if "RAISES" in text:
            raise RuntimeError("a fault of ours")
        if "IMPORTFAIL" in text:
            finding = Finding(
                "import-error",
                Severity.ERROR,
                "no module named helper",
                path,
                Range(Position(0, 0), Position(0, 1)),
                Stage.LOAD,
            )
            on_event(Finished(FileStatus.FAILED, [finding]))
            return JobEnd(JobOutcome.FINISHED)
        if "NOTHING" in text:
            on_event(Loaded([], list(self.dependencies), [], 0.0))
            on_event(Finished(FileStatus.NO_TARGET))
            return JobEnd(JobOutcome.FINISHED)
        on_event(Loaded([TargetFound(TARGET, 0, "fake")], list(self.dependencies), [], 0.0))
        found = 0
        for stage in request.stages:
            await self._pause()
            on_event(StageStarted(TARGET, stage))
            await self._pause()
            if stage is Stage.MOCK and "CRASH" in text:
                return JobEnd(JobOutcome.CRASHED, "killed by SIGSEGV", "first line\nFatal Python error", line=1)
            if stage is Stage.MOCK and "HANG" in text:
                return JobEnd(JobOutcome.TIMEOUT, "stopped", seconds=120.0)
            if stage is Stage.MOCK and "HOG" in text:
                return JobEnd(JobOutcome.OUT_OF_MEMORY, "killed", "")
            findings = findings_of(path, text, stage)
            found += len(findings)
            ran, broken, _ = text.partition("BROKEN")
            state = StageState.FAILED if broken else StageState.DONE
            on_event(StageFinished(TARGET, StageReport(stage, state, 0.01, 1, 3), findings))
            if "FACT" in ran:
                on_event(ExpressionsSeen(TARGET, stage, facts_of(path, ran, stage)))
            if request.show_graphs and stage is Stage.MOCK:
                content = text.encode()
                on_event(ArtifactMade(ArtifactKind.FX_GRAPHS, "graphs", ".graph", "x", content, TARGET, stage))
        await self._pause()
        on_event(Finished(FileStatus.FINDINGS if found else FileStatus.CLEAN))
        return JobEnd(JobOutcome.FINISHED)

    async def _pause(self) -> None:
        await asyncio.sleep(0)
        if self._held is not None:
            self._reached.set()
            await self._held.wait()


class FakePools:
    """A pool factory that remembers what it made; `pool` is the only one where a test has one project."""

    def __init__(self) -> None:
        self.made: list[FakePool] = []
        self.dependencies: list[str] = []

    def __call__(self, *, interpreter: str, project_root: str, log_path: Path) -> FakePool:
        self.made.append(FakePool(interpreter, project_root, log_path, dependencies=self.dependencies))
        return self.made[-1]

    @property
    def pool(self) -> FakePool:
        assert len(self.made) == 1
        return self.made[0]

    @property
    def requests(self) -> list[JobRequest]:
        return [request for pool in self.made for request in pool.requests]
