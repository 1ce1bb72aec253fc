"""`inductor-debug bench costs`: what rules and bounds of a GPU add to the analysis of a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from inductor_debug_benchmarks.measuring import COMPILED, medians_in_turns
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

_ROUNDS = 5
_PROMISED = 0.05


@dataclass(frozen=True, slots=True)
class RuleRow:
    """Medians in seconds for one model: the aot stage, and all rules and costs for a GPU."""

    model: str
    stage: float
    rules: float

    @property
    def share(self) -> float:
        """What they add, as a part of the stage."""
        return self.rules / self.stage


def run(models: list[str]) -> BenchmarkOutcome:
    """Measures those of the models that the stages are measured with."""
    rows = [measure(name) for name in models if name in COMPILED]
    return BenchmarkOutcome({"rows": [asdict(row) for row in rows]}, [_promise(row) for row in rows])


def measure(name: str) -> RuleRow:
    """Both of one model."""
    module = "inductor_debug_benchmarks.processes.gpu_rules"
    return RuleRow(name, *medians_in_turns(module, name, ("stage", "rules"), _ROUNDS))


def _promise(row: RuleRow) -> Promise:
    text = (
        f"{row.model}: rules and bounds for a GPU {row.rules:.3f} s, {row.share:.1%} of the stage ({row.stage:.2f} s)"
    )
    return row.share <= _PROMISED, f"{text} (at most {_PROMISED:.0%})"
