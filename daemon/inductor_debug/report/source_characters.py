"""The text of the files that findings point into, and conversion from wire positions to characters.

Positions on the wire count UTF-16 code units, because editors do; people, terminals and Python count characters. Files
are read once, decoded as Python would decode them, and split only where Python and LSP split lines. A file that cannot
be read, or is binary, has no lines: reports then do without the excerpt and never fail over it.
"""

from __future__ import annotations

import codecs
import io
import re
import tokenize

from inductor_debug_schema import Position, Range

from inductor_debug.engine.notebooks.reading import CellPlace, Notebook, NotebookError, is_notebook, read_notebook

_LINE_END = re.compile(r"\r\n|\n|\r")


class SourceText:
    """The lines of one file, without their line ends; those of a notebook are the lines of its cells."""

    def __init__(self, text: str, notebook: Notebook | None = None) -> None:
        self.lines = _LINE_END.split(text)
        self._notebook = notebook

    def cell(self, number: int) -> CellPlace | None:
        """Which cell of a notebook the zero-based line `number` stands in; None in other files."""
        return self._notebook.place(number) if self._notebook is not None else None

    def label(self, number: int) -> int:
        """What people call the zero-based line `number`: counted from one, in a notebook within its cell."""
        place = self.cell(number)
        return (number if place is None else place.line) + 1

    def line(self, number: int) -> str | None:
        """The zero-based line `number`, or None past the end."""
        return self.lines[number] if 0 <= number < len(self.lines) else None

    def character_index(self, position: Position) -> int:
        """The index of `position` in its line, in characters; the line's length if it lies past its end.

        A position on a line that does not exist keeps its UTF-16 count, which is right for all but astral characters.
        """
        line = self.line(position.line)
        if line is None:
            return position.character
        units = 0
        for index, character in enumerate(line):
            if units >= position.character:
                return index
            units += 2 if ord(character) > 0xFFFF else 1
        return len(line)

    def excerpt(self, area: Range, *, at_most: int = 200) -> str:
        """The text inside `area`, cut after `at_most` characters; empty when the file has no such lines."""
        lines = []
        for number in range(area.start.line, min(area.end.line, area.start.line + at_most) + 1):
            line = self.line(number)
            if line is None:
                break
            start = self.character_index(area.start) if number == area.start.line else 0
            end = self.character_index(area.end) if number == area.end.line else len(line)
            lines.append(line[start:end])
        return "\n".join(lines)[:at_most]


class Sources:
    """Reads files once, on first use. `texts` hold what to show for a path in place of what is on disk."""

    def __init__(self, texts: dict[str, str] | None = None) -> None:
        self._known = {path: SourceText(text) for path, text in (texts or {}).items()}

    def of(self, path: str) -> SourceText:
        """The text of the file at `path`; without lines if it cannot be read."""
        if path not in self._known:
            self._known[path] = _read(path)
        return self._known[path]

    def shown_position(self, path: str, position: Position) -> tuple[int, int]:
        """The one-based line and one-based column in characters, as compilers print them."""
        return position.line + 1, self.of(path).character_index(position) + 1

    def location(self, shown: str, path: str, position: Position) -> str:
        """`model.py:12:9`, or `models.ipynb: cell 3, line 5`; `shown` is what the report calls the file."""
        place = self.of(path).cell(position.line)
        if place is not None:
            return f"{shown}: {place}"
        line, column = self.shown_position(path, position)
        return f"{shown}:{line}:{column}"


def _read(path: str) -> SourceText:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError):
        return _nothing()
    if is_notebook(path):
        try:
            notebook = read_notebook(data)
        except NotebookError:
            return _nothing()
        return SourceText(notebook.text, notebook)
    return _nothing() if b"\0" in data else SourceText(decode(data))


def _nothing() -> SourceText:
    """No lines at all, not even an empty one."""
    nothing = SourceText("")
    nothing.lines = []
    return nothing


def decode(data: bytes) -> str:
    """Decodes Python source by its byte order mark or coding comment, replacing what does not fit."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        encoding = "utf-8"
    return codecs.decode(data, encoding, "replace")
