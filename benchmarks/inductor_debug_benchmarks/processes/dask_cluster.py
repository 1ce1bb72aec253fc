"""A Dask cluster of real processes, to be killed: `python -m … WORKERS SCRATCH` prints its address, and ends as told.

Imported, it starts that as a process of its own, so that a worker or the scheduler may die as machines do.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil


class RunningCluster:
    """A cluster and its processes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Waits until it is there."""
        self._process = process
        assert process.stdout is not None
        self.address = process.stdout.readline().strip()

    def workers(self) -> list[int]:
        """The numbers of the worker processes that run now."""
        children = psutil.Process(self._process.pid).children()
        return [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())]

    def processor_seconds(self) -> dict[str, float]:
        """The time on processors that the scheduler's process and those of the workers that run now have had."""
        workers = [psutil.Process(pid) for pid in self.workers()]
        return {
            "scheduler": _on_processors(psutil.Process(self._process.pid)),
            "workers": sum(map(_on_processors, workers)),
        }

    def die(self) -> None:
        """The scheduler is gone at once, with all workers."""
        for pid in [self._process.pid, *self.workers()]:
            os.kill(pid, signal.SIGKILL)
        self._process.wait()


def _on_processors(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextmanager
def running_cluster(workers: int, scratch: Path) -> Iterator[RunningCluster]:
    """A cluster with so many workers of one thread, ended in the end."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(scratch / "node-cache")}
    assert __spec__ is not None
    process = subprocess.Popen(
        [sys.executable, "-m", __spec__.name, str(workers), str(scratch)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=scratch,
        env=environment,
    )
    try:
        yield RunningCluster(process)
    finally:
        process.communicate()


async def _main(workers: int, scratch: str) -> None:
    import dask
    from distributed import LocalCluster
    from inductor_debug.cluster.connecting import SETTINGS, kept

    dask.config.set(SETTINGS)
    async with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=scratch,
        asynchronous=True,
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        keeping = asyncio.create_task(kept(cluster, workers))
        await asyncio.to_thread(sys.stdin.read)
        keeping.cancel()


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), sys.argv[2]))
