"""Asks the client to fetch something again after an analysis: one request at a time, however much happens meanwhile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

PAUSE_SECONDS = 0.05
"""What happens within so many seconds is one refresh."""


class Refresher:
    """Sends the request `method` (`workspace/codeLens/refresh` and the like)."""

    def __init__(self, server: Server, method: str) -> None:
        self._server = server
        self._method = method
        self._wanted = False
        self._busy = False

    def refresh(self) -> None:
        """Something has changed."""
        self._wanted = True
        if not self._busy:
            self._busy = True
            self._server.spawn(self._run())

    async def _run(self) -> None:
        try:
            while self._wanted:
                await asyncio.sleep(PAUSE_SECONDS)
                self._wanted = False
                await self._server.protocol.ask(self._method, None)
        finally:
            self._busy = False
