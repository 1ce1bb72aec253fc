"""`inductor-debug bench inductor`: what the inductor stage costs, against Inductor's own way to the same kernels."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from inductor_debug_benchmarks.measuring import COMPILED, medians_in_turns
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

_ROUNDS = 3
_PROMISED = 1.2
_PROMISED_CARD = 1.3


@dataclass(frozen=True, slots=True)
class InductorRow:
    """Medians in seconds for one model: the stage with its document, and bare lowering up to the code.

    `card` is the stage that makes kernels for a GPU that is not there.
    """

    model: str
    stage: float
    card: float
    bare: float

    @property
    def ratio(self) -> float:
        """How much more the stage takes."""
        return self.stage / self.bare

    @property
    def card_ratio(self) -> float:
        """How much more kernels for a card take."""
        return self.card / self.bare


def run(models: list[str]) -> BenchmarkOutcome:
    """Measures those of the models that the stage is measured with."""
    rows = [measure(name) for name in models if name in COMPILED]
    return BenchmarkOutcome({"rows": [asdict(row) for row in rows]}, [kept for row in rows for kept in _promises(row)])


def measure(name: str) -> InductorRow:
    """Both runs of one model."""
    return InductorRow(
        name,
        *medians_in_turns(
            "inductor_debug_benchmarks.processes.bare_lowering", name, ("stage", "card", "bare"), _ROUNDS
        ),
    )


def _promises(row: InductorRow) -> list[Promise]:
    bare = f"bare lowering for this processor ({row.bare:.2f} s)"
    stage = f"{row.model}: inductor stage {row.stage:.2f} s, {row.ratio:.2f} x {bare} (at most {_PROMISED} x)"
    card = (
        f"{row.model}: kernels for a GPU {row.card:.2f} s, {row.card_ratio:.2f} x {bare} (at most {_PROMISED_CARD} x)"
    )
    return [(row.ratio <= _PROMISED, stage), (row.card_ratio <= _PROMISED_CARD, card)]
