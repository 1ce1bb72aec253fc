"""Trials: runs of texts that nobody wrote, which must never be felt by somebody who types.

One at a time, only while no analysis runs; a trial is killed when an analysis begins and starts again after it, as long
as somebody still wants it. It knows neither texts nor workers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class TrialTurns:
    """Who may run a trial now, in the order in which they asked."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._analyses = 0
        self._running: asyncio.Future[Any] | None = None

    @contextlib.contextmanager
    def postponed(self) -> Iterator[None]:
        """While this is held, an analysis runs and no trial does."""
        self._analyses += 1
        self._quiet.clear()
        self.make_way()
        try:
            yield
        finally:
            self._analyses -= 1
            if self._analyses == 0:
                self._quiet.set()

    def make_way(self) -> None:
        """Kills the trial that runs, if any; it starts again when nothing else runs."""
        if self._running is not None:
            self._running.cancel()

    async def run(self, attempt: Callable[[], Awaitable[T]], wanted: Callable[[], bool]) -> T | None:
        """What `attempt` returns when it was its turn; None once it is not `wanted` any more.

        Cancelling the awaiting task kills the attempt.
        """
        async with self._turn:
            while wanted():
                await self._quiet.wait()
                if not wanted():
                    break
                task = asyncio.ensure_future(attempt())
                self._running = task
                try:
                    await asyncio.wait({task})
                finally:
                    self._running = None
                    if not task.done():
                        task.cancel()
                        await asyncio.wait({task})
                if not task.cancelled():
                    return task.result()
        return None
