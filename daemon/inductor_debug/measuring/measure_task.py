"""The task `measure`: compiles and runs the targets of a file with a clock, each time in a process of its own.

A compilation is cold in a process with empty caches, and warm in one that finds what a cold one left; torch itself is
imported already in both. What crashes or hangs there is told, and the file's other targets are measured all the same.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch
from inductor_debug_schema import (
    Answered,
    CompileTime,
    Event,
    Finding,
    JobRequest,
    MeasurementDocument,
    MeasureTask,
)

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile, on_targets
from inductor_debug.kerneldiff.emulation.backends import Backend, UnknownBackendError, not_compared, resolve
from inductor_debug.measuring.compile_phases import forget_phases, phases_of
from inductor_debug.measuring.own_process import NotMeasuredError, in_own_process, require_room
from inductor_debug.measuring.timed_runs import added_bytes, device_of, in_turn, step_of, threads


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Answers with a `MeasurementDocument` for each target."""
    task = request.task
    assert isinstance(task, MeasureTask)
    on_targets(request, emit, lambda opened, candidate: _measure(opened, candidate, task))


def _measure(opened: OpenFile, candidate: Candidate, task: MeasureTask) -> list[Finding]:
    document = MeasurementDocument(
        schema=1,
        target=candidate.name,
        measured_backend=task.measured_backend,
        training=task.training,
        device="",
        threads=threads(),
        cold=[],
        warm=[],
        seconds=[],
        eager_seconds=[],
        peak_bytes=None,
        eager_peak_bytes=None,
        problem="",
    )
    try:
        require_room(opened, candidate, "a measurement")
        backend = resolve(task.measured_backend, opened.request.profile, opened.loaded.module)
        document = _Measurement(opened, candidate, task, backend).made(document)
    except (NotMeasuredError, UnknownBackendError) as error:
        words = str(error) if isinstance(error, NotMeasuredError) else not_compared(error)
        document = dataclasses.replace(document, problem=words)
    opened.emit(Answered(candidate.name, document))
    return []


class _Measurement:
    """One backend on one target."""

    def __init__(self, opened: OpenFile, candidate: Candidate, task: MeasureTask, backend: Backend) -> None:
        if not backend.is_eager and backend.graph_compiler is None:
            raise NotMeasuredError(f"{backend.name} is emulated here, so how long it takes says nothing")
        self._opened, self._candidate, self._task, self._backend = opened, candidate, task, backend

    def made(self, document: MeasurementDocument) -> MeasurementDocument:
        """All processes one after the other: cold ones, each followed by a warm one; the first also runs."""
        if self._backend.is_eager:
            return dataclasses.replace(document, **self._in_process("running eager", self._runs, None))
        with tempfile.TemporaryDirectory(dir=self._opened.request.scratch or None) as folder:
            for number in range(max(self._task.compiles, 1)):
                cache = os.path.join(folder, str(number))
                said = self._in_process(
                    "compiling, with empty caches", self._runs if not number else self._compiles, cache
                )
                document = _with(document, said, "cold")
                said = self._in_process("compiling again", self._compiles, cache)
                document = _with(document, said, "warm")
        return document

    def _in_process(
        self, doing: str, work: Callable[[BuiltTarget], dict[str, Any]], cache: str | None
    ) -> dict[str, Any]:
        return in_own_process(self._opened, self._candidate, self._backend.name, doing, work, cache)

    def _compiled(self, target: BuiltTarget) -> tuple[Callable[..., Any], dict[str, Any]]:
        """The compiled function, and how long its first step took."""
        torch._dynamo.reset()
        compiler = self._backend.graph_compiler
        assert compiler is not None
        function = torch.compile(target.function, backend=compiler, dynamic=target.dynamic)
        step = step_of(target, function, training=self._task.training)
        forget_phases()
        with quiet(freeze=False):
            started = time.perf_counter()
            step()
            seconds = time.perf_counter() - started
        return function, {"seconds": round(seconds, 6), "phases": phases_of(seconds)}

    def _compiles(self, target: BuiltTarget) -> dict[str, Any]:
        return {"compiled": self._compiled(target)[1]}

    def _runs(self, target: BuiltTarget) -> dict[str, Any]:
        task, device = self._task, device_of(target)
        eager = step_of(target, target.function, training=task.training)
        if self._backend.is_eager:
            times = in_turn([eager], device, repeats=task.repeats, seconds=task.seconds)
            peak = added_bytes(eager, device)
            return {
                "device": device.type,
                "seconds": times[0].seconds,
                "eager_seconds": times[0].seconds,
                "peak_bytes": peak,
                "eager_peak_bytes": peak,
            }
        function, compiled = self._compiled(target)
        step = step_of(target, function, training=task.training)
        times = in_turn([step, eager], device, repeats=task.repeats, seconds=task.seconds)
        return {
            "compiled": compiled,
            "device": device.type,
            "seconds": times[0].seconds,
            "eager_seconds": times[1].seconds,
            "peak_bytes": added_bytes(step, device),
            "eager_peak_bytes": added_bytes(eager, device),
        }


def _with(document: MeasurementDocument, said: dict[str, Any], kind: str) -> MeasurementDocument:
    compiled = said.pop("compiled")
    times = [*getattr(document, kind), CompileTime(seconds=compiled["seconds"], phases=compiled["phases"])]
    changes: dict[str, Any] = {kind: times, **said}
    return dataclasses.replace(document, **changes)
