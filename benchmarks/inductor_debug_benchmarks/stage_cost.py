"""`inductor-debug bench stages`: what the aot stage costs, against AOTAutograd alone on the same fake model."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from inductor_debug_benchmarks.measuring import COMPILED, medians_in_turns
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

_ROUNDS = 5
_LARGE = "bert"
_PROMISED_RATIO = 1.15
_PROMISED_SECONDS = 6.0
"""Until BERT-base's training graphs are captured, checked and stored; holds on the machine it was promised for."""


@dataclass(frozen=True, slots=True)
class StageRow:
    """Medians in seconds for one model: AOTAutograd alone, the stage with its judgement, and the same stored."""

    model: str
    bare: float
    stage: float
    stored: float

    @property
    def ratio(self) -> float:
        """How much more the stage takes."""
        return self.stage / self.bare


def run(models: list[str]) -> BenchmarkOutcome:
    """Measures those of the models that the stage is measured with."""
    rows = [measure(name) for name in models if name in COMPILED]
    return BenchmarkOutcome(
        {"rows": [asdict(row) for row in rows]}, [promise for row in rows for promise in promises_of(row)]
    )


def measure(name: str) -> StageRow:
    """All runs of one model."""
    return StageRow(
        name,
        *medians_in_turns(
            "inductor_debug_benchmarks.processes.bare_autograd", name, ("bare", "stage", "stored"), _ROUNDS
        ),
    )


def promises_of(row: StageRow) -> list[Promise]:
    """What we promise of one model, each with whether this run kept it."""
    text = f"{row.model}: aot stage {row.stage:.2f} s, {row.ratio:.2f} x bare AOTAutograd ({row.bare:.2f} s)"
    said = [(row.ratio <= _PROMISED_RATIO, f"{text} (at most {_PROMISED_RATIO} x)")]
    if row.model == _LARGE:
        text = f"{row.model}: training graphs captured, checked and stored in {row.stored:.2f} s"
        said.append((row.stored <= _PROMISED_SECONDS, f"{text} (at most {_PROMISED_SECONDS:.0f} s)"))
    return said
