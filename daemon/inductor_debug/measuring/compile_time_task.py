"""The task `compile time`: compiles targets without weights, as far as the code of kernels, under a clock.

Every target is compiled in a process of its own, so that none finds what another one left warm; where other ways are
asked for, in each of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from inductor_debug_schema import (
    Answered,
    CompileTimeDocument,
    CompileTimeTask,
    CompileWay,
    Event,
    Finding,
    JobRequest,
    Progressed,
)
from inductor_debug_schema.codec import from_wire, to_wire

from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile, on_targets
from inductor_debug.measuring.clocked_compile import ClockedCompile
from inductor_debug.measuring.compile_clock import Interval
from inductor_debug.measuring.compile_times import document_of
from inductor_debug.measuring.compile_trials import tried
from inductor_debug.repro.minimiser.attempts import AttemptEnding, attempt


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Answers with a `CompileTimeDocument` for each target."""
    task = request.task
    assert isinstance(task, CompileTimeTask)
    on_targets(request, emit, lambda opened, candidate: _time(opened, candidate, task))


def _time(opened: OpenFile, candidate: Candidate, task: CompileTimeTask) -> list[Finding]:
    def timed(way: CompileWay) -> CompileTimeDocument:
        return _timed(opened, candidate, way, task.compile_timeout)

    opened.emit(Progressed(f"{candidate.name}: compiling"))
    document = timed(CompileWay.AS_IT_IS)
    if task.ways:
        document = dataclasses.replace(document, tried=tried(opened, candidate, document, timed))
    opened.emit(Answered(candidate.name, document))
    return []


def _timed(opened: OpenFile, candidate: Candidate, way: CompileWay, timeout: float) -> CompileTimeDocument:
    """What one compilation took, in a process of its own."""

    def act() -> dict[str, Any]:
        document: dict[str, Any] = to_wire(ClockedCompile(opened, opened.fake(candidate), way).timed())
        return document

    ran = attempt(act, timeout=timeout)
    if ran.ending is AttemptEnding.DONE:
        return from_wire(CompileTimeDocument, ran.answer)
    return document_of(candidate.name, opened.request.path, Interval(), opened.sources, kinds={}, problem=ran.detail)
