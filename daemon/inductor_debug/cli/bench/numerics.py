"""`inductor-debug bench numerics`: what comparing tensors and rounding them costs, beside plain torch in the same run.

The work is done in a process of its own; nothing here imports torch.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

ELEMENTS = 1 << 28
"""A pair of float32 tensors of 1 GB each."""

_MIB = 1 << 20


def run(output_format: str, elements: int = ELEMENTS) -> int:
    """Runs the benchmark and prints it; 0 when every promise was kept, 1 when one was not, 2 if it could not run."""
    command = [sys.executable, "-m", "inductor_debug.kerneldiff.measuring", str(elements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"bench: {done.stderr.strip() or 'the measuring process died'}", file=sys.stderr)
        return 2
    result = json.loads(done.stdout)
    said = promises(result)
    if output_format == "json":
        kept = [{"kept": good, "promise": text} for good, text in said]
        print(json.dumps({"schema": 1, **result, "promises": kept}, indent=2))
    else:
        print(render(result, said))
    return 0 if all(good for good, _ in said) else 1


def promises(result: dict[str, Any]) -> list[tuple[bool, str]]:
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


def render(result: dict[str, Any], said: list[tuple[bool, str]]) -> str:
    """The figures, then the promises."""
    size, threads = result["elements"] * 4 / 1e9, result["threads"]
    lines = [f"pairs of {size:.2f} GB, {threads} threads: (a - b).abs().max() {result['plain_seconds']:.2f} s"]
    lines += [f"  compare_tensors, {name}: {seconds:.2f} s" for name, seconds in result["compare_seconds"].items()]
    lines += [
        f"  rounding to {name}: {speed / 1e6:.0f} million elements a second"
        for name, speed in result["rounded_per_second"].items()
    ]
    return "\n".join([*lines, *(f"{'kept  ' if good else 'BROKEN'}  {text}" for good, text in said)])
