"""Source files on disk, read as Python would read them, with a clear finding for each way in which one can be unusable.

Reads only; a file is never executed, and never read further than `LARGEST_FILE` bytes.
"""

from __future__ import annotations

import io
import os
import stat
import tokenize
from collections import OrderedDict
from collections.abc import Callable

from inductor_debug_schema import Finding, Position, Range, Severity, Stage

from inductor_debug.engine.text.source_facts import PolicySource, source_of
from inductor_debug.source.notebooks.reading import LARGEST as LARGEST_NOTEBOOK
from inductor_debug.source.notebooks.reading import NotebookError, is_notebook, read_notebook
from inductor_debug.source.text_lines import first_line_range, split_lines, utf16_length

LARGEST_FILE = 2 << 20
"""Bytes (on disk) or characters (in an editor) that a source file may have."""
UNREADABLE_RULE = "unreadable"

_START = Range(Position(0, 0), Position(0, 0))


def read_source(path: str) -> str | Finding:
    """The text of the file at `path`, with its line ends as they are and without a byte order mark.

    Of a notebook it is the text of its cells (`source/notebooks`).
    """
    largest = LARGEST_NOTEBOOK if is_notebook(path) else LARGEST_FILE
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            return unreadable(path, "This is a folder, not a Python file.")
        if not stat.S_ISREG(status.st_mode):
            return unreadable(path, "This is not a regular file.")
        if status.st_size > largest:
            return unreadable(path, _too_large(status.st_size, largest))
        with open(path, "rb") as file:
            content = file.read(largest + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return unreadable(path, f"The file cannot be read: {reason}.")
    if not is_notebook(path):
        return decode(path, content)
    try:
        text = read_notebook(content).text
    except NotebookError as error:
        return unreadable(path, str(error))
    return size_fault(path, text) or text


def texts_as_ran(path: str, ran: str) -> Callable[[str], str | None]:
    """What has the text of each file of a run: `ran` for the one at `path`, "" for what is on disk, as for others."""

    def text_of(other: str) -> str | None:
        if other == path and ran:
            return ran
        text = read_source(other)
        return None if isinstance(text, Finding) else text

    return text_of


def decode(path: str, content: bytes) -> str | Finding:
    """Decodes a source file by its byte order mark or PEP 263 declaration; UTF-8 without one."""
    if b"\0" in content:
        return unreadable(path, "This is a binary file, not Python source.")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError as error:
        return unreadable(path, f"The file's encoding is not usable: {error.msg}.")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        before = split_lines(content[: error.start].decode(encoding, "replace"))
        place = Position(len(before) - 1, utf16_length(before[-1]))
        span = Range(place, Position(place.line, place.character + 1))
        byte = content[error.start]
        return unreadable(path, f"The file is not {encoding}: byte 0x{byte:02x} cannot be decoded.", span)
    except (LookupError, ValueError) as error:
        return unreadable(path, f"The file's encoding is not usable: {error}.")


def size_fault(path: str, text: str) -> Finding | None:
    """A finding if an editor's text is too large to be analysed."""
    if len(text) <= LARGEST_FILE:
        return None
    return unreadable(path, _too_large(len(text), LARGEST_FILE), first_line_range(text))


def unreadable(path: str, message: str, span: Range = _START) -> Finding:
    """A finding about a file that cannot be looked at."""
    return Finding(UNREADABLE_RULE, Severity.ERROR, message, path, span, Stage.LOAD)


def _too_large(size: int, largest: int) -> str:
    return f"The file is too large to be analysed: {size / (1 << 20):.1f} MB, the limit is {largest >> 20} MB."


class SourceFiles:
    """Sources of files that findings point to, kept while the file on disk stays the same."""

    def __init__(self, capacity: int = 32) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[str, tuple[tuple[int, int], PolicySource | None]] = OrderedDict()

    def __call__(self, path: str) -> PolicySource | None:
        """The source of the file at `path`; None if it cannot be read."""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        kept = self._kept.get(path)
        if kept is None or kept[0] != stamp:
            text = read_source(path)
            kept = (stamp, None if isinstance(text, Finding) else source_of(text))
            self._kept[path] = kept
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        return kept[1]
