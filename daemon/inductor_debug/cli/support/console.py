"""The terminal: encodings that must not crash, the question whether to colour, the progress line, complaints.

Results go to standard output, all that is said here goes to standard error. Nothing in this module decides an outcome.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Mapping
from typing import TextIO

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells report it."""
BROKEN_PIPE = 141
"""The exit code when the reader of our output went away, as shells report it."""


class CommandError(Exception):
    """What keeps a command from doing what was asked; the message says it in a line. The command ends with code 2."""


class InterruptedRunError(Exception):
    """A signal ended the run; nothing is running any more."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.exit_code = 128 + signal_number


def prepare_streams() -> None:
    """Makes standard output and error safe to write to.

    Text that a terminal's encoding cannot hold comes out as question marks instead of as an exception. A stream that
    whoever started us has closed goes nowhere; its descriptor is taken, so that no socket of ours gets that number.
    """
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            with contextlib.suppress(OSError):
                if (nowhere := os.open(os.devnull, os.O_WRONLY)) != number:
                    os.dup2(nowhere, number)
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (it lives as long as we do)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def silence_output() -> None:
    """Points standard output nowhere, so that the interpreter's last flush does not complain once more."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):  # no descriptor behind it: nothing to flush either
        pass


def fail(message: str) -> int:
    """Complains in one line and returns the exit code for it."""
    say(f"error: {message}")
    return 2


def say(message: str) -> None:
    """One line for the person at the terminal, never part of the result."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in message)
    sys.stderr.write(f"inductor-debug: {line}\n")
    sys.stderr.flush()


def wants_colour(mode: str, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether to colour what goes to `stream`.

    Args:
        mode: "always", "never" or "auto". Auto heeds `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb`, then asks the stream.
        stream: where the text goes.
        environ: the environment.
    """
    if mode != "auto":
        return mode == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return environ.get("TERM") != "dumb" and stream.isatty()


class Progress:
    """One line on standard error that says how far a long run has come, and is gone when the run is over."""

    def __init__(self, total: int, *, enabled: bool, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._enabled = enabled and self._stream.isatty()
        self._total = total
        self._done = 0
        self._shown = False

    def show(self, text: str) -> None:
        """Shows what is being done now."""
        if not self._enabled:
            return
        line = _fit(f"[{self._done}/{self._total}] {text}", max(shutil.get_terminal_size().columns - 1, 20))
        self._stream.write(f"\r\x1b[2K{line}")
        self._stream.flush()
        self._shown = True

    def step(self) -> None:
        """One more file is done."""
        self._done += 1

    def clear(self) -> None:
        """Takes the line away, before other output and at the end."""
        if self._shown:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._shown = False


def _fit(text: str, room: int) -> str:
    """As much of `text` as fits into `room` columns."""
    from inductor_debug.report.cells import cells  # here, because `serve` has no use for it

    line = ""
    for shown, width in cells(text):
        room -= width
        if room < 0:
            break
        line += shown
    return line
