"""What torch's loggers say while a stage runs, where the user asked for it with `TORCH_LOGS`.

Torch reads the variable when it is imported, which a warm process has long done: it is read again for each job.
Private: `torch._logging._internal._init_logs`, read in torch 2.11 to 2.14; where it is gone, what was asked for when
the process began is all that is logged. Loggers' levels and handlers stay torch's: only where these write is changed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import torch

VARIABLE = "TORCH_LOGS"
LARGEST = 1 << 20
"""Characters that are kept of a stage."""
_LONGER = "… and more, which was not kept\n"


class TorchLog:
    """What was logged, as a stream that forgets what is too long."""

    def __init__(self, without: str) -> None:
        self._without = without
        self._parts: list[str] = []
        self._left = LARGEST

    @property
    def text(self) -> str:
        """All of it, as torch writes it, but for lines with what is left out."""
        lines = "".join(self._parts).splitlines(keepends=True)
        return "".join(line for line in lines if not (self._without and self._without in line))

    def write(self, text: str) -> None:
        """Keeps a piece; the first one that is too much is said to be."""
        if len(text) <= self._left:
            self._parts.append(text)
        elif self._left >= 0:
            self._parts.append(_LONGER)
            self._left = 0
        self._left -= len(text)

    def flush(self) -> None:
        """Nothing waits."""


def ask_for(wanted: str) -> None:
    """Has torch log what `TORCH_LOGS=wanted` asks for; what it does not know was refused when torch was imported."""
    if not wanted:
        return
    os.environ[VARIABLE] = wanted
    read_again = getattr(getattr(torch._logging, "_internal", None), "_init_logs", None)
    if read_again is not None:
        with suppress(ValueError):
            read_again()


@contextmanager
def kept_log(wanted: str, *, without: str = "") -> Iterator[TorchLog]:
    """Keeps what torch logs inside; nothing where nothing is wanted. Lines with what is in `without` are left out."""
    log = TorchLog(without)
    handlers = _handlers() if wanted else []
    before = [handler.setStream(log) for handler in handlers]
    try:
        yield log
    finally:
        for handler, stream in zip(handlers, before, strict=True):
            if stream is not None:
                handler.setStream(stream)


def _handlers() -> list[logging.StreamHandler]:  # type: ignore[type-arg]
    """Those of torch's loggers that write to a stream, and to no file."""
    known = logging.root.manager.loggerDict.items()
    loggers = [logger for name, logger in known if name.partition(".")[0] == "torch"]
    found = [handler for logger in loggers for handler in getattr(logger, "handlers", ())]
    return list(dict.fromkeys(handler for handler in found if type(handler) is logging.StreamHandler))
