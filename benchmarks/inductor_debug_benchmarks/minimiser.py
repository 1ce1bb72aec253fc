"""The benchmark of reproducers: our minimiser beside torch's on the same failures, and a click on a finding in BERT.

The minimisers run in a process of their own, which holds torch (`processes.minimiser_speed`).
Nothing here decides what a failure is.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.orders.reproducing import made_of, order_for, proved
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.system.processes import descendants
from inductor_debug_schema import Event

from inductor_debug_benchmarks.editor_session import TOGGLE, TROUBLE
from inductor_debug_benchmarks.measuring import MODELS, measured_by
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

CLICK_SECONDS = 5.0
MOST_LINES = 5
CANCEL_SECONDS = 0.2
FEWEST_CASES = 20
_GIVE_UP_SECONDS = 5.0


def run(examples: str = "examples") -> BenchmarkOutcome:
    """The cases of both minimisers, and the seconds of a click and of a cancel in a warm daemon."""
    found = {
        **measured_by("inductor_debug_benchmarks.processes.minimiser_speed", examples),
        "click": asyncio.run(_clicks()),
    }
    return BenchmarkOutcome(found, promises(found), _table(found["cases"]))


async def _clicks() -> dict[str, Any]:
    """A `dtype` finding in BERT: click to proved script, and the time that a cancelled search takes to be gone."""
    settings_for = SettingsResolver(command_line={"accelerator": "mock", "artifacts": "off"}, environ=os.environ)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bert.py"
        path.write_text((MODELS / "bert.py").read_text(encoding="utf-8").replace(TOGGLE, TROUBLE), encoding="utf-8")
        engine = Engine(settings_for=settings_for, listener=lambda update: None, jobs=1)
        try:
            for _ in range(2):  # nobody clicks on a finding before the daemon has seen the file and its libraries
                await engine.perform(str(path), Order())
            order = order_for(rule="dtype")
            started = time.perf_counter()
            performed = await engine.perform(str(path), order)
            found = await proved(performed, settings_for(str(path)))
            seconds = time.perf_counter() - started
            script, _ = made_of(performed.artifacts)
            cancelled = await _cancelled(engine, str(path), order)
        finally:
            await engine.shutdown()
    return {
        "seconds": round(seconds, 3),
        "verified": found.document.verified,
        "why": found.document.why,
        "lines": _op_lines(script or ""),
        "cancel_seconds": round(cancelled, 3),
    }


async def _cancelled(engine: Engine, path: str, order: Order) -> float:
    """Seconds from cancelling a search that runs until its worker is gone."""
    heard: list[Event] = []
    task = asyncio.ensure_future(engine.perform(path, order, heard.append))
    while not heard and not task.done():
        await asyncio.sleep(0.002)  # the first event says that a worker is at work
    working = set(descendants(os.getpid()))
    started = time.perf_counter()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    while working <= set(descendants(os.getpid())) and time.perf_counter() - started < _GIVE_UP_SECONDS:
        await asyncio.sleep(0.002)
    return time.perf_counter() - started


def _op_lines(script: str) -> int:
    """Lines of operations in the script's function."""
    body = script.partition("\n):\n")[2].partition("    return ")[0]
    return sum(bool(line.strip()) for line in body.splitlines())


def promises(found: Mapping[str, Any]) -> list[Promise]:
    """Whether each promise was kept, and what it is."""
    cases, click = found["cases"], found["click"]
    ours = statistics.median(case["ours_attempts"] for case in cases)
    theirs = statistics.median(case["theirs_attempts"] for case in cases)
    larger = sum(case["ours_nodes"] > case["theirs_nodes"] for case in cases)
    return [
        (len(cases) >= FEWEST_CASES, f"{len(cases)} failures, at least {FEWEST_CASES}"),
        (larger == 0, f"larger than torch's minifier leaves: {larger} of {len(cases)}, none promised"),
        (ours < theirs, f"attempts, median: {ours:g} against {theirs:g} of torch's minifier, fewer promised"),
        (
            bool(click["verified"]) and click["seconds"] <= CLICK_SECONDS,
            f"a finding in BERT to a verified script: {click['seconds']:.2f} s, at most {CLICK_SECONDS:g} s promised"
            + ("" if click["verified"] else f" (not verified: {click['why']})"),
        ),
        (0 < click["lines"] <= MOST_LINES, f"its lines of operations: {click['lines']}, at most {MOST_LINES} promised"),
        (
            click["cancel_seconds"] <= CANCEL_SECONDS,
            f"a cancelled search is gone: {click['cancel_seconds']:.3f} s, at most {CANCEL_SECONDS:g} s promised",
        ),
    ]


def _table(cases: list[Mapping[str, Any]]) -> list[str]:
    head = f"{'graph':15} {'failure':22} {'nodes':>5} {'left':>9} {'attempts':>11} {'seconds':>13}"
    return [head, *map(_row, cases), "in parentheses: torch's minifier", ""]


def _row(case: Mapping[str, Any]) -> str:
    left = f"{case['ours_nodes']:3} ({case['theirs_nodes']:3})"
    attempts = f"{case['ours_attempts']:4} ({case['theirs_attempts']:4})"
    seconds = f"{case['ours_seconds']:5.2f} ({case['theirs_seconds']:5.2f})"
    return f"{case['graph']:15} {case['failure']:22} {case['nodes']:5} {left} {attempts} {seconds}"
