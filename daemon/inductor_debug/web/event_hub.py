"""What happens, told to every page that is open.

A page that does not keep up is let go: it connects again, and is told all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

_MOST_WAITING = 2000
"""Events that may wait for one page."""
Said = tuple[str, Any]
"""An event's name and its data, as JSON has it."""


class EventHub:
    """Events in, a stream for each page out. `known` gives what a page that has just connected is told first."""

    def __init__(self, known: Callable[[], list[Said]]) -> None:
        self._known = known
        self._queues: set[asyncio.Queue[Said | None]] = set()
        self._open = True

    def tell(self, name: str, data: Any) -> None:
        """Tells all pages."""
        for queue in list(self._queues):
            if queue.qsize() >= _MOST_WAITING:
                self._queues.discard(queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait((name, data))

    def close(self) -> None:
        """Ends all streams, and those that would begin."""
        self._open = False
        for queue in self._queues:
            queue.put_nowait(None)
        self._queues.clear()

    async def stream(self) -> AsyncIterator[dict[str, str]]:
        """What one page is told, as server-sent events."""
        queue: asyncio.Queue[Said | None] = asyncio.Queue()
        self._queues.add(queue)
        try:
            for said in self._known():
                yield _event(said)
            while self._open and (said_next := await queue.get()) is not None:
                yield _event(said_next)
        finally:
            self._queues.discard(queue)


def _event(said: Said) -> dict[str, str]:
    name, data = said
    return {"event": name, "data": json.dumps(data, separators=(",", ":"))}
