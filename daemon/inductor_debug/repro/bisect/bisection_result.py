"""What a bisection is asked for, and what it answers: rungs, verdict, the guilty operation. Nothing runs here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from inductor_debug_schema import Location

from inductor_debug.kerneldiff.judging.diff_report import DiffReport
from inductor_debug.repro.bisect.ladder import EAGER, Layer, Rung, State


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
    """One rung and how it ended. `report` is the comparison with `reference`, where there was one."""

    rung: Rung
    state: State
    why: str
    seconds: float
    report: DiffReport | None = None
    place: Location | None = None
    subject: str = ""
    reference: str = EAGER.backend

    def to_dict(self) -> dict[str, Any]:
        """A rung of the contract's `bisect` document."""
        return {
            "backend": self.rung.backend,
            "adds": self.rung.adds,
            "state": self.state.value,
            "why": self.why,
            "seconds": round(self.seconds, 3),
        }


@dataclass
class Bisection:
    """What a climb found."""

    target: str
    ladder: list[TriedRung] = field(default_factory=list)
    verdict: Layer = Layer.NONE
    guilty: dict[str, Any] | None = None
    commands: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The contract's `bisect` document."""
        return {
            "schema": 1,
            "target": self.target,
            "ladder": [tried.to_dict() for tried in self.ladder],
            "verdict": self.verdict.value,
            "guilty": self.guilty,
            "commands": self.commands,
            "notes": self.notes,
        }
