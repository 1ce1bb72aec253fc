"""`inductor-debug bench kerneldiff`: what comparing every operation of BERT-base costs beside running it plainly."""

from __future__ import annotations

from typing import Any

from inductor_debug_benchmarks.measuring import MODELS, measured_by
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

MOST = 3.0
"""Times a plain interpretation that an isolated comparison of every operation may take."""


def run() -> BenchmarkOutcome:
    """Measures in a process that holds torch."""
    result = measured_by("inductor_debug_benchmarks.processes.node_speed", str(MODELS / "bert.py"))
    lines = [f"{result['model']}: {result['nodes']} operations, {result['threads']} threads"]
    lines += [f"  {name}: {value * 1000:.0f} ms" for name, value in result["seconds"].items()]
    return BenchmarkOutcome(result, promises(result), lines)


def promises(result: dict[str, Any]) -> list[Promise]:
    """What we promise, each with whether this run kept it."""
    seconds = result["seconds"]
    return [
        (
            seconds["eager"] <= MOST * seconds["plain"],
            f"isolated comparison of every operation of {result['model']}: {seconds['eager'] / seconds['plain']:.2f} "
            f"of a plain interpretation (at most {MOST:g})",
        )
    ]
