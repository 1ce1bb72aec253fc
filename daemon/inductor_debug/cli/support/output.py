"""Where a result goes: standard output, or a file that is either the whole result or what it was before.

Documents are written as UTF-8 whatever the terminal's encoding; text follows the terminal.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import stat
import sys
from collections.abc import Iterable

from inductor_debug.cli.support import console
from inductor_debug.cli.support.console import CommandError
from inductor_debug.report.styles import Styler


class OutputError(CommandError):
    """A file cannot be written; the message names it and the reason."""


def add_output(
    group: argparse._ActionsContainer, formats: Iterable[str] = ("text", "json"), default: str = "text"
) -> None:
    """Adds `--format`, `-o` and `--color`."""
    group.add_argument("--format", choices=tuple(formats), default=default, help="default: %(default)s")
    group.add_argument("-o", "--output", metavar="FILE", help="write the result there instead of to standard output")
    add_colour(group)


def add_colour(group: argparse._ActionsContainer) -> None:
    """Adds `--color`, which `styler` reads."""
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: %(default)s")


def styler(arguments: argparse.Namespace) -> Styler:
    """Colours if asked for, or if the result goes to a terminal that shows them; and how wide that is."""
    to_terminal = getattr(arguments, "output", None) is None
    mode = arguments.color if to_terminal or arguments.color == "always" else "never"
    width = shutil.get_terminal_size().columns if to_terminal and sys.stdout.isatty() else None
    return Styler(console.wants_colour(mode, sys.stdout, os.environ), width)


class Output:
    """Takes a result piece by piece. Standard output gets each at once, a file all of them at `commit`."""

    def __init__(self, path: str | None, *, utf8: bool) -> None:
        """Checks early what can be known early.

        Raises:
            OutputError: nothing can be written at `path`.
        """
        self._path = path
        self._utf8 = utf8
        self._pieces: list[str] = []
        if path is not None:
            require_writable(path)

    def write(self, text: str) -> None:
        """Adds a piece.

        Raises:
            BrokenPipeError: the reader of standard output is gone.
            OutputError: standard output cannot take it.
        """
        if self._path is not None:
            self._pieces.append(text)
            return
        try:
            _print(text, utf8=self._utf8)
        except BrokenPipeError:
            raise
        except OSError as error:
            console.silence_output()
            raise OutputError(f"cannot write standard output: {error.strerror or error}") from error

    def commit(self) -> None:
        """Makes the result appear at its path.

        Raises:
            OutputError: the file cannot be written.
        """
        if self._path is not None:
            write_whole(self._path, "".join(self._pieces))


def _print(text: str, *, utf8: bool) -> None:
    if utf8 and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    else:
        sys.stdout.write(text)
        sys.stdout.flush()


def require_writable(path: str) -> None:
    """Complains of a path that no file can be written at.

    Raises:
        OutputError: it is a folder, or its folder is missing or closed to us.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise OutputError(f"cannot write {path}: it is a folder")
    if not os.path.isdir(folder):
        raise OutputError(f"cannot write {path}: the folder {folder} does not exist")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise OutputError(f"cannot write {path}: permission denied")


def write_whole(path: str, text: str) -> None:
    """Writes a UTF-8 file in one step: readers see the old file or the new one, never half of it.

    Raises:
        OutputError: it cannot be written.
    """
    final = os.path.realpath(path)
    data = text.encode("utf-8", "replace")
    draft = None
    try:
        if os.path.exists(final) and not stat.S_ISREG(os.stat(final).st_mode):
            with open(final, "wb") as file:  # a pipe or a device has nothing to replace
                file.write(data)
            return
        folder, name = os.path.split(final)
        draft = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
        with open(draft, "wb") as file:
            file.write(data)
        if os.path.exists(final):
            shutil.copymode(final, draft)
        os.replace(draft, final)
    except OSError as error:
        if draft is not None:
            with contextlib.suppress(OSError):
                os.unlink(draft)
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
