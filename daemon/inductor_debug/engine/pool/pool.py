"""What the engine needs of a pool of workers, so that tests can give it one without processes.

`engine.pool.supervisor.WorkerPool` is the real one. Nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from inductor_debug_schema import Event, JobRequest

from inductor_debug.engine.pool.job_outcomes import JobEnd


class Pool(Protocol):
    """Workers of one (interpreter, project root)."""

    async def start(self) -> None:
        """Spawns and warms; idempotent; never raises for what is wrong with the interpreter."""

    async def run(self, request: JobRequest, on_event: Callable[[Event], None], *, timeout: float) -> JobEnd:
        """Runs one job. Cancelling the awaiting task kills the job, then propagates."""

    async def close(self) -> None:
        """Ends everything; when it returns, no process is left."""

    @property
    def torch_version(self) -> str | None:
        """The interpreter's torch, known after a start."""

    @property
    def python_version(self) -> str | None:
        """The interpreter's version, known after a start."""


class PoolFactory(Protocol):
    """Makes a pool; `WorkerPool` itself is one."""

    def __call__(self, *, interpreter: str, project_root: str, log_path: Path) -> Pool:
        """A pool that has not been started yet."""
