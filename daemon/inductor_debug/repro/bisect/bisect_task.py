"""The task `bisect`: climbs the ladder of backends with every target that is meant, with a document for each."""

from __future__ import annotations

import json
from collections.abc import Callable

from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    BisectPiece,
    BisectTask,
    Event,
    Finding,
    JobRequest,
    PartlyAnswered,
    Progressed,
    to_wire,
)

from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile, on_targets
from inductor_debug.kerneldiff.execution.run_state import seed_everything
from inductor_debug.repro.bisect.bisection import Bisector
from inductor_debug.repro.bisect.bisection_result import Bisection, BisectionOptions, TriedRung
from inductor_debug.repro.bisect.ladder import EAGER, Layer, State


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Bisects every target that is meant, as `request.task`, a `BisectTask`, says."""
    task = request.task
    assert isinstance(task, BisectTask)
    on_targets(request, emit, lambda opened, candidate: _bisect(opened, candidate, task))


def _bisect(opened: OpenFile, candidate: Candidate, task: BisectTask) -> list[Finding]:
    wanted = _wanted(task, opened.request.seed)
    opened.emit(Progressed(f"building {candidate.name} with values"))
    seed_everything(wanted.seed)
    target = opened.real(candidate)
    if isinstance(target, str):
        result = Bisection(candidate.name, [TriedRung(EAGER, State.FAILED, target, 0.0)], Layer.ENVIRONMENT)
    else:
        climb = Bisector(
            target,
            opened.sources,
            opened.profile,
            task.profiles or {opened.profile.name: opened.request.profile},
            task.accelerator,
            wanted,
            lambda message: opened.emit(Progressed(f"{candidate.name}: {message}")),
            lambda tried: opened.emit(PartlyAnswered(candidate.name, BisectPiece(ladder=[tried.on_wire()]))),
            opened.loaded.module,
        )
        opened.emit(PartlyAnswered(candidate.name, BisectPiece(ladder=[], planned=climb.planned)))
        with opened.builder.traced():
            result = climb.run()
    document = result.document()
    content = json.dumps(to_wire(document), indent=1).encode()
    opened.emit(
        ArtifactMade(ArtifactKind.REPORTS, "bisection", ".json", "application/json", content, target=candidate.name)
    )
    opened.emit(Answered(candidate.name, document))
    return []


def _wanted(task: BisectTask, seed: int) -> BisectionOptions:
    return BisectionOptions(
        reference=task.reference,
        backends=tuple(task.backends),
        seed=seed,
        gradients=task.gradients,
        passes=task.passes,
        inject=tuple(task.inject),
        time_limit=task.time_limit,
    )
