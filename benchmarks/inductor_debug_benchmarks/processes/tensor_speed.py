"""Measures the numeric core for `bench numerics`: run as a module, it prints one JSON object.

Ratios come from one process, the two sides by turns, so that both meet the same machine, and from medians, so that no
single turn in which the machine had something else to do decides. Nothing else uses this.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from inductor_debug.accelerators.number_formats import BFLOAT16, FLOAT8_E4M3FN, FLOAT16, SEN169_FP16
from inductor_debug.capture.tensors.rounding import rounded
from inductor_debug.kerneldiff.metrics.tensor_comparison import compare_tensors

_TURNS = 7
_ROUNDED_TURNS = 3
_ROUNDED = 1 << 25


def measure(elements: int) -> dict[str, Any]:
    """Compares pairs of float32 tensors of that many elements, and rounds 2**25 of them."""
    torch.manual_seed(0)
    reference = torch.randn(elements)
    noise = torch.randn(elements).mul_(1e-5)
    pairs: dict[str, Any] = {"unrelated noise": noise.add_(reference), "relative noise": reference * (1 + 1e-6)}
    plain: list[float] = []
    ours: dict[str, list[float]] = {name: [] for name in pairs}
    extra = 0
    for _ in range(_TURNS):
        for name, actual in pairs.items():
            plain.append(_seconds(lambda actual=actual: (reference - actual).abs().max()))  # type: ignore[misc]
            before = _reset_peak()
            ours[name].append(_seconds(lambda actual=actual: compare_tensors(reference, actual)))  # type: ignore[misc]
            extra = max(extra, _peak() - before)
    threads = torch.get_num_threads()
    return {
        "elements": elements,
        "threads": threads,
        "plain_seconds": statistics.median(plain),
        "compare_seconds": {name: statistics.median(seconds) for name, seconds in ours.items()},
        "extra_bytes": extra if Path("/proc/self/status").exists() else None,
        "rounded_per_second": _rounding(),
    }


def _rounding() -> dict[str, float]:
    """Elements a second on one core, by format."""
    torch.set_num_threads(1)
    values = torch.randn(_ROUNDED)
    found = {}
    for known in (SEN169_FP16, FLOAT16, BFLOAT16, FLOAT8_E4M3FN):
        best = min(_seconds(lambda known=known: rounded(values, known)) for _ in range(_ROUNDED_TURNS))  # type: ignore[misc]
        found[known.name] = _ROUNDED / best
    return found


def _seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _reset_peak() -> int:
    """Forgets the largest resident size so far (Linux); returns the size now, in bytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return 0
    return _status("VmRSS")


def _peak() -> int:
    return _status("VmHWM")


def _status(key: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:")), 0)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
