"""What a stage hands back, shared by all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from inductor_debug_schema import ArtifactMade, Finding, GraphDocument, Location, Shortfall, StageReport

from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.node_facts.record import OpFacts
from inductor_debug.capture.running.instruction_watching import Ran
from inductor_debug.capture.running.raising import Raising
from inductor_debug.rules.recording.ops import Recording
from inductor_debug.rules.recording.statistics import KernelCost


@dataclass(frozen=True, slots=True)
class MeasuredStage:
    """What statistics are of: operations, and the kernels that they became."""

    recording: Recording
    kernels: list[KernelCost] | None = None


@dataclass(frozen=True, slots=True)
class StageEnding:
    """How a run of a target ended: with findings, or for a reason of ours at the place `at`, which `notes` describe.

    `unsure` says that a finding is an exception which nobody but this run has shown.
    """

    findings: list[Finding]
    notes: list[str] = field(default_factory=list)
    shortfall: Shortfall | None = None
    at: Location | None = None
    unsure: bool = False

    @property
    def retry_real(self) -> bool:
        """Whether only fake tensors could not go on."""
        return self.shortfall is not None


@dataclass
class StageOutcome:
    """One stage of one target.

    `report` does not know its seconds: the session does, which also knows what building took. `findings` are about the
    run itself (an exception, a graph break); rules are judged later, on `recording`. `retry_real` says that fake
    tensors could not go on: the code asks for a value, or for an operator that they cannot imitate. `graphs` makes the
    document of the captured graphs, given what is known of operations; it is called only where somebody
    wants to see or keep them, after the findings were sent. `measured` makes what statistics are of where that is not
    `recording`, at the same time; `specs` adds to the document what its kernels ask of an accelerator with layouts.
    `extras` are further artifacts, `kept` those that are told only
    where graphs are kept, too. `unfinished` are the places of the expressions that an exception went through: they gave
    nothing. `ran` is what ran of the file, if it was watched. `leaves_changes` says that the run leaves Python objects
    changed that were there before, so that another one may not be as it was. `unsure` says that a `capture-error` is of
    an exception that may be raised for the recording alone. `raising` is where the user's code raised, if it did.
    """

    recording: Recording
    report: StageReport
    findings: list[Finding]
    retry_real: bool
    graphs: Callable[[OpFacts], GraphDocument] | None = None
    measured: Callable[[], MeasuredStage] | None = None
    specs: Callable[[GraphDocument, Profile], GraphDocument] | None = None
    extras: list[ArtifactMade] = field(default_factory=list)
    kept: list[ArtifactMade] = field(default_factory=list)
    unfinished: frozenset[Location] = frozenset()
    ran: Ran | None = None
    leaves_changes: bool = False
    unsure: bool = False
    raising: Raising | None = None

    def document(self, facts: OpFacts, profile: Profile) -> GraphDocument:
        """The document of the graphs, for an accelerator; only where there are `graphs`."""
        assert self.graphs is not None
        document = self.graphs(facts)
        return self.specs(document, profile) if self.specs is not None and profile.has_layouts else document
