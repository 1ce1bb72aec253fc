"""`inductor-debug bench inductor`: what the inductor stage costs, against Inductor's own way to the same kernels."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

MODELS = Path(__file__).parent / "models"
KNOWN = ("mlp", "attention", "bert")
_ROUNDS = 3
_PROMISED = 1.2


@dataclass(frozen=True, slots=True)
class Row:
    """Medians in seconds for one model: the stage with its document, and bare lowering up to the code."""

    model: str
    stage: float
    bare: float

    @property
    def ratio(self) -> float:
        """How much more the stage takes."""
        return self.stage / self.bare


def run(models: list[str], output_format: str) -> int:
    """Runs the benchmark and prints it; 0 when the promise was kept, 1 when it was not."""
    rows = [measure(name) for name in models if name in KNOWN]
    if output_format == "json":
        promises = [{"kept": kept, "promise": text} for kept, text in map(_promise, rows)]
        print(json.dumps({"schema": 1, "rows": [asdict(row) for row in rows], "promises": promises}, indent=2))
    else:
        print("\n".join(f"{'kept  ' if kept else 'BROKEN'}  {text}" for kept, text in map(_promise, rows)))
    return 0 if all(kept for kept, _ in map(_promise, rows)) else 1


def _promise(row: Row) -> tuple[bool, str]:
    text = f"{row.model}: inductor stage {row.stage:.2f} s, {row.ratio:.2f} x bare lowering ({row.bare:.2f} s)"
    return row.ratio <= _PROMISED, f"{text} (at most {_PROMISED} x)"


def measure(name: str) -> Row:
    """Both runs of one model, in turns."""
    print(f"{name}: stage and bare lowering in turns", file=sys.stderr, flush=True)
    seconds: dict[str, list[float]] = {"stage": [], "bare": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / f"{name}.py"
        path.write_bytes((MODELS / path.name).read_bytes())
        command = [sys.executable, "-m", "inductor_debug.worker.bare_lowering", str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for _ in range(_ROUNDS):
                for what, found in seconds.items():
                    print(what, file=process.stdin, flush=True)
                    found.append(float(process.stdout.readline()))
            process.stdin.close()
    return Row(name, statistics.median(seconds["stage"]), statistics.median(seconds["bare"]))
