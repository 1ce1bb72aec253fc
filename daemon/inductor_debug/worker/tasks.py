"""What carries out each task: the one place that knows which room answers for which.

A task's module is imported in the worker, after the fork: what is not asked for costs nobody anything.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import cast

from inductor_debug_schema import Event, JobRequest, Task

from inductor_debug.capture.session import analyze

Perform = Callable[[JobRequest, Callable[[Event], None]], None]

_MODULES = {
    Task.DIFF: "inductor_debug.kerneldiff.task",
    Task.REPRO: "inductor_debug.repro.task",
    Task.BISECT: "inductor_debug.repro.bisect_task",
    Task.TRANSFERS: "inductor_debug.repro.transfers_task",
}
"""Modules with a function `perform(request, emit)`. It never raises for a fault of user code."""


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Does what the request asks for, and emits what comes of it; ends with `Finished`."""
    if request.task is Task.ANALYZE:
        analyze(request, emit)
        return
    module = importlib.import_module(_MODULES[request.task])
    cast("Perform", module.perform)(request, emit)
