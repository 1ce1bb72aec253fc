"""The task `debug`: runs targets compiled once, in a process of their own, and sends the files that came of it.

What the script of those files does later is `debugged_run`'s business; both stand on `stepping`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from inductor_debug_schema import (
    Answered,
    DebugDocument,
    Event,
    Finding,
    JobRequest,
    Location,
)
from inductor_debug_schema.answers.debug_document import DebugFile, DebugFileKind
from inductor_debug_schema.codec import from_wire, to_wire
from inductor_debug_schema.job_tasks import DebugTask

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile, on_targets
from inductor_debug.debugging.stepping import MOST_COMPARED, Stepping
from inductor_debug.debugging.vector_instructions import vector_instructions
from inductor_debug.kerneldiff.execution.node_graphs import NodePlaces, compiling
from inductor_debug.kerneldiff.execution.side_runs import SideRun, run_side
from inductor_debug.measuring.expectations import trains
from inductor_debug.measuring.own_process import NotMeasuredError, in_own_process, require_room
from inductor_debug.source.notebooks.reading import line_in_words
from inductor_debug.system.torch_names import with_settings

SESSION = "session.json"
"""The file of a folder that says how the target is made again."""
_NONE_THERE = "Nothing of {target} runs at {line}, or torch.compile computes it together with something else there."
_TOO_MANY = "{target} has {count} values: the compiled one is shown only of a line that is named (--line)."


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Answers with a `DebugDocument` for each target."""
    task = request.task
    assert isinstance(task, DebugTask)
    on_targets(request, emit, lambda opened, candidate: _debug(opened, candidate, task))


def _debug(opened: OpenFile, candidate: Candidate, task: DebugTask) -> list[Finding]:
    training = trains(opened, candidate)

    def work(target: BuiltTarget) -> dict[str, Any]:
        document: dict[str, Any] = to_wire(_made(opened, target, task, training=training))
        return document

    empty = DebugDocument(
        schema=1,
        target=candidate.name,
        path=opened.request.path,
        debug_files=[],
        stops=[],
        compared=0,
        notes=[],
    )
    try:
        require_room(opened, candidate, "a debugged run")
        said = in_own_process(opened, candidate, "inductor", "writing what it makes", work, timeout=task.debug_timeout)
        document = from_wire(DebugDocument, said)
    except NotMeasuredError as error:
        document = dataclasses.replace(empty, problem=str(error))
    opened.emit(Answered(candidate.name, document))
    return []


def _made(opened: OpenFile, target: BuiltTarget, task: DebugTask, *, training: bool) -> DebugDocument:
    """The files, made by a run without a debugger."""
    stepping = stepping_of(opened, target, at_line=task.at_line)
    ran = compiled_run(target, stepping, opened.request.seed, training=training)
    if ran.error is not None and not stepping.files:
        raise ran.error
    session = DebugFile(
        name=SESSION, file_kind=DebugFileKind.SESSION, text=_session(opened.request, target.name, training=training)
    )
    values = [stop for stop in stepping.stops if stop.name]
    at = stepping.at
    if at is None:
        compared = len(values) if len(values) <= MOST_COMPARED else 0
        note = "" if compared == len(values) else _TOO_MANY.format(target=target.name, count=len(values))
    else:
        compared = sum(1 for stop in values if stop.place is not None and at(stop.place))
        note = (
            ""
            if compared
            else _NONE_THERE.format(target=target.name, line=line_in_words(opened.request.path, task.at_line or 0))
        )
    notes = [note] if note else []
    if ran.error is not None:
        notes.append(f"The {ran.step} of the compiled run raised: {ran.complaint}")
    return DebugDocument(
        schema=1,
        target=target.name,
        path=opened.request.path,
        debug_files=[*stepping.files, session],
        stops=stepping.stops,
        compared=compared,
        notes=notes,
    )


def stepping_of(opened: OpenFile, target: BuiltTarget, *, at_line: int | None) -> Stepping:
    """The backend for a target; `at_line` of its file is what the compiled values are asked for."""
    path = opened.request.path

    def at(place: Location) -> bool:
        return place.path == path and place.range.start.line <= (at_line or 0) <= place.range.end.line

    places = NodePlaces(target, opened.sources)
    return Stepping(target.name, places, opened.sources, opened.request.seed, at=at if at_line is not None else None)


def compiled_run(target: BuiltTarget, stepping: Stepping, seed: int, *, training: bool) -> SideRun:
    """Runs the target compiled through `stepping`, with the random numbers that eager draws."""
    from torch._inductor import config

    torch._dynamo.reset()
    # Only while code is made does torch know where kernels come from, so what makes the files hits no cache.
    fresh = stepping.folder is None
    caches = with_settings(torch._functorch.config, enable_autograd_cache=False) if fresh else nullcontext()
    settings = {"fallback_random": True, **({"fx_graph_cache": False} if fresh else {})}
    with compiling(), config.patch(settings), caches, stepping.taking():
        function = torch.compile(target.function, backend=stepping.backend, dynamic=target.dynamic)
        return run_side(target, function, seed=seed, gradients=training)


def _session(request: JobRequest, target: str, *, training: bool) -> str:
    """All that a later process has to know to make the target of the file as it is then, of a notebook as it is now."""
    text = request.text if request.cells else ""  # which cells ran, and in what order, no file says
    asked = dataclasses.replace(request, text=text, task=None, only=[target], scratch="", allow=[])
    at_line = request.task.at_line if isinstance(request.task, DebugTask) else None
    # Inductor writes other loops for another number of threads.
    threads = torch.get_num_threads()
    said = {
        "request": to_wire(asked),
        "training": training,
        "at_line": at_line,
        "threads": threads,
        "vectors": vector_instructions(),
    }
    return json.dumps(said, indent=1) + "\n"
