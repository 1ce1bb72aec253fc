"""The task `bisect`: climbs the ladder of backends with every target that is meant, with a document for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    Event,
    Finding,
    JobRequest,
    PartlyAnswered,
    Progressed,
)

from inductor_debug.capture.file_task import OpenFile, on_targets
from inductor_debug.capture.offers import Offer
from inductor_debug.kerneldiff.state import seed_everything
from inductor_debug.repro.bisection import Climb
from inductor_debug.repro.climbing import Bisection, Climbed, Wishes
from inductor_debug.repro.ladder import EAGER, Layer, State


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Bisects. Options of the request, all of which may be left out.

    `reference` and `backends` (names), `accelerator` (a name; climbed last), `seed`, `gradients`, `passes` (search
    Inductor's passes, default true), `inject` (faults for an emulated accelerator), `time_limit` (seconds), `profiles`
    (accelerators' documents by name).
    """
    on_targets(request, emit, _bisect)


def _bisect(opened: OpenFile, offer: Offer) -> list[Finding]:
    options = opened.request.options
    wishes = _wishes(options)
    opened.emit(Progressed(f"building {offer.name} with values"))
    seed_everything(wishes.seed)
    target = opened.real(offer)
    if isinstance(target, str):
        result = Bisection(offer.name, [Climbed(EAGER, State.FAILED, target, 0.0)], Layer.ENVIRONMENT)
    else:
        accelerator = options.get("accelerator")
        climb = Climb(
            target,
            opened.sources,
            opened.profile,
            dict(options.get("profiles") or {opened.profile.name: opened.request.profile}),
            str(accelerator) if accelerator else None,
            wishes,
            lambda message: opened.emit(Progressed(f"{offer.name}: {message}")),
            lambda climbed: opened.emit(PartlyAnswered(offer.name, {"ladder": [climbed.to_dict()]})),
            opened.loaded.module,
        )
        opened.emit(PartlyAnswered(offer.name, {"planned": climb.planned}))
        with opened.workshop.traced():
            result = climb.run()
    document = result.to_dict()
    content = json.dumps(document, indent=1).encode()
    opened.emit(
        ArtifactMade(ArtifactKind.REPORTS, "bisection", ".json", "application/json", content, target=offer.name)
    )
    opened.emit(Answered(offer.name, document))
    return []


def _wishes(options: dict[str, Any]) -> Wishes:
    return Wishes(
        reference=str(options.get("reference") or "eager"),
        backends=tuple(map(str, options.get("backends") or ())),
        seed=int(options.get("seed") or 0),
        gradients=options.get("gradients"),
        passes=bool(options.get("passes", True)),
        inject=tuple(map(str, options.get("inject") or ())),
        time_limit=float(options.get("time_limit") or 300.0),
    )
