"""Torch's structured trace log (what `TORCH_TRACE` writes and tlparse reads), kept in memory while something compiles.

Private names of torch, read in 2.13: the logger `torch.__trace`, `torch._logging._internal.TorchLogsFormatter` and
`torch._logging.structured.INTERN_TABLE`. Where one is gone the log is empty, and `problem` says why. It changes nothing
of what is compiled.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

LOGGER = "torch.__trace"
LARGEST = 16 << 20
"""Characters that are kept; a log that would be longer ends there."""


class _Bounded(logging.Handler):
    # No `logging.StreamHandler`, whose type has a parameter that Python 3.10 does not take.
    def __init__(self, stream: io.StringIO) -> None:
        super().__init__()
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        if self._stream.tell() < LARGEST:
            try:
                self._stream.write(self.format(record) + "\n")
            except Exception:  # a record that cannot be formatted must not fail what is compiled
                self.handleError(record)


@dataclass
class TraceLog:
    """`text` is the log so far; `problem` is why there is none."""

    problem: str = ""
    _stream: io.StringIO = field(default_factory=io.StringIO)

    @property
    def text(self) -> str:
        """The log's lines, each with torch's prefix and a JSON object, payloads indented below."""
        return self._stream.getvalue()


def is_kept() -> bool:
    """Whether a log is being kept, or written by torch itself."""
    handlers = logging.getLogger(LOGGER).handlers
    return bool(os.environ.get("TORCH_TRACE")) or any(isinstance(handler, _Bounded) for handler in handlers)


@contextlib.contextmanager
def structured_trace() -> Iterator[TraceLog]:
    """Keeps what torch traces inside."""
    log = TraceLog()
    try:
        from torch._logging import _internal, structured

        formatter = _internal.TorchLogsFormatter(trace=True)
    except (ImportError, AttributeError, TypeError) as error:
        log.problem = f"this torch has no structured trace log that we know ({error})"
        yield log
        return
    # Names of files are written once a process and then only referred to: a log that begins later must say them again.
    getattr(structured, "INTERN_TABLE", {}).clear()
    logger = logging.getLogger(LOGGER)
    handler = _Bounded(log._stream)
    handler.setFormatter(formatter)
    before = logger.level, logger.propagate
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    logger.addHandler(handler)
    try:
        yield log
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
