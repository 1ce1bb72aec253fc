"""`inductor-debug bench inductor`: what the inductor stage costs, against Inductor's own way to the same kernels."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from inductor_debug_benchmarks.measuring import COMPILED, medians_in_turns
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

_ROUNDS = 3
_PROMISED = 1.2


@dataclass(frozen=True, slots=True)
class InductorRow:
    """Medians in seconds for one model: the stage with its document, and bare lowering up to the code."""

    model: str
    stage: float
    bare: float

    @property
    def ratio(self) -> float:
        """How much more the stage takes."""
        return self.stage / self.bare


def run(models: list[str]) -> BenchmarkOutcome:
    """Measures those of the models that the stage is measured with."""
    rows = [measure(name) for name in models if name in COMPILED]
    return BenchmarkOutcome({"rows": [asdict(row) for row in rows]}, [_promise(row) for row in rows])


def measure(name: str) -> InductorRow:
    """Both runs of one model."""
    return InductorRow(
        name, *medians_in_turns("inductor_debug_benchmarks.processes.bare_lowering", name, ("stage", "bare"), _ROUNDS)
    )


def _promise(row: InductorRow) -> Promise:
    text = f"{row.model}: inductor stage {row.stage:.2f} s, {row.ratio:.2f} x bare lowering ({row.bare:.2f} s)"
    return row.ratio <= _PROMISED, f"{text} (at most {_PROMISED} x)"
