"""One worker process as the supervisor sees it: a channel to talk over, an output to read, a way to kill it.

The same for a child of the fork server and for a spare process; how each is started is told in `fork_link` and
`spare_link`. Nothing here decides when a job is over.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from inductor_debug.engine.pool.job_log import OutputSpool
from inductor_debug.system import processes
from inductor_debug.worker.frames import HEADER, Message, body_length, decode, encode


class Channel:
    """Messages over a pair of asyncio streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: Message) -> None:
        """Sends a message; a peer that is gone shows when receiving."""
        self._writer.write(encode(message))
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def receive(self) -> Message | None:
        """The next message; None at the end of the stream, also when it ends inside a message.

        Raises:
            FrameError: something other than a frame arrived.
        """
        try:
            length = body_length(await self._reader.readexactly(HEADER.size))
            return decode(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    def close(self) -> None:
        """Closes both directions."""
        self._writer.close()


class Worker:
    """A process that waits for its one job, or does it.

    `exited` becomes its status (exit code, or minus a signal). `request_kill` is called besides the direct kill, for a
    process whose number is not known yet.
    """

    def __init__(self, channel: Channel, output: OutputSpool, request_kill: Callable[[], None]) -> None:
        self.pid: int | None = None
        self.channel = channel
        self.output = output
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._request_kill = request_kill
        self._disposed = False
        self._follower: asyncio.Task[None] | None = None

    def set_exited(self, status: int) -> None:
        """Notes that the process is gone."""
        if not self.exited.done():
            self.exited.set_result(status)

    def follow(self, end: Coroutine[Any, Any, int]) -> None:
        """Lets `end`, which waits for the process, say how it exited."""

        async def wait() -> None:
            self.set_exited(await end)

        self._follower = asyncio.ensure_future(wait())

    def signal(self, signal_number: int) -> None:
        """Sends a signal to the process alone."""
        if self.pid is not None and not self.exited.done():
            processes.kill(self.pid, signal_number)

    def kill(self) -> None:
        """Kills the process and all that descends from it."""
        if self.exited.done():
            return
        if self.pid is not None:
            below = processes.descendants(self.pid)
            processes.kill_group(self.pid)
            for pid in below:
                processes.kill(pid)
        self._request_kill()

    def dispose(self) -> None:
        """Kills what still runs and lets go of everything; idempotent."""
        if self._disposed:
            return
        self._disposed = True
        self.kill()
        self.channel.close()
        self.output.close()
