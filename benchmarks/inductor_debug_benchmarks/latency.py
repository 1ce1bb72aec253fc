"""`inductor-debug bench latency`: how soon an edit becomes findings, against the least that it could cost.

Every figure of a row comes from the same run on the same machine: the daemon driven as an editor drives it, a bare
Dynamo trace of the same model on fake tensors in a warm process, and a cold script that compiles the same model with
`mock_backend`. Only their ratios say something beyond the machine they were taken on.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from inductor_debug.cli.support.console import CommandError
from inductor_debug.server.rpc.headless_client import HeadlessEditor

from inductor_debug_benchmarks.editor_session import TimedAnswer, Typist
from inductor_debug_benchmarks.measuring import MODELS, progress, stopwatch
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise
from inductor_debug_benchmarks.process_usage import peak_resident, resident_bytes, tree_seconds

SMALL = ("mlp", "cnn", "attention", "autoencoder", "mixer")
LARGE = ("bert", "llama70b")
COLD = (*SMALL, "bert")
"""Models that a cold script can compile with real weights on an ordinary machine."""

MOST_WORK = {"bert": 0.8, "llama70b": 0.5}
"""How much of a bare trace's processor time an analysis may take, preview included: equal layers are traced once."""
MOST_WORK_OF_SMALL = 1.4

_COLD_SCRIPT = """
import importlib.util, sys
import torch
from inductor_debug import mock_backend
spec = importlib.util.spec_from_file_location("model", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
torch.compile(module.Model(), backend=mock_backend)(*module.get_inputs())
"""


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """The medians for one model in seconds; `cold` is None where no cold script was run, `peak` is in bytes.

    `work` are the processor seconds of a whole analysis, `bare_work` those of the bare trace.
    """

    model: str
    first: float
    done: float
    bare: float
    again: float
    cold: float | None
    peak: int
    work: float
    bare_work: float


@dataclass(frozen=True, slots=True)
class LatencyResult:
    """A whole run; `initialize` in seconds from spawning the server, `initialize_work` in its processor seconds.

    `server` are its resident bytes after each model.
    """

    initialize: float
    initialize_work: float
    server: list[int | None]
    rows: list[LatencyRow]


def run(models: list[str], repeat: int) -> BenchmarkOutcome:
    """Runs the benchmark for the named models, `repeat` edits each; large models take fewer.

    Raises:
        CommandError: a model is not known.
    """
    unknown = [name for name in models if name not in (*SMALL, *LARGE)]
    if unknown:
        raise CommandError(f"unknown model {unknown[0]!r}; there are: {', '.join(SMALL + LARGE)}")
    result = asyncio.run(_measure(models, max(1, repeat)))
    return BenchmarkOutcome(asdict(result), promises(result), _table(result.rows))


async def _measure(models: list[str], repeat: int) -> LatencyResult:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        started = time.perf_counter()
        async with HeadlessEditor() as editor:
            await editor.start(root)
            initialize, work = time.perf_counter() - started, tree_seconds(editor.process_id)
            rows: list[LatencyRow] = []
            server: list[int | None] = []
            for name in models:
                rows.append(await _row(editor, root, name, repeat))
                server.append(resident_bytes(editor.process_id))
    return LatencyResult(initialize, work, server, rows)


