"""Processes that measure for benchmarks: they hold torch, which nothing here may import."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from inductor_debug.cli.support.console import CommandError

MODELS = Path(__file__).parent / "models"
COMPILED = ("mlp", "attention", "bert")
"""Models that the stages which go deep are measured with."""


def progress(text: str) -> None:
    """Says what is measured now."""
    print(text, file=sys.stderr, flush=True)


def measured_by(module: str, *words: str) -> dict[str, Any]:
    """The JSON object that a module of ours prints last when it is run.

    Raises:
        CommandError: it failed; the message is what it said.
    """
    done = subprocess.run([sys.executable, "-m", module, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CommandError(done.stderr.strip() or "the measuring process died")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def rows_by(module: str, name: str, items: Sequence[Any], order: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The JSON objects that a module of ours prints when it is run, one process for each processor.

    Args:
        module: what to run; it reads one JSON object from standard input.
        name: under which key a process finds its share of the items.
        items: what there is to do.
        order: what else is in that object.
    """
    count = os.cpu_count() or 1
    shares = [items[start::count] for start in range(min(count, len(items)))]
    found: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    for share in shares:
        threading.Thread(target=_told, args=(module, {**order, name: share}, found), daemon=True).start()
    for _ in shares:
        yield from iter(found.get, None)


def _told(module: str, order: dict[str, Any], found: queue.SimpleQueue[dict[str, Any] | None]) -> None:
    """Runs one process and passes on its rows as they come, None at its end."""
    command = [sys.executable, "-m", module]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError), process.stdin as stream:
            json.dump(order, stream)
        for line in process.stdout:
            if line.startswith("{"):
                found.put(json.loads(line))
    found.put(None)


@contextlib.contextmanager
def stopwatch(module: str, path: Path) -> Iterator[Callable[[str], float]]:
    """A warm process (`processes.bare_runs`) that times what it is asked for on the first target of a file."""
    command = [sys.executable, "-m", module, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        questions, answers = process.stdin, process.stdout
        assert questions is not None
        assert answers is not None

        def seconds(what: str) -> float:
            print(what, file=questions, flush=True)
            return float(answers.readline())

        yield seconds


def medians_in_turns(module: str, model: str, wanted: Sequence[str], rounds: int) -> list[float]:
    """The median seconds of everything `wanted` on a model; in turns, so that all see the same machine."""
    progress(f"{model}: {', '.join(wanted)} in turns")
    taken: dict[str, list[float]] = {what: [] for what in wanted}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / f"{model}.py"
        path.write_bytes((MODELS / path.name).read_bytes())
        with stopwatch(module, path) as seconds:
            for _ in range(rounds):
                for what, found in taken.items():
                    found.append(seconds(what))
    return [statistics.median(found) for found in taken.values()]
