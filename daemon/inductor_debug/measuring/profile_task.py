"""The task `profile`: runs steps of targets under `torch.profiler`, or reads a trace, and ties times to the source.

Each backend runs in a process of its own, which writes a Chrome trace; that is read as anybody's trace is. So what is
told of a run here and of a trace from elsewhere is made in one way.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from inductor_debug_schema import (
    Answered,
    Event,
    Finding,
    JobRequest,
    ProfileRunTask,
    Progressed,
    RunProfileDocument,
)
from torch.profiler import ProfilerActivity, profile, record_function

from inductor_debug.accelerators.profile import Profile, chosen_name
from inductor_debug.capture.gpu_kernels.absent_gpu import absent_gpu_of
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile, on_targets
from inductor_debug.kerneldiff.emulation.backends import Backend, UnknownBackendError, not_compared, resolve
from inductor_debug.measuring.expectations import Expectations, expectations_of, trains
from inductor_debug.measuring.own_process import NotMeasuredError, in_own_process, require_room
from inductor_debug.measuring.timed_runs import device_of, settle, step_of, threads, warmed_up
from inductor_debug.traces.call_trees import STEP
from inductor_debug.traces.chrome_trace import ON_DEVICE, Trace, TraceError, read_trace
from inductor_debug.traces.run_profiles import empty_profile, with_times

_MOST_STEPS = 200
_MOST_SECONDS_OF_TRACE = 20.0
"""A trace of more would be larger than anybody wants to read."""
_OF_TWO_MACHINES = "Times are of {}, and bounds of {}: two machines."


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Answers with a `RunProfileDocument` for each target and backend."""
    task = request.task
    assert isinstance(task, ProfileRunTask)
    on_targets(request, emit, lambda opened, candidate: _profile(opened, candidate, task))


def _profile(opened: OpenFile, candidate: Candidate, task: ProfileRunTask) -> list[Finding]:
    sides = [""] if task.trace else task.profiled_backends
    training = trains(opened, candidate) if task.training is None else task.training
    for side in sides:
        document = dataclasses.replace(
            empty_profile(candidate.name, opened.request.path),
            side=side,
            trace=task.trace,
            training=training,
            accelerator=chosen_name(opened.request.profile) or "",
            title=opened.profile.title,
        )
        try:
            make = _read if task.trace else _recorded
            made = make(opened, candidate, task, document)
        except (NotMeasuredError, TraceError) as error:
            made = dataclasses.replace(document, problem=str(error))
        except UnknownBackendError as error:
            made = dataclasses.replace(document, problem=not_compared(error))
        opened.emit(Answered(candidate.name, made))
    return []


def _read(
    opened: OpenFile, candidate: Candidate, task: ProfileRunTask, document: RunProfileDocument
) -> RunProfileDocument:
    """The document of a trace that somebody recorded of the target."""
    opened.emit(Progressed(f"{candidate.name}: reading {os.path.basename(task.trace)}"))
    trace = read_trace(task.trace)
    compiled = any("CompiledFxGraph" in event.name or "_fused_" in event.name for event in trace.events)
    on_device = any(event.kind in ON_DEVICE for event in trace.events)
    return _told(opened, candidate, trace, document, fused=compiled, on_device=on_device)


def _recorded(
    opened: OpenFile, candidate: Candidate, task: ProfileRunTask, document: RunProfileDocument
) -> RunProfileDocument:
    """The document of steps that are run now."""
    require_room(opened, candidate, "a profile")
    backend = resolve(document.side, opened.request.profile, opened.loaded.module)
    if not backend.is_eager and backend.graph_compiler is None:
        raise NotMeasuredError(f"{backend.name} is emulated here, so how long it takes says nothing")
    with tempfile.TemporaryDirectory(dir=opened.request.scratch or None) as folder:
        path = os.path.join(folder, "trace.json")
        said = in_own_process(
            opened,
            candidate,
            backend.name,
            "running under torch.profiler",
            lambda target: _run(target, backend, task, training=document.training, path=path),
        )
        trace = read_trace(path)
    document = dataclasses.replace(document, device=said["device"], device_title=said["title"], threads=threads())
    fused = not backend.is_eager
    return _told(opened, candidate, trace, document, fused=fused, on_device=said["device"] != "cpu")


def _told(
    opened: OpenFile, candidate: Candidate, trace: Trace, document: RunProfileDocument, *, fused: bool, on_device: bool
) -> RunProfileDocument:
    opened.emit(Progressed(f"{candidate.name}: finding the expressions behind the times"))
    gpu = absent_gpu_of(opened.profile) if on_device else None
    known: Expectations = expectations_of(opened, candidate, training=document.training, lowered=fused, gpu=gpu)
    bound, ran_on = known.bound(fused=fused), document.device_title or ", ".join(trace.devices)
    document = dataclasses.replace(document, bound_seconds=bound, comparable=_may_be(opened.profile, ran_on, on_device))
    if bound is not None and not document.comparable:
        note = _OF_TWO_MACHINES.format(ran_on if on_device else "a CPU", opened.profile.title)
        document = dataclasses.replace(document, notes=[*document.notes, note])
    return with_times(document, trace, known.run, known.by_expression, opened.sources.excerpt, fused=fused)


def _may_be(profile: Profile, ran_on: str, on_device: bool) -> bool:
    """Whether the accelerator may be what computed: both are GPUs, and share the number in their names; or none is."""
    if profile.gpu is None or not on_device:
        return profile.gpu is None and not on_device
    numbers = [part for part in profile.name.lower().split("-") if any(character.isdigit() for character in part)]
    return not ran_on or not numbers or numbers[0] in ran_on.lower()


def _run(target: BuiltTarget, backend: Backend, task: ProfileRunTask, *, training: bool, path: str) -> dict[str, Any]:
    """Warms up, records steps, writes the trace to `path`; says what it ran on."""
    device = device_of(target)
    with _named_kernels():
        function = target.function
        if backend.graph_compiler is not None:
            torch._dynamo.reset()
            function = torch.compile(target.function, backend=backend.graph_compiler, dynamic=target.dynamic)
        step = step_of(target, function, training=training)
        with quiet(freeze=False):
            warmed_up(step)
            settle(device)
            started = time.perf_counter()
            step()
            settle(device)
            one = max(time.perf_counter() - started, 1e-6)
            activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device.type == "cuda" else [])]
            with profile(activities=activities) as recorded:
                for number in range(_steps(one, task)):
                    with record_function(f"{STEP}{number}"):
                        step()
                        settle(device)
            recorded.export_chrome_trace(path)
    title = torch.cuda.get_device_name(device) if device.type == "cuda" else ""
    return {"device": device.type, "title": title}


def _steps(one: float, task: ProfileRunTask) -> int:
    """How many steps are recorded, where one takes `one` second."""
    in_time = int(task.seconds / one)
    bearable = max(int(_MOST_SECONDS_OF_TRACE / one), 1)
    return min(max(task.steps, in_time), max(task.steps, _MOST_STEPS), bearable)


def _named_kernels() -> AbstractContextManager[None]:
    """Has C++ kernels say their names to the profiler, as Triton's do; where torch cannot, their time shows as idle."""
    from torch._inductor import config

    known = hasattr(config.cpp, "enable_kernel_profile")
    return config.patch({"cpp.enable_kernel_profile": True}) if known else nullcontext()
