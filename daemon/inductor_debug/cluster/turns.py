"""How many jobs may be on their way at once: a number that changes while machines come and go."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Turns:
    """Turns for jobs; there is always at least one, so that a cluster that grows on demand has a reason to."""

    def __init__(self) -> None:
        self._limit, self._taken = 1, 0
        self._changed = asyncio.Condition()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits for a turn, and has it while the context lasts."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._taken < self._limit)
            self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1
            async with self._changed:
                self._changed.notify()

    async def allow(self, limit: int) -> None:
        """From now on so many at once."""
        async with self._changed:
            self._limit = max(1, limit)
            self._changed.notify_all()
