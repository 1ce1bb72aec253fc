"""The task `transfers`: runs a target once with real values and logs what would cross to the accelerator and back.

The graphs run eagerly between their borders; only the transfers are what the accelerator's profile makes of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    Event,
    Finding,
    JobRequest,
    Location,
    NodeRole,
    Progressed,
    RoundTrip,
    TransfersDocument,
    TransfersTask,
    TransferSummary,
    to_wire,
)
from torch.fx import GraphModule

from inductor_debug.accelerators.profile import Profile, chosen_name, read_profile
from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.graphs.graph_arguments import GraphArgument
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.script_backends.transfer_log import TransferLog
from inductor_debug.capture.script_backends.transfers import Transfer
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile, on_targets


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Answers with one `transfers` document for each target, and keeps the log as JSON Lines."""
    on_targets(request, emit, _log)


def _log(opened: OpenFile, candidate: Candidate) -> list[Finding]:
    opened.emit(Progressed(f"building {candidate.name} with values"))
    target = opened.real(candidate)
    transfers: list[Transfer] = []
    # A model that does not fit, or has no real inputs, still has borders: they are described without values.
    problem = target if isinstance(target, str) else ""
    subject = opened.fake(candidate) if isinstance(target, str) else target
    opened.emit(Progressed(f"running {candidate.name}"))
    profile = _accelerator(opened)
    task = opened.request.task
    assert isinstance(task, TransfersTask)
    error = run_logged(subject, profile, transfers.append, task.values)
    document = document_of(candidate.name, profile.name, transfers, problem, error)
    opened.emit(Answered(candidate.name, replace(document, values=task.values)))
    lines = "".join(json.dumps(to_wire(transfer.on_wire())) + "\n" for transfer in transfers)
    opened.emit(
        ArtifactMade(
            ArtifactKind.REPORTS, "transfers", ".jsonl", "application/jsonl", lines.encode(), target=candidate.name
        )
    )
    return []


def _accelerator(opened: OpenFile) -> Profile:
    """The chosen accelerator, or the one that the order names for where none was chosen."""
    if chosen_name(opened.request.profile) is not None:
        return opened.profile
    task = opened.request.task
    assert isinstance(task, TransfersTask)
    return read_profile(task.otherwise)


def run_logged(target: BuiltTarget, profile: Profile, listener: Callable[[Transfer], None], values: int = 0) -> str:
    """Compiles and runs a target with its transfers told; returns what it raised, in one line, or ""."""
    log = TransferLog(profile, listener, values)

    def backend(graph_module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        return log.wrap(graph_module, lambda argument: _declared(target, argument))

    torch._dynamo.reset()
    try:
        with torch.set_grad_enabled(target.training):
            torch.compile(target.function, backend=backend, dynamic=target.dynamic)(*target.args, **target.kwargs)
    except (Exception, SystemExit) as error:
        return describe(error)
    return ""


def _declared(target: BuiltTarget, argument: GraphArgument) -> Location | None:
    """Where the user declared the parameter or buffer, or gave the inputs."""
    given = target.input_frames if argument.role is NodeRole.INPUT else ()
    return next((frame.location for frame in target.declarations.get(argument.name, given) if frame.in_project), None)


def document_of(
    target: str, accelerator: str, transfers: list[Transfer], problem: str, error: str
) -> TransfersDocument:
    """The `transfers` document. Bytes count every crossing; `changed` are tensors that do not come back as they were.

    `problem` says why values are missing, `error` what the target raised.
    """
    return TransfersDocument(
        schema=1,
        target=target,
        accelerator=accelerator,
        transfers=[transfer.on_wire() for transfer in transfers],
        summary=TransferSummary(
            transfers=len(transfers),
            host_bytes=sum(transfer.host_bytes for transfer in transfers),
            device_bytes=sum(transfer.device_bytes for transfer in transfers),
            changed=sum(transfer.came_back.outcome is RoundTrip.CHANGED for transfer in transfers),
            rounded=sum(transfer.came_back.outcome is RoundTrip.ROUNDED for transfer in transfers),
        ),
        problem=problem or None,
        error=error or None,
    )
