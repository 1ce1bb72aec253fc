"""From lines that a compiler remembers to expressions in the files as they are now.

A place is told only where the line still says what the compiler saw; where it has moved to one other line, there.
Files are looked for where the compiler saw them, and, for what was compiled elsewhere, under the folders that the
user works in. Only regular Python files are opened, and nothing of them is shown but positions.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath, PureWindowsPath

from inductor_debug_schema import Location, Position

from inductor_debug.rules.amounts import counted
from inductor_debug.source.line_expressions import Line, LineExpressions
from inductor_debug.source.source_text import SourceText
from inductor_debug.source.text_lines import utf16_length

LARGEST_SOURCE = 8 << 20
_ENDINGS = (".py", ".pyi")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A source file: the path where it is, and its lines."""

    path: str
    lines: LineExpressions
    modified: float


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line of a file as it is now: its zero-based number and what stands on it."""

    file: FoundFile
    number: int
    line: Line

    @property
    def statement(self) -> Location:
        """The whole statement."""
        return Location(self.file.path, self.line.statement)


@dataclass
class SourcePlaces:
    """Finds lines for one document, and remembers what could not be found.

    Args:
        roots: folders where files are looked for that are not where the compiler saw them.
    """

    roots: Sequence[str]
    _files: dict[str, FoundFile | None] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    _lines: dict[tuple[str, int, str], FoundLine | None] = field(default_factory=dict)

    def afresh(self) -> SourcePlaces:
        """For another document: files that were read are known, and nothing is missing yet."""
        return SourcePlaces(self.roots, self._files)

    def file(self, path: str) -> FoundFile | None:
        """The file that the compiler called `path`; None where it is not here."""
        if path not in self._files:
            self._files[path] = self._find(path)
        found = self._files[path]
        if found is not None and found.path != path:
            self.moved[path] = found.path
        return found

    def line(self, path: str, number: int, code: str) -> FoundLine | None:
        """The line that the compiler saw as the zero-based `number`, saying `code`; None where it is not there now."""
        key = (path, number, code)
        if key not in self._lines:
            self._lines[key] = self._look(path, number, code)
        return self._lines[key]

    def notes(self) -> list[str]:
        """What could not be found, in sentences."""
        said = [f"{path} was read for {before}, which is not here." for before, path in self.moved.items()]
        said += [
            f"{path} has changed since: {counted(count, 'line')} of it could not be found again."
            for path, count in self.changed.items()
        ]
        return said + [f"{path} is not here, so nothing that comes from it has a place." for path in self.missing]

    def _look(self, path: str, number: int, code: str) -> FoundLine | None:
        file = self.file(path)
        if file is None:
            self.missing[path] = self.missing.get(path, 0) + 1
            return None
        if number < len(file.lines) and (not code or _same(file.lines.text(number), code)):
            return FoundLine(file, number, file.lines.line(number))
        same = [at for at in range(len(file.lines)) if code and _same(file.lines.text(at), code)]
        if len(same) != 1:
            self.changed[path] = self.changed.get(path, 0) + 1
            return None
        return FoundLine(file, same[0], file.lines.line(same[0]))

    def _find(self, path: str) -> FoundFile | None:
        if not path.endswith(_ENDINGS) or "\0" in path:
            return None
        candidates = [path] if os.path.isabs(path) else []
        for candidate in [*candidates, *self._elsewhere(path)]:
            found = _read(candidate)
            if found is not None:
                return found
        return None

    def _elsewhere(self, path: str) -> Iterable[str]:
        """The same file under the user's folders: with as much of its path as fits, the longest first."""
        parts = (PureWindowsPath(path) if "\\" in path else PurePosixPath(path)).parts
        inner = [part for part in parts if part not in ("/", "\\", "..", ".") and ":" not in part]
        for start in range(len(inner)):
            for root in self.roots:
                yield os.path.join(root, *inner[start:])


def is_library(path: str) -> bool:
    """Whether a file belongs to an installed package, whose lines are nobody's who compiles."""
    parts = path.replace("\\", "/").split("/")
    return "site-packages" in parts or "dist-packages" in parts


def position_of(source: LineExpressions, line: int, character: int) -> Position:
    """The position of a column in characters."""
    return Position(line, utf16_length((source.text(line) or "")[:character]))


def _same(text: str | None, code: str) -> bool:
    return text is not None and text.strip() == code.strip()


def _read(path: str) -> FoundFile | None:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_SOURCE:
            return None
    except (OSError, ValueError):
        return None
    source = SourceText.read(path)
    return (
        FoundFile(os.path.abspath(path), LineExpressions("\n".join(source.lines)), status.st_mtime)
        if source is not None
        else None
    )
