"""The pool of workers of one interpreter and project: one job in, events and one ending out.

A job runs in a process of its own, which the pool has made, feeds, watches and kills; whatever user code does to that
process, the pool says how it ended and stays usable. It never imports torch, never retries a job, and never restarts a
dead process by itself: only the next job does.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from inductor_debug_schema import Event, JobRequest, Loaded

from inductor_debug.engine.pool.fork_source import ForkSource
from inductor_debug.engine.pool.job_log import ProjectLog
from inductor_debug.engine.pool.job_outcomes import JobEnd, JobOutcome
from inductor_debug.engine.pool.job_watch import JobWatch
from inductor_debug.engine.pool.launch import Launch, StartFailedError, WorkerEntry
from inductor_debug.engine.pool.spare_source import SpareSource
from inductor_debug.engine.pool.temporary import remove_forgotten, scratch_folder
from inductor_debug.engine.pool.worker_handle import Worker
from inductor_debug.engine.pool.worker_source import WorkerSource

__all__ = ["JobEnd", "JobOutcome", "WorkerPool"]

BACK_OFF_SECONDS = 2.0
"""After a start that failed, jobs get the same answer for so long without another try."""


class WorkerPool:
    """Workers for one (interpreter, project root). Use it from one event loop.

    `fork=False` uses spare processes instead of a fork server; None uses what the system offers. `entry` says what
    workers run; tests replace it. With `one_job` nothing is done ahead for jobs after the first.
    """

    def __init__(
        self,
        *,
        interpreter: str,
        project_root: str,
        log_path: Path,
        environment: dict[str, str] | None = None,
        fork: bool | None = None,
        entry: WorkerEntry | None = None,
        one_job: bool = False,
    ) -> None:
        entry = entry or WorkerEntry()
        launch = Launch(interpreter, project_root, dict(environment or {}), entry.for_one_job() if one_job else entry)
        log = ProjectLog(log_path)
        can_fork = hasattr(os, "fork") if fork is None else fork
        self._source: WorkerSource = ForkSource(launch, log, one_job=one_job) if can_fork else SpareSource(launch, log)
        self._starting: asyncio.Task[None] | None = None
        self._failure: str | None = None
        self._failed_at = 0.0
        self._running: set[asyncio.Task[JobEnd]] = set()
        self._to_learn: dict[str, None] = {}
        self._offered: set[str] = set()
        self._one_job = one_job
        self._closed = False

    async def start(self) -> None:
        """Spawns and warms; idempotent, and concurrent callers share one start. Never raises: see `start_failure`."""
        if self._source.alive or self._closed or self._in_back_off():
            return
        if self._starting is None or self._starting.done():
            self._starting = asyncio.ensure_future(self._start())
        await asyncio.shield(self._starting)

    async def run(self, request: JobRequest, on_event: Callable[[Event], None], *, timeout: float) -> JobEnd:
        """Runs one job; may be called concurrently, every call gets its own process.

        Cancelling the awaiting task kills the job's processes, then propagates. `timeout` (seconds) counts from the
        moment the worker has the job.
        """
        job = asyncio.ensure_future(self._run(request, on_event, timeout))
        self._running.add(job)
        try:
            return await job
        finally:
            self._running.discard(job)
            if not self._running:
                self._offer_modules()

    async def close(self) -> None:
        """Kills everything; when it returns, no process is left."""
        self._closed = True
        tasks = [*self._running, *([self._starting] if self._starting is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._source.close()

    @property
    def start_failure(self) -> str | None:
        """Why the last start failed, in one sentence that says what to do; None if it did not."""
        return self._failure

    @property
    def torch_version(self) -> str | None:
        """The interpreter's torch, known after a start."""
        return self._source.greeting.get("torch")

    @property
    def python_version(self) -> str | None:
        """The interpreter's version, known after a start."""
        return self._source.greeting.get("python")

    async def _start(self) -> None:
        """A start that was killed is tried once more: that says nothing of the interpreter."""
        asyncio.get_running_loop().run_in_executor(None, remove_forgotten)  # while the interpreter imports torch
        for last in (False, True):
            try:
                await self._source.start()
            except StartFailedError as failure:
                if failure.by_kill and not last:
                    continue
                self._note_failure(failure)
            else:
                self._failure = None
            return

    async def _run(self, request: JobRequest, on_event: Callable[[Event], None], timeout: float) -> JobEnd:
        worker = await self._worker()
        if worker is None:
            return JobEnd(JobOutcome.START_FAILED, self._failure or "the pool is closed")

        def note_modules(event: Event) -> None:
            if isinstance(event, Loaded):
                self._to_learn.update(dict.fromkeys(event.modules))
            on_event(event)

        try:
            with scratch_folder() as scratch:
                return await JobWatch(worker, replace(request, scratch=scratch), note_modules).run(timeout)
        except StartFailedError as failure:
            return JobEnd(JobOutcome.START_FAILED, str(failure))
        finally:
            worker.dispose()

    async def _worker(self) -> Worker | None:
        """A fresh worker; None, and the reason in `start_failure`, if none can be had."""
        for _attempt in range(2):  # a fork server that died unnoticed is replaced, once
            await self.start()
            if not self._source.alive:
                return None
            try:
                return await self._source.take()
            except StartFailedError as error:
                failure = error
        self._note_failure(failure)
        return None

    def _offer_modules(self) -> None:
        """Tells the source which modules jobs have used since; only while no job runs, since importing takes time."""
        modules = [name for name in self._to_learn if name not in self._offered]
        self._to_learn.clear()
        if modules and self._source.alive and not self._one_job:
            self._offered.update(modules)
            self._source.learn(modules)

    def _note_failure(self, failure: StartFailedError) -> None:
        self._failure = str(failure)
        self._failed_at = asyncio.get_running_loop().time()

    def _in_back_off(self) -> bool:
        return self._failure is not None and asyncio.get_running_loop().time() - self._failed_at < BACK_OFF_SECONDS
