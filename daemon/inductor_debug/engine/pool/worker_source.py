"""What the pool needs of those who make workers, and the one worker they keep ready.

A job should not wait for its process to be made, so one is always made ahead of time. Nobody here retries a start that
failed: the pool asks again when there is a reason to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from inductor_debug.engine.pool.launch import StartFailedError
from inductor_debug.engine.pool.worker_handle import Worker
from inductor_debug.worker.frames import Message


class ServerLostError(Exception):
    """The fork server died, or hangs, while a worker was ordered."""


class WorkerSource(Protocol):
    """Makes workers."""

    @property
    def alive(self) -> bool:
        """Whether workers can be had without a new start."""

    @property
    def greeting(self) -> Message:
        """What the last process that became ready said of its interpreter; empty before."""

    async def start(self) -> None:
        """Gets ready to give workers.

        Raises:
            StartFailedError: it cannot; the message is for the user.
        """

    async def take(self) -> Worker:
        """A worker that has had no job.

        Raises:
            StartFailedError: none can be had any more.
        """

    def learn(self, modules: list[str]) -> None:
        """Offers third-party modules that are worth importing ahead of time."""

    async def close(self) -> None:
        """Ends every process."""


class ReadyWorker:
    """The one worker kept ready: made ahead of time, handed out once."""

    def __init__(self, make: Callable[[], asyncio.Task[Worker]]) -> None:
        self._make = make
        self._task: asyncio.Task[Worker] | None = None

    def prepare(self) -> None:
        """Starts to make one, unless there is one."""
        if self._task is None:
            self._task = self._make()
            self._task.add_done_callback(_look_at_failure)

    def keep(self, worker: Worker) -> None:
        """Takes one that was made elsewhere."""
        self._task = asyncio.ensure_future(_already(worker))

    async def take(self) -> Worker | None:
        """The ready worker, waited for if it is in the making; None if there is none that lives."""
        task, self._task = self._task, None
        if task is None:
            return None
        try:
            worker = await asyncio.shield(task)
        except (ServerLostError, StartFailedError):
            return None
        except BaseException:
            task.add_done_callback(_dispose_result)
            raise
        if worker.exited.done():
            worker.dispose()
            return None
        return worker

    def drop(self) -> None:
        """Ends the ready worker, if there is one."""
        task, self._task = self._task, None
        if task is not None:
            task.add_done_callback(_dispose_result)


def _look_at_failure(task: asyncio.Task[Worker]) -> None:
    if not task.cancelled():
        task.exception()


def _dispose_result(task: asyncio.Task[Worker]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().dispose()


async def _already(worker: Worker) -> Worker:
    return worker
