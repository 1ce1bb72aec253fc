"""What a stage hands back, shared by all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from inductor_debug_schema import ArtifactMade, Finding, GraphDocument, StageReport

from inductor_debug.rules.ops import Recording


@dataclass
class StageOutcome:
    """One stage of one target.

    `findings` are about the run itself (an exception, a graph break); rules are judged later, on `recording`.
    `retry_real` says that fake tensors could not go on: the code asks for a value, or for an operator that they cannot
    imitate. `backward` is what the backward pass does, where the stage looks at it: it is judged apart. `graphs` makes
    the document of the captured graphs; it is called only where somebody wants to keep them, after the findings were
    sent. `extras` are further artifacts.
    """

    recording: Recording
    report: StageReport
    findings: list[Finding]
    retry_real: bool
    backward: Recording | None = None
    graphs: Callable[[], GraphDocument] | None = None
    extras: list[ArtifactMade] = field(default_factory=list)
