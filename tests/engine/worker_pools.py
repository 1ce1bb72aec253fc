"""Pools of real processes that run `fake_jobs` instead of torch, and what tests ask of them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

from inductor_debug.engine.pool.launch import WorkerEntry
from inductor_debug.engine.pool.supervisor import JobEnd, WorkerPool
from inductor_debug_schema import Event, Finished, JobRequest, Loaded, Stage

PATIENCE = 300.0
"""Seconds after which a test gives up waiting. What it waits for takes a fraction of one, but on a busy machine."""

WORKER_TESTS = Path(__file__).parents[1] / "worker"
FAKE = WorkerEntry(job="fake_jobs:run", warm_up="fake_jobs:warm_up", rehearsal="", extra_path=(str(WORKER_TESTS),))


def make_pool(
    folder: Path,
    *,
    fork: bool = True,
    entry: WorkerEntry = FAKE,
    interpreter: str = sys.executable,
    environment: dict[str, str] | None = None,
) -> WorkerPool:
    return WorkerPool(
        interpreter=interpreter,
        project_root=str(folder),
        log_path=folder / "logs" / "worker.log",
        environment=environment,
        fork=fork,
        entry=entry,
    )


def request(text: str, *, memory_limit: int = 8 << 30) -> JobRequest:
    return JobRequest(1, "/project/model.py", text, "/project", [Stage.PREVIEW], {}, memory_limit=memory_limit)


async def run(
    pool: WorkerPool, text: str, *, timeout: float = PATIENCE, memory_limit: int = 8 << 30
) -> tuple[JobEnd, list[Event]]:
    events: list[Event] = []
    end = await pool.run(request(text, memory_limit=memory_limit), events.append, timeout=timeout)
    return end, events


async def notes(pool: WorkerPool, text: str) -> list[str]:
    """What a job that finishes has to tell."""
    end, events = await run(pool, text)
    assert isinstance(events[-1], Finished), end
    return events[-1].dependencies


class Started:
    """Collects events and says when the job's process is known."""

    def __init__(self) -> None:
        self._pid: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Loaded):
            self._pid.set_result(int(event.notes[0]))

    async def pid(self) -> int:
        return await asyncio.wait_for(self._pid, PATIENCE)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Waits for something that other processes do; False if it does not happen in time."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not condition():
        if loop.time() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


async def all_gone(pids: list[int]) -> bool:
    return await until(lambda: not any(map(alive, pids)))


def read_pids(path: Path) -> list[int]:
    return [int(word) for word in path.read_text().split()]


def processes_of(folder: Path) -> list[int]:
    """Living worker processes whose command line names the folder."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                command = Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
            if str(folder).encode() in command and b"bootstrap.py" in command and alive(int(name)):
                found.append(int(name))
    return found
