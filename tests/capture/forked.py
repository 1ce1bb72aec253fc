"""Runs a job in a forked child of the test process, as a worker does, and brings its events back.

torch is imported once, in the test process; the child ends with `os._exit`, so nothing that user code does can reach
the tests. What it prints goes to a file that a failing test shows.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from inductor_debug.accelerators.profile import load_document
from inductor_debug.capture import session
from inductor_debug.worker.warm_up import warm_up
from inductor_debug_schema import (
    Entry,
    Event,
    FileStatus,
    Finding,
    Finished,
    JobRequest,
    Loaded,
    Stage,
    StageFinished,
    TargetSetting,
)

TIMEOUT = 400

# Autograd counts devices when it first runs; where it finds one, no child that is forked later can run a backward pass.
# A CUDA build of torch (2.11 to 2.13) finds one on machines without once anything was compiled, so it runs before that.
torch.ones(1, requires_grad=True).sum().backward()
warm_up()  # what one compilation costs the first time is paid once, here


@dataclass
class Job:
    """What came back from one job."""

    events: list[Event]
    output: str
    text: str
    path: str
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        for event in self.events:
            if isinstance(event, StageFinished | Finished):
                self.findings += event.findings

    @property
    def status(self) -> FileStatus:
        return self.finished.status

    @property
    def finished(self) -> Finished:
        last = self.events[-1]
        assert isinstance(last, Finished), self.output
        return last

    @property
    def loaded(self) -> Loaded:
        return next(event for event in self.events if isinstance(event, Loaded))

    @property
    def targets(self) -> list[tuple[str, str]]:
        """(name, origin) of every target."""
        return [(target.name, target.origin) for target in self.loaded.targets]

    @property
    def stages(self) -> list[StageFinished]:
        return [event for event in self.events if isinstance(event, StageFinished)]

    def of(self, rule: str) -> list[Finding]:
        return [finding for finding in self.findings if finding.rule == rule]

    def marked(self, finding: Finding) -> str:
        """The source text that a finding points at."""
        text = self.text if finding.path == self.path else Path(finding.path).read_text(encoding="utf-8")
        return excerpt(text, finding)


def excerpt(text: str, finding: Any) -> str:
    """What stands in the range of a finding or a related place; lines are joined by a line feed."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start, end = finding.range.start, finding.range.end
    part = [line.encode("utf-16-le") for line in lines[start.line : end.line + 1]]
    part[-1] = part[-1][: 2 * end.character]
    part[0] = part[0][2 * start.character :]
    return b"\n\0".join(part).decode("utf-16-le")


def analyze(
    path: Path,
    text: str | None = None,
    *,
    root: Path | None = None,
    stages: tuple[Stage, ...] = (Stage.PREVIEW,),
    accelerator: str = "mock",
    targets: tuple[TargetSetting, ...] = (),
    memory_limit: int = 8 << 30,
    keep_graphs: bool = False,
    trace_tensors: bool = False,
    entries: tuple[str, ...] = (),
    follow_main: bool = False,
    argv: tuple[str, ...] = (),
    keep_captures: bool = False,
    keep_costs: bool = False,
    torch_logs: str = "",
    export_formats: bool = False,
    fixed: tuple[str, ...] = (),
) -> Job:
    """Runs one job on `text`, or on what `path` holds."""
    if text is None:
        text = path.read_bytes().decode("utf-8")
    request = JobRequest(
        job=1,
        path=str(path),
        text=text,
        project_root=str(root or path.parent),
        stages=list(stages),
        profile=load_document(accelerator),
        targets=list(targets),
        memory_limit=memory_limit,
        keep_graphs=keep_graphs,
        trace_tensors=trace_tensors,
        entries=[Entry(expression) for expression in entries],
        follow_main=follow_main,
        argv=list(argv),
        keep_captures=keep_captures,
        keep_costs=keep_costs,
        torch_logs=torch_logs,
        export_formats=export_formats,
        fixed=list(fixed),
    )
    events: list[Event] = []

    def work() -> list[Event]:
        session.analyze(request, events.append)
        return events

    result, output = in_child(work)
    return Job(result, output, text, str(path))


def in_child(work: Callable[[], Any]) -> tuple[Any, str]:
    """Runs `work` in a forked child; its result, and what it wrote. Fails where the child raised or died."""
    with tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as output:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _run(work, result.fileno(), output.fileno())
        _, status = os.waitpid(child, 0)
        output.seek(0)
        log = output.read().decode("utf-8", "replace")
        result.seek(0)
        payload = result.read()
    assert status == 0, f"the job died (status {status}):\n{log}"
    return pickle.loads(payload), log


def _forget_threads() -> None:
    """Has Inductor make threads of its own: those that an earlier test of this process left it are not in a child.

    Private: `torch._inductor.async_compile.AsyncCompile.pool`, which no fork resets in torch 2.11 to 2.15.
    """
    compiling = sys.modules.get("torch._inductor.async_compile")
    if compiling is not None:
        compiling.AsyncCompile.pool.cache_clear()


def _run(work: Callable[[], Any], result: int, output: int) -> None:
    code = 1
    try:
        signal.alarm(TIMEOUT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1, closefd=False), os.fdopen(2, "w", closefd=False)
        _forget_threads()
        os.write(result, pickle.dumps(work()))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
