"""Content-Length framing of the Language Server Protocol, without any input or output.

Bytes go in as they arrive, message bodies come out. A header that cannot be understood becomes a `LspFrameError` and
the reader finds its way back at the next good header, so that one bad message never costs the session, and never makes
the server spin or allocate what a header merely claims. It never looks inside a body.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Union

LARGEST_BODY = 512 << 20
"""A longer body than this, in bytes, is taken for a broken header: the text of a source file is never so long."""

LARGEST_HEADER = 64 << 10
"""Bytes without a complete header after which the reader throws them away and looks for the next one."""

_HEADER_END = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LspFrameError:
    """A header that says nothing usable; `reason` is a sentence for the client and the log."""

    reason: str


Frame = Union[bytes, LspFrameError]
"""A body, or why there is none."""


class LspFrameReader:
    """Cuts a stream of bytes into message bodies.

    Not tied to the start of a line, because what a wrong length leaves behind is the rest of a body followed at once
    by the next header.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted: int | None = None

    def feed(self, data: bytes) -> list[Frame]:
        """Takes the next bytes of the stream and returns every frame that they complete."""
        self._buffer += data
        frames: list[Frame] = []
        while True:
            frame = self._body() if self._wanted is not None else self._header()
            if frame is None:
                if self._wanted is None or len(self._buffer) < self._wanted:
                    return frames
                continue
            frames.append(frame)

    @property
    def pending(self) -> bool:
        """Whether the stream stands in the middle of a message, so that its end here would be a loss."""
        return self._wanted is not None or bool(self._buffer)

    def _body(self) -> bytes | None:
        wanted = self._wanted or 0
        if len(self._buffer) < wanted:
            return None
        body = bytes(self._buffer[:wanted])
        del self._buffer[:wanted]
        self._wanted = None
        return body

    def _header(self) -> LspFrameError | None:
        end = _HEADER_END.search(self._buffer)
        if end is None:
            if len(self._buffer) <= LARGEST_HEADER:
                return None
            self._buffer.clear()
            return LspFrameError(f"no message header in {LARGEST_HEADER} bytes of input")
        header = bytes(self._buffer[: end.start()])
        del self._buffer[: end.end()]
        if not header.strip():
            return LspFrameError("a message header without Content-Length")
        lengths = _LENGTH.findall(header)
        if not lengths:
            return LspFrameError("a message header without Content-Length")
        value = lengths[-1].strip()
        if not value.isdigit() or int(value[:20]) > LARGEST_BODY:
            return LspFrameError(f"Content-Length {value[:40].decode('ascii', 'replace')!r} is not a usable length")
        self._wanted = int(value)
        return None


def frame(body: bytes) -> bytes:
    """Puts the header before a body."""
    return b"Content-Length: %d\r\n\r\n" % len(body) + body
