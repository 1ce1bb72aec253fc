"""`inductor-debug bench inductor`: what the inductor stage costs, against Inductor's own way to the same kernels."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict, dataclass

from inductor_debug_benchmarks.measuring import COMPILED, MODELS, medians_in_turns, progress
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise
from inductor_debug_benchmarks.process_usage import peak_resident

_ROUNDS = 3
_PROMISED = 1.2
_PROMISED_CARD = 1.3
_PROMISED_BYTES = 2 << 30
_CARD = "h100"


@dataclass(frozen=True, slots=True)
class InductorRow:
    """Medians in seconds for one model: the stage with its document, and bare lowering up to the code.

    `card` is the stage that makes kernels for a GPU that is not there, and `card_bytes` the most memory that a process
    of the command takes which shows them; 0 where nobody can tell.
    """

    model: str
    stage: float
    card: float
    bare: float
    card_bytes: int

    @property
    def ratio(self) -> float:
        """How much more the stage takes."""
        return self.stage / self.bare

    @property
    def card_ratio(self) -> float:
        """How much more kernels for a card take."""
        return self.card / self.bare


def run(models: list[str]) -> BenchmarkOutcome:
    """Measures those of the models that the stage is measured with."""
    rows = [measure(name) for name in models if name in COMPILED]
    return BenchmarkOutcome({"rows": [asdict(row) for row in rows]}, [kept for row in rows for kept in _promises(row)])


def measure(name: str) -> InductorRow:
    """Both runs of one model."""
    stage, card, bare = medians_in_turns(
        "inductor_debug_benchmarks.processes.bare_lowering", name, ("stage", "card", "bare"), _ROUNDS
    )
    progress(f"{name}: memory")
    return InductorRow(name, stage, card, bare, asyncio.run(card_bytes(name)))


async def card_bytes(name: str) -> int:
    """The largest resident size of a process of `inductor-debug graph` while it makes kernels for a GPU.

    Raises:
        RuntimeError: it made none.
    """
    command = ("-m", "inductor_debug", "graph", str(MODELS / f"{name}.py"), "--stage", "inductor", "--format", "json")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *command, "--accelerator", _CARD, "--artifacts", "off"), stdout=asyncio.subprocess.PIPE
    )
    over = asyncio.Event()
    peak = asyncio.create_task(peak_resident(process.pid, over))
    output, _ = await process.communicate()
    over.set()
    if process.returncode or b"triton" not in output or b"backward" not in output:
        raise RuntimeError(f"no kernels were made: {process.returncode}")
    return await peak


def _promises(row: InductorRow) -> list[Promise]:
    bare = f"bare lowering for this processor ({row.bare:.2f} s)"
    stage = f"{row.model}: inductor stage {row.stage:.2f} s, {row.ratio:.2f} x {bare} (at most {_PROMISED} x)"
    card = (
        f"{row.model}: kernels for a GPU {row.card:.2f} s, {row.card_ratio:.2f} x {bare} (at most {_PROMISED_CARD} x)"
    )
    memory = f"{row.model}: kernels for a GPU took {row.card_bytes >> 20} MiB (at most {_PROMISED_BYTES >> 20} MiB)"
    return [
        (row.ratio <= _PROMISED, stage),
        (row.card_ratio <= _PROMISED_CARD, card),
        (row.card_bytes <= _PROMISED_BYTES, memory),
    ]
