"""`inductor-debug bench numerics`: what comparing tensors and rounding them costs, beside plain torch."""

from __future__ import annotations

from typing import Any

from inductor_debug_benchmarks.measuring import measured_by
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

ELEMENTS = 1 << 28
"""A pair of float32 tensors of 1 GB each."""

_MIB = 1 << 20


def run(elements: int = ELEMENTS) -> BenchmarkOutcome:
    """Measures in a process that holds torch."""
    result = measured_by("inductor_debug_benchmarks.processes.tensor_speed", str(elements))
    size, threads = result["elements"] * 4 / 1e9, result["threads"]
    lines = [f"pairs of {size:.2f} GB, {threads} threads: (a - b).abs().max() {result['plain_seconds']:.2f} s"]
    lines += [f"  compare_tensors, {name}: {seconds:.2f} s" for name, seconds in result["compare_seconds"].items()]
    lines += [
        f"  rounding to {name}: {speed / 1e6:.0f} million elements a second"
        for name, speed in result["rounded_per_second"].items()
    ]
    return BenchmarkOutcome(result, promises(result), lines)


def promises(result: dict[str, Any]) -> list[Promise]:
    """What we promise, each with whether this run kept it."""
    plain = result["plain_seconds"]
    said = [
        (
            seconds <= plain,
            f"all metrics of a pair with {name}: {seconds / plain:.2f} of (a - b).abs().max() (at most 1)",
        )
        for name, seconds in result["compare_seconds"].items()
    ]
    extra = result["extra_bytes"]
    if extra is not None:
        said.append((extra <= 64 * _MIB, f"{extra / _MIB:.0f} MB beside the tensors (at most 64)"))
    speed = result["rounded_per_second"]["sen169_fp16"]
    said.append(
        (speed >= 1e8, f"1-6-9 rounding: {speed / 1e6:.0f} million elements a second on one core (at least 100)")
    )
    return said
