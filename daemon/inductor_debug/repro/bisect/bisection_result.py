"""What a bisection is asked for, and what it answers: rungs, verdict, the guilty operation. Nothing runs here."""

from __future__ import annotations

from dataclasses import dataclass, field

from inductor_debug_schema import BisectDocument, BisectGuilty, BisectRung, Location

from inductor_debug.kerneldiff.judging.diff_report import DiffReport
from inductor_debug.repro.bisect.ladder import EAGER, BackendRung, Layer, State, is_about_the_environment


@dataclass(frozen=True)
class BisectionOptions:
    """What to climb. `reference` is what every rung is compared with; two accelerators are compared by naming both."""

    reference: str = "eager"
    backends: tuple[str, ...] = ()
    seed: int = 0
    gradients: bool | None = None
    passes: bool = True
    inject: tuple[str, ...] = ()
    time_limit: float = 300.0


@dataclass(frozen=True)
class TriedRung:
    """One rung and how it ended.

    `report` is the comparison with `reference`, where there was one; `versions` are those that it ran with, by package.
    """

    rung: BackendRung
    state: State
    why: str
    seconds: float
    report: DiffReport | None = None
    place: Location | None = None
    subject: str = ""
    reference: str = EAGER.backend
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def is_missing(self) -> bool:
        """Whether it could not be tried, for want of something on this machine."""
        return self.state is State.FAILED and is_about_the_environment(self.why)

    def on_wire(self) -> BisectRung:
        """A rung of the contract's `bisect` document."""
        return BisectRung(
            self.rung.backend, self.rung.adds, self.state, self.why, round(self.seconds, 3), self.versions
        )


@dataclass
class Bisection:
    """What a climb found."""

    target: str
    ladder: list[TriedRung] = field(default_factory=list)
    verdict: Layer = Layer.NONE
    guilty: BisectGuilty | None = None
    commands: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def document(self) -> BisectDocument:
        """The contract's `bisect` document."""
        return BisectDocument(
            schema=1,
            target=self.target,
            ladder=[tried.on_wire() for tried in self.ladder],
            verdict=self.verdict,
            guilty=self.guilty,
            commands=self.commands,
            notes=self.notes,
        )