async def _row(editor: HeadlessEditor, root: Path, name: str, repeat: int) -> LatencyRow:
    path = root / f"{name}.py"
    path.write_bytes((MODELS / path.name).read_bytes())
    large = name in LARGE
    rounds = max(3, repeat // 5) if large else repeat
    progress(f"{name}: edits and bare traces in turns")
    typist = Typist(editor, path)
    over = asyncio.Event()
    peak = asyncio.create_task(peak_resident(editor.process_id, over))
    await typist.open()
    await typist.edit(-1)  # The first edit after `open` still teaches the fork server what the file imports.
    answers: list[TimedAnswer] = []
    bare: list[float] = []
    with stopwatch("inductor_debug_benchmarks.processes.bare_trace", path) as trace:
        await asyncio.to_thread(trace, "bare")
        # In turns, so that both see the same machine.
        for number in range(rounds):
            answers.append(await typist.edit(number))
            bare.append(await asyncio.to_thread(trace, "bare"))
    over.set()
    work, bare_work = await asyncio.to_thread(_processor_seconds, path, rounds)
    again = await typist.type_again()
    cold = None
    if name in COLD:
        progress(f"{name}: cold script")
        cold = await asyncio.to_thread(_cold, path)
    first = statistics.median(answer.first for answer in answers)
    done = statistics.median(answer.done for answer in answers)
    return LatencyRow(name, first, done, statistics.median(bare), again, cold, await peak, work, bare_work)


def _processor_seconds(path: Path, rounds: int) -> tuple[float, float]:
    """The medians of a whole analysis and of a bare trace, in turns and with nothing of ours beside them."""
    progress(f"{path.stem}: processor time of analyses and bare traces in turns")
    module = "inductor_debug_benchmarks.processes.{}".format
    whole: list[float] = []
    bare: list[float] = []
    with stopwatch(module("whole_analysis"), path) as analysis, stopwatch(module("bare_trace"), path) as trace:
        for _ in range(rounds):
            whole.append(analysis("whole"))
            bare.append(trace("work"))
    return statistics.median(whole), statistics.median(bare)


def _cold(path: Path) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", _COLD_SCRIPT, str(path)], capture_output=True, check=True)
    return time.perf_counter() - started


def _table(rows: list[LatencyRow]) -> list[str]:
    lines = [
        f"{'model':<12}{'first':>9}{'done':>9}{'bare':>9}{'done/bare':>11}{'work/bare':>11}{'cold':>9}"
        f"{'cold/first':>12}{'peak':>9}"
    ]
    for row in rows:
        cold = f"{row.cold:8.2f}s" if row.cold is not None else f"{'-':>9}"
        ratio = f"{row.cold / row.first:11.0f}x" if row.cold is not None else f"{'-':>12}"
        lines.append(
            f"{row.model:<12}{row.first:8.3f}s{row.done:8.3f}s{row.bare:8.3f}s{_over_bare(row):11.2f}"
            f"{row.work / row.bare_work:11.2f}{cold}{ratio}{row.peak / 1e6:7.0f}MB"
        )
    note = (
        "done/bare leaves 50 ms of the daemon's time out; work/bare compares processor time, whoever else is at work."
    )
    return [*lines, "", note]


def _over_bare(row: LatencyRow) -> float:
    return max(row.done - 0.05, 0.0) / row.bare


def promises(result: LatencyResult) -> list[Promise]:
    """What we promise, each with whether this run kept it. Only the ratios hold on any machine."""
    said: list[Promise] = []
    small = [row for row in result.rows if row.model in SMALL]
    if small:
        median = statistics.median(row.first for row in small)
        said.append((median <= 0.12, f"small models: change to first diagnostics {median:.3f} s (at most 0.12 s)"))
        fast = min(row.cold / row.first for row in small if row.cold is not None)
        said.append((fast >= 20, f"small models: {fast:.0f}x faster than a cold script (at least 20x)"))
    for row in result.rows:
        ratio, most = row.work / row.bare_work, MOST_WORK.get(row.model, MOST_WORK_OF_SMALL)
        said.append((ratio <= most, f"{row.model}: {ratio:.2f} x the processor time of bare Dynamo (at most {most} x)"))
        if row.model == "llama70b":
            said.append((row.first <= 1.5, f"{row.model}: first diagnostics in {row.first:.2f} s (at most 1.5 s)"))
            said.append((row.peak <= 10**9, f"{row.model}: worker {row.peak / 1e9:.2f} GB resident (at most 1 GB)"))
    work = result.initialize_work
    said.append((work <= 0.6, f"initialize answered after {work:.2f} s of processor time (at most 0.6 s)"))
    for of, models, most_bytes in (("small", SMALL, 70), ("large", LARGE, 120)):
        rows = zip(result.rows, result.server, strict=True)
        resident = [server for row, server in rows if row.model in models and server is not None]
        if resident:
            used = resident[-1] / 1e6
            said.append((used <= most_bytes, f"server {used:.0f} MB after {of} models (at most {most_bytes} MB)"))
    if result.rows:
        again = max(row.again for row in result.rows)
        said.append((again <= 0.02, f"unchanged text answered in {again * 1000:.0f} ms (at most 20 ms)"))
    return said
