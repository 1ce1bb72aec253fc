"""`inductor-debug bench kerneldiff`: what comparing every operation costs beside running the graph plainly.

The work is done in a process of its own; nothing here imports torch.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

MODEL = Path(__file__).with_name("models") / "bert.py"
"""BERT-base, 1 x 128, with random weights."""
MOST = 3.0
"""Times a plain interpretation that an isolated comparison of every operation may take."""


def run(output_format: str) -> int:
    """Runs the benchmark and prints it; 0 when the promise was kept, 1 when not, 2 if it could not run."""
    command = [sys.executable, "-m", "inductor_debug.kerneldiff.measuring_nodes", str(MODEL)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"bench: {done.stderr.strip() or 'the measuring process died'}", file=sys.stderr)
        return 2
    result = json.loads(done.stdout.splitlines()[-1])
    said = promises(result)
    if output_format == "json":
        kept = [{"kept": good, "promise": text} for good, text in said]
        print(json.dumps({"schema": 1, **result, "promises": kept}, indent=2))
    else:
        print(render(result, said))
    return 0 if all(good for good, _ in said) else 1


def promises(result: dict[str, Any]) -> list[tuple[bool, str]]:
    """What we promise, each with whether this run kept it."""
    seconds = result["seconds"]
    return [
        (
            seconds["eager"] <= MOST * seconds["plain"],
            f"isolated comparison of every operation of {result['model']}: {seconds['eager'] / seconds['plain']:.2f} "
            f"of a plain interpretation (at most {MOST:g})",
        )
    ]


def render(result: dict[str, Any], said: list[tuple[bool, str]]) -> str:
    """The figures, then the promises."""
    lines = [f"{result['model']}: {result['nodes']} operations, {result['threads']} threads"]
    lines += [f"  {name}: {value * 1000:.0f} ms" for name, value in result["seconds"].items()]
    return "\n".join([*lines, *(f"{'kept' if good else 'BROKEN'}: {text}" for good, text in said)])
