"""The texts of the files that findings point into, as reports show them: cells of notebooks, lines counted from one.

Files are read once, decoded as Python would decode them. A file that cannot be read, or is binary, has no lines:
reports then do without the excerpt and never fail over it.
"""

from __future__ import annotations

from collections.abc import Mapping

from inductor_debug_schema import Position

from inductor_debug.source.notebooks.reading import (
    CellPlace,
    Notebook,
    NotebookError,
    is_notebook,
    place_in_words,
    read_notebook,
)
from inductor_debug.source.source_text import SourceText, decode


class ShownText(SourceText):
    """The lines of one file as people are told of them; those of a notebook are the lines of its cells."""

    def __init__(self, text: str, notebook: Notebook | None = None) -> None:
        super().__init__(text)
        self._notebook = notebook

    def cell(self, number: int) -> CellPlace | None:
        """Which cell of a notebook the zero-based line `number` stands in; None in other files."""
        return self._notebook.place(number) if self._notebook is not None else None

    def label(self, number: int) -> int:
        """What people call the zero-based line `number`: counted from one, in a notebook within its cell."""
        place = self.cell(number)
        return (number if place is None else place.line) + 1


class ShownTexts:
    """Reads files once, on first use. `texts` hold what to show for a path in place of what is on disk."""

    def __init__(self, texts: Mapping[str, str | ShownText] | None = None) -> None:
        self._known = {path: ShownText(text) if isinstance(text, str) else text for path, text in (texts or {}).items()}

    def of(self, path: str) -> ShownText:
        """The text of the file at `path`; without lines if it cannot be read."""
        if path not in self._known:
            self._known[path] = _read(path)
        return self._known[path]

    def shown_position(self, path: str, position: Position) -> tuple[int, int]:
        """The one-based line and one-based column in characters, as compilers print them."""
        return position.line + 1, self.of(path).character_index(position) + 1

    def location(self, shown: str, path: str, position: Position) -> str:
        """`model.py:12:9`, or `models.ipynb: cell 3, line 5`; `shown` is what the report calls the file."""
        place = self.of(path).cell(position.line)  # of the text that is shown, whatever the file has now
        if place is not None:
            return f"{shown}: {place}"
        return place_in_words(shown, path, position.line, self.of(path).character_index(position))


def _read(path: str) -> ShownText:
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
        return ShownText(notebook.text, notebook)
    return _nothing() if b"\0" in data else ShownText(decode(data))


def _nothing() -> ShownText:
    """No lines at all, not even an empty one."""
    nothing = ShownText("")
    nothing.lines = []
    return nothing
