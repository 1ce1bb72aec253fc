"""What carries out each task: the one place that knows which room answers for which.

A task's module is imported in the worker, after the fork: what is not asked for costs nobody anything.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    BisectTask,
    CompileKernelsTask,
    CompileTimeTask,
    DiffTask,
    Event,
    Finished,
    JobRequest,
    MeasureTask,
    ProfileRunTask,
    ReproTask,
    SameResultsTask,
    SuggestTask,
    TransfersTask,
)
from inductor_debug_schema.job_tasks import DebugTask

from inductor_debug.capture.runtime.absent_libraries import leave_unbuilt
from inductor_debug.capture.runtime.containment import contain
from inductor_debug.capture.runtime.trace_log import structured_trace
from inductor_debug.capture.session import analyze
from inductor_debug.source.notebooks.reading import open_cells
from inductor_debug.worker.landlock import restrict
from inductor_debug.worker.looking import Looked

Perform = Callable[[JobRequest, Callable[[Event], None]], None]

_MODULES: dict[type, str] = {
    DiffTask: "inductor_debug.kerneldiff.diff_task",
    ReproTask: "inductor_debug.repro.repro_task",
    BisectTask: "inductor_debug.repro.bisect.bisect_task",
    TransfersTask: "inductor_debug.repro.bisect.transfers_task",
    SameResultsTask: "inductor_debug.kerneldiff.same_results",
    SuggestTask: "inductor_debug.capture.suggestions.suggest_task",
    CompileKernelsTask: "inductor_debug.capture.gpu_kernels.compile_task",
    MeasureTask: "inductor_debug.measuring.measure_task",
    ProfileRunTask: "inductor_debug.measuring.profile_task",
    CompileTimeTask: "inductor_debug.measuring.compile_time_task",
    DebugTask: "inductor_debug.debugging.debug_task",
}
"""Modules with a function `perform(request, emit)`. It never raises for a fault of user code."""
_UNASKED = (type(None), SameResultsTask)
"""What runs without anybody's asking, and compiles nothing: analyses, and the task that proves fixes."""


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Does what the request asks for, and emits what comes of it; ends with `Finished`."""
    looked = Looked(request.scratch)
    open_cells(request.path, request.text, request.cells)
    _contain(request)
    if request.task is None:
        act = _analyze_traced if request.keep_trace else analyze
        act(request, lambda event: emit(_with_looks(event, looked)))
        return
    module = importlib.import_module(_MODULES[type(request.task)])
    cast("Perform", module.perform)(request, emit)


def _with_looks(event: Event, looked: Looked) -> Event:
    return replace(event, looked_at=looked.paths()) if isinstance(event, Finished) else event


def _contain(request: JobRequest) -> None:
    """Keeps the user's code from touching the world; what a backend builds is kept where it was kept before."""
    if not request.scratch:
        return
    if isinstance(request.task, _UNASKED):
        restrict([request.scratch], files="write" not in request.allow, network="network" not in request.allow)
    else:  # compilers write where they please
        names = importlib.import_module("torch._inductor.runtime.cache_dir_utils")
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", names.default_cache_dir())
    contain(request.scratch, request.allow)
    leave_unbuilt(request.allow)


def _analyze_traced(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """An analysis that also sends torch's structured trace of it, before it says that it has finished."""
    last: list[Event] = []
    with structured_trace() as log:
        analyze(request, lambda event: last.append(event) if isinstance(event, Finished) else emit(event))
    if log.text:
        content = log.text.encode("utf-8", "replace")
        emit(ArtifactMade(ArtifactKind.REPORTS, "torch trace", ".log", "text/plain", content))
    for event in last:
        emit(event)
