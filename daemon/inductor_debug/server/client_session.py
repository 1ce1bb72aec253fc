"""One session: from the first byte of a client to the last worker gone.

Whatever ends it (`exit`, the end of input, the client's death, a signal), the same few lines clean up, within a bounded
time; a watchdog thread ends the process should anything of that hang.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable

from inductor_debug.server.factory import create_server
from inductor_debug.server.rpc.framing import LspFrameReader
from inductor_debug.server.rpc.transport import (
    DescriptorWriter,
    StreamWriter,
    Writer,
    claim_standard_streams,
    read_descriptor,
    read_stream,
)
from inductor_debug.server.state.server import ServeOptions, Server

STOP_SECONDS = 1.4
"""How long the engine may take to stop its workers."""
_HARD_STOP_SECONDS = 1.8
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")

logger = logging.getLogger(__name__)


async def serve_stdio(options: ServeOptions) -> int:
    """Serves the client at the other end of stdin and stdout; returns the exit code."""
    incoming, outgoing = claim_standard_streams()
    loop = asyncio.get_running_loop()
    server = create_server(options)

    def lost() -> None:
        with contextlib.suppress(RuntimeError):  # The loop may be closed by then.
            loop.call_soon_threadsafe(server.end, 1)

    return await _serve(server, read_descriptor(incoming), DescriptorWriter(outgoing, lost))


async def serve_tcp(options: ServeOptions, host: str, port: int, listening: Callable[[str, int], None]) -> int:
    """Waits for one client on a TCP port, serves it, and returns the exit code.

    Args:
        options: What the server is started with.
        host: The address to listen on.
        port: The port, or 0 for any free one.
        listening: Called with the address and port once the server listens.

    Raises:
        OSError: the address cannot be listened on.
    """
    connected: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
    connected = asyncio.get_running_loop().create_future()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if connected.done():
            writer.close()
        else:
            connected.set_result((reader, writer))

    listener = await asyncio.start_server(accept, host, port)
    listening(*listener.sockets[0].getsockname()[:2])
    reader, writer = await connected
    listener.close()
    return await _serve(create_server(options), read_stream(reader), StreamWriter(writer))


async def _serve(server: Server, incoming: AsyncIterator[bytes], writer: Writer) -> int:
    server.protocol.write_to(writer)
    loop = asyncio.get_running_loop()
    for name in _SIGNALS:
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(getattr(signal, name), server.end, 1)
    reading = asyncio.ensure_future(_read(server, incoming))
    ending = asyncio.ensure_future(server.ending.wait())
    await asyncio.wait({reading, ending}, return_when=asyncio.FIRST_COMPLETED)
    if reading.done() and not server.ending.is_set():
        server.end(0 if server.protocol.shut_down else 1)
    code = 1 if server.exit_code is None else server.exit_code
    _die_if_this_hangs(code)
    reading.cancel()
    ending.cancel()
    server.protocol.cancel_requests()
    try:
        await asyncio.wait_for(server.stop_engine(), STOP_SECONDS)
    except asyncio.TimeoutError:
        logger.error("the workers did not stop in %g s", STOP_SECONDS)
    except Exception:
        logger.exception("the workers could not be stopped in good order")
    writer.close()
    return code


async def _read(server: Server, incoming: AsyncIterator[bytes]) -> None:
    frames = LspFrameReader()
    async for data in incoming:
        for frame in frames.feed(data):
            server.protocol.receive(frame)
            if server.ending.is_set():
                return
            # Let handlers and timers run between the messages of a burst.
            await asyncio.sleep(0)
    if frames.pending:
        logger.warning("the input ended in the middle of a message")


def _die_if_this_hangs(code: int) -> None:
    def die() -> None:
        print("inductor-debug: the server did not end in good time and was stopped", file=sys.stderr, flush=True)
        os._exit(code or 1)

    timer = threading.Timer(_HARD_STOP_SECONDS, die)
    timer.daemon = True
    timer.start()
