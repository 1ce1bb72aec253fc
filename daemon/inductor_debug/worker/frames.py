"""Length-prefixed msgpack frames: how the supervisor, the fork server and the workers talk.

A frame is a big-endian unsigned 32-bit length and that many bytes of msgpack, which hold one map with string keys.
Whatever does not look like this is a `FrameError`: user code may have found the descriptor and written into it, so the
reader never guesses and never resynchronises. This module knows nothing of what the messages mean and imports no torch.
"""

from __future__ import annotations

import os
import struct
from typing import Any

import msgpack

HEADER = struct.Struct("!I")
"""The length prefix."""

MAX_FRAME = 32 << 20
"""Bytes in the largest frame that anybody may send. Findings are small; graphs travel as files."""

Message = dict[str, Any]
"""One decoded frame."""


class FrameError(ValueError):
    """The bytes are not a frame; the connection is lost with them."""


def encode(message: Message) -> bytes:
    """Turns a message into one frame, header included.

    Raises:
        FrameError: the message is larger than `MAX_FRAME`.
    """
    body: bytes = msgpack.packb(message, use_bin_type=True, unicode_errors="surrogatepass")
    if len(body) > MAX_FRAME:
        raise FrameError(f"a message of {len(body)} bytes is over the limit of {MAX_FRAME}")
    return HEADER.pack(len(body)) + body


def body_length(header: bytes) -> int:
    """Reads the length prefix.

    Raises:
        FrameError: the length is beyond `MAX_FRAME`, so this is no header of ours.
    """
    length: int = HEADER.unpack(header)[0]
    if length > MAX_FRAME:
        raise FrameError(f"a frame of {length} bytes is over the limit of {MAX_FRAME}")
    return length


def decode(body: bytes) -> Message:
    """Reads the msgpack part of one frame.

    Raises:
        FrameError: it is not msgpack, or not a map with string keys.
    """
    try:
        message = msgpack.unpackb(body, raw=False, strict_map_key=True, unicode_errors="surrogatepass")
    except Exception as error:  # msgpack raises ValueError, its own classes and UnicodeDecodeError
        raise FrameError(f"not msgpack: {error}") from None
    if not isinstance(message, dict) or not all(isinstance(key, str) for key in message):
        raise FrameError("a frame must hold a map with string keys")
    return message


class FrameReader:
    """Collects bytes as they come and hands out whole messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """Adds bytes; returns the messages that are now complete.

        Raises:
            FrameError: the bytes are not frames.
        """
        self._buffer += data
        messages = []
        while len(self._buffer) >= HEADER.size:
            end = HEADER.size + body_length(bytes(self._buffer[: HEADER.size]))
            if len(self._buffer) < end:
                break
            messages.append(decode(bytes(self._buffer[HEADER.size : end])))
            del self._buffer[:end]
        return messages


def write_frame(descriptor: int, message: Message) -> None:
    """Writes one frame to a blocking descriptor, all of it."""
    data = memoryview(encode(message))
    while data:
        data = data[os.write(descriptor, data) :]


def read_frame(descriptor: int) -> Message | None:
    """Reads one frame from a blocking descriptor; None at the end of the stream.

    Raises:
        FrameError: the bytes are not a frame, or the stream ends inside one.
    """
    header = _read_exactly(descriptor, HEADER.size)
    if not header:
        return None
    if len(header) < HEADER.size:
        raise FrameError("the stream ended inside a frame")
    length = body_length(header)
    body = _read_exactly(descriptor, length)
    if len(body) < length:
        raise FrameError("the stream ended inside a frame")
    return decode(body)


def _read_exactly(descriptor: int, length: int) -> bytes:
    chunks = []
    while length:
        chunk = os.read(descriptor, min(length, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        length -= len(chunk)
    return b"".join(chunks)
