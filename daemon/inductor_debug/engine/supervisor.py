"""The pool of workers of one interpreter and project: one job in, events and one ending out.

A job runs in a process of its own, which this module starts, feeds, watches and kills; whatever user code does to that
process, the pool says how it ended and stays usable. It never imports torch, never retries a job, and never restarts a
dead process by itself: only the next job does.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from inductor_debug_schema import Event, JobRequest

from inductor_debug.engine.outcomes import JobEnd, Outcome

__all__ = ["JobEnd", "Outcome", "WorkerPool"]


class WorkerPool:
    """Workers for one (interpreter, project root). Use it from one event loop."""

    def __init__(
        self,
        *,
        interpreter: str,
        project_root: str,
        log_path: Path,
        environment: dict[str, str] | None = None,
        fork: bool | None = None,
    ) -> None:
        raise NotImplementedError

    async def start(self) -> None:
        """Spawns and warms; idempotent, and concurrent callers share one start. Never raises: see `start_failure`."""
        raise NotImplementedError

    async def run(self, request: JobRequest, on_event: Callable[[Event], None], *, timeout: float) -> JobEnd:
        """Runs one job; may be called concurrently, every call gets its own process.

        Cancelling the awaiting task kills the job's processes, then propagates. `timeout` (seconds) counts from the
        moment the worker has the job.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Kills everything; when it returns, no process is left."""
        raise NotImplementedError

    @property
    def start_failure(self) -> str | None:
        """Why the last start failed, in one sentence that says what to do; None if it did not."""
        raise NotImplementedError

    @property
    def torch_version(self) -> str | None:
        """The interpreter's torch, known after a start."""
        raise NotImplementedError

    @property
    def python_version(self) -> str | None:
        """The interpreter's version, known after a start."""
        raise NotImplementedError
