"""The task `bisect`: climbs the ladder of backends with every target that is meant, with a document for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    BisectPiece,
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
    """Bisects. Options of the request, all of which may be left out.

    `reference` and `backends` (names), `accelerator` (a name; climbed last), `seed`, `gradients`, `passes` (search
    Inductor's passes, default true), `inject` (faults for an emulated accelerator), `time_limit` (seconds), `profiles`
    (accelerators' documents by name).
    """
    on_targets(request, emit, _bisect)


def _bisect(opened: OpenFile, candidate: Candidate) -> list[Finding]:
    options = opened.request.options
    wanted = _wanted(options)
    opened.emit(Progressed(f"building {candidate.name} with values"))
    seed_everything(wanted.seed)
    target = opened.real(candidate)
    if isinstance(target, str):
        result = Bisection(candidate.name, [TriedRung(EAGER, State.FAILED, target, 0.0)], Layer.ENVIRONMENT)
    else:
        accelerator = options.get("accelerator")
        climb = Bisector(
            target,
            opened.sources,
            opened.profile,
            dict(options.get("profiles") or {opened.profile.name: opened.request.profile}),
            str(accelerator) if accelerator else None,
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


def _wanted(options: dict[str, Any]) -> BisectionOptions:
    return BisectionOptions(
        reference=str(options.get("reference") or "eager"),
        backends=tuple(map(str, options.get("backends") or ())),
        seed=int(options.get("seed") or 0),
        gradients=options.get("gradients"),
        passes=bool(options.get("passes", True)),
        inject=tuple(map(str, options.get("inject") or ())),
        time_limit=float(options.get("time_limit") or 300.0),
    )
