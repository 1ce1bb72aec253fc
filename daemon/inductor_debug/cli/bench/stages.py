"""`inductor-debug bench stages`: what the aot stage costs, against AOTAutograd alone on the same fake model."""

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
_ROUNDS = 5
_LARGE = "bert"
_PROMISED_RATIO = 1.15
_PROMISED_SECONDS = 6.0
"""Until BERT-base's training graphs are captured, checked and stored; holds on the machine it was promised for."""


@dataclass(frozen=True, slots=True)
class Row:
    """Medians in seconds for one model: AOTAutograd alone, the stage with its judgement, and the same stored."""

    model: str
    bare: float
    stage: float
    stored: float

    @property
    def ratio(self) -> float:
        """How much more the stage takes."""
        return self.stage / self.bare


def run(models: list[str], output_format: str) -> int:
    """Runs the benchmark and prints it; 0 when every promise was kept, 1 when one was not."""
    rows = [measure(name) for name in models if name in KNOWN]
    promises = [promise for row in rows for promise in promises_of(row)]
    if output_format == "json":
        said = [{"kept": kept, "promise": text} for kept, text in promises]
        print(json.dumps({"schema": 1, "rows": [asdict(row) for row in rows], "promises": said}, indent=2))
    else:
        print("\n".join(f"{'kept  ' if kept else 'BROKEN'}  {text}" for kept, text in promises))
    return 0 if all(kept for kept, _ in promises) else 1


def promises_of(row: Row) -> list[tuple[bool, str]]:
    """What we promise of one model, each with whether this run kept it."""
    text = f"{row.model}: aot stage {row.stage:.2f} s, {row.ratio:.2f} x bare AOTAutograd ({row.bare:.2f} s)"
    said = [(row.ratio <= _PROMISED_RATIO, f"{text} (at most {_PROMISED_RATIO} x)")]
    if row.model == _LARGE:
        text = f"{row.model}: training graphs captured, checked and stored in {row.stored:.2f} s"
        said.append((row.stored <= _PROMISED_SECONDS, f"{text} (at most {_PROMISED_SECONDS:.0f} s)"))
    return said


def measure(name: str) -> Row:
    """All runs of one model, in turns."""
    print(f"{name}: bare AOTAutograd and the stage in turns", file=sys.stderr, flush=True)
    seconds: dict[str, list[float]] = {"bare": [], "stage": [], "stored": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / f"{name}.py"
        path.write_bytes((MODELS / path.name).read_bytes())
        command = [sys.executable, "-m", "inductor_debug.worker.bare_autograd", str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for _ in range(_ROUNDS):
                for what, found in seconds.items():
                    print(what, file=process.stdin, flush=True)
                    found.append(float(process.stdout.readline()))
            process.stdin.close()
    return Row(name, *(statistics.median(found) for found in seconds.values()))
