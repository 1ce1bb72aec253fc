"""How bytes reach and leave the server: standard input and output, or one TCP connection.

Reading and writing each have a thread of their own, so neither a client that stops reading nor a slow handler can
freeze the other side, and the protocol's descriptors are private copies: descriptor 1 points at stderr and descriptor 0
at nothing before any other code runs, so no `print` and no child process can touch the protocol.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import threading
from collections.abc import AsyncIterator, Callable
from typing import Protocol

_CHUNK = 1 << 18

logger = logging.getLogger(__name__)


class Writer(Protocol):
    """Where messages go."""

    def write(self, data: bytes) -> None:
        """Takes one framed message and returns at once."""

    def close(self) -> None:
        """Sends what is still waiting, briefly, and closes."""


def claim_standard_streams() -> tuple[int, int]:
    """Takes stdin and stdout away from everybody else.

    Returns:
        Private descriptors (input, output) that no child process inherits.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing


async def read_descriptor(descriptor: int) -> AsyncIterator[bytes]:
    """Yields what arrives at a descriptor, of a pipe or of anything else, until its end."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        data = b"."
        while data:
            try:
                data = os.read(descriptor, _CHUNK)
            except OSError:
                data = b""
            try:
                loop.call_soon_threadsafe(arrived.put_nowait, data)
            except RuntimeError:  # The loop is closed: the server has ended.
                return

    threading.Thread(target=read, name="protocol reader", daemon=True).start()
    while data := await arrived.get():
        yield data


async def read_stream(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yields what arrives on a connection until its end."""
    while True:
        try:
            data = await reader.read(_CHUNK)
        except OSError:
            return
        if not data:
            return
        yield data


class DescriptorWriter:
    """Writes to a descriptor from a thread, so that a client that does not read never blocks the event loop.

    Args:
        descriptor: Where to write; closed at the end.
        lost: Called once, from the thread, when the client is gone.
    """

    def __init__(self, descriptor: int, lost: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._lost = lost
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="protocol writer", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Queues one message."""
        self._waiting.put(data)

    def close(self) -> None:
        """Waits up to half a second for the queue to drain."""
        self._waiting.put(None)
        self._thread.join(timeout=0.5)

    def _run(self) -> None:
        try:
            while (data := self._waiting.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            logger.info("the client no longer reads: %s", error)
            self._lost()
        finally:
            os.close(self._descriptor)


class StreamWriter:
    """Writes to a TCP connection."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, data: bytes) -> None:
        """Queues one message."""
        if not self._writer.is_closing():
            self._writer.write(data)

    def close(self) -> None:
        """Closes after what is still queued."""
        self._writer.close()
