"""Notebook files (nbformat 3 and 4) as one Python text, and the way back from its lines to the cells."""

from __future__ import annotations

import bisect
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from inductor_debug_schema import CellStart, Range

from inductor_debug.source.notebooks.magics import python_of

SUFFIX = ".ipynb"
LARGEST = 64 << 20
"""Bytes that a notebook file may have: pictures among its outputs count, though nobody reads them."""
_PRELUDE = "display = print  # IPython's own, which no cell imports"
_OPEN: dict[str, Notebook] = {}
"""Notebooks by path of which other text is analysed than is on disk: they are open in an editor, or in no file."""


def is_notebook(path: str) -> bool:
    """Whether the file is a notebook by its name."""
    return path.endswith(SUFFIX)


class NotebookError(Exception):
    """The file is no notebook that can be read; the message says why in a sentence."""


@dataclass(frozen=True, slots=True)
class CellPlace:
    """A line of a cell: `cell` counts all cells from 1, as editors number them, `line` the lines of the cell from 0."""

    cell: int
    line: int

    def __str__(self) -> str:
        return f"cell {self.cell}, line {self.line + 1}"


@dataclass(frozen=True, slots=True)
class Notebook:
    """The code cells in one `text`; `starts` are the lines at which they begin, `numbers` their numbers.

    The number 0 is that of a cell that is not there any more.
    """

    text: str
    starts: tuple[int, ...]
    numbers: tuple[int, ...]

    def place(self, line: int) -> CellPlace | None:
        """Where a line of the text stands (from 0); None where that is in no cell."""
        index = bisect.bisect_right(self.starts, line) - 1
        if index < 0 or not self.numbers[index]:
            return None
        return CellPlace(self.numbers[index], line - self.starts[index])


def read_notebook(content: bytes) -> Notebook:
    """Reads a notebook file.

    Raises:
        NotebookError: it is none, or its cells are in another language.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotebookError(f"The file is no notebook: {error}.") from None
    if not isinstance(document, dict):
        raise NotebookError("The file is no notebook: there is no object in it.")
    language = _language(document)
    if language not in ("", "python", "ipython"):
        raise NotebookError(f"The cells of this notebook are in {language}, not in Python.")
    return notebook_of(_code_cells(document))


def notebook_of(cells: Iterable[tuple[int, str]]) -> Notebook:
    """Cells with their numbers, in the order in which they run, as one text."""
    lines, starts, numbers = [_PRELUDE], [], []
    for number, source in cells:
        starts.append(len(lines))
        numbers.append(number)
        lines += python_of(source).split("\n")
    return Notebook("\n".join(lines) + "\n", tuple(starts), tuple(numbers))


def open_as(path: str, notebook: Notebook | None) -> None:
    """From now on the lines of the notebook at `path` are those of this text; None: of the file again."""
    if notebook is None:
        _OPEN.pop(path, None)
    else:
        _OPEN[path] = notebook


def open_cells(path: str, text: str, cells: Sequence[CellStart]) -> None:
    """The same of a text whose cells begin at certain lines; without cells nothing is said of the file at `path`."""
    if cells:
        starts, numbers = zip(*((cell.line, cell.number) for cell in cells), strict=True)
        open_as(path, Notebook(text, starts, numbers))


def line_in_words(path: str, line: int) -> str:
    """`line 12` for a line of a file's text (from 0), `cell 4, line 7` where the file is a notebook."""
    place = place_of(path, line)
    return str(place) if place is not None else f"line {line + 1}"


def place_in_words(shown: str, path: str, line: int, character: int | None = None) -> str:
    """`model.py:12`, `model.py:12:9` or `models.ipynb: cell 4, line 7`, of a place counted from 0.

    Whoever names a line beside its file does it by this; `shown` is what the file is called there.
    """
    place = place_of(path, line)
    if place is not None:
        return f"{shown}: {place}"
    return f"{shown}:{line + 1}" if character is None else f"{shown}:{line + 1}:{character + 1}"


def lines_in_words(path: str, areas: Iterable[Range]) -> str:
    """`line 40`, `lines 31-33, 40`, `cell 3, lines 11-12 and cell 4, line 2`."""
    found: dict[int | None, list[tuple[int, int]]] = {}
    for area in areas:
        place = place_of(path, area.start.line)
        up = area.start.line - place.line if place is not None else 0
        cell = place.cell if place is not None else None
        found.setdefault(cell, []).append((area.start.line - up + 1, area.end.line - up + 1))
    return " and ".join(f"cell {cell}, {_lines(lines)}" if cell else _lines(lines) for cell, lines in found.items())


def _lines(areas: Sequence[tuple[int, int]]) -> str:
    several = len(areas) > 1 or areas[0][0] != areas[0][1]
    shown = (f"{first}" if first == last else f"{first}-{last}" for first, last in areas)
    return f"{'lines' if several else 'line'} {', '.join(shown)}"


def place_of(path: str, line: int) -> CellPlace | None:
    """The cell that a line (from 0) of the text of the notebook at `path` stands in; None in other files."""
    notebook = _notebook_at(path)
    return notebook.place(line) if notebook is not None else None


def place_seen_from(own: str, path: str, line: int) -> str:
    """`line 12` of the file that is spoken of, `helper.py:12` of another one, of a line counted from 0."""
    return line_in_words(path, line) if path == own else place_in_words(os.path.basename(path), path, line)


def line_of(path: str, cell: int, line: int) -> int | None:
    """Where a line of a cell, both as people count them, stands in the text; None where there is no such line."""
    areas = (area for area in cell_areas(path) if area["number"] == cell and 0 < line <= area["lines"])
    return next((area["start"] + line - 1 for area in areas), None)


def cells_of(path: str) -> list[tuple[int, int]]:
    """The number of each code cell and the line (from 0) at which it begins in the text; none in other files."""
    notebook = _notebook_at(path)
    return list(zip(notebook.numbers, notebook.starts, strict=True)) if notebook is not None else []


def cell_areas(path: str) -> list[dict[str, int]]:
    """The same for pages: `number`, `start` and how many `lines` each cell has."""
    notebook = _notebook_at(path)
    if notebook is None:
        return []
    ends = (*notebook.starts[1:], notebook.text.count("\n"))
    areas = zip(notebook.numbers, notebook.starts, ends, strict=True)
    return [{"number": number, "start": start, "lines": end - start} for number, start, end in areas if number]


def _notebook_at(path: str) -> Notebook | None:
    return _OPEN.get(path) or _on_disk(path)


def _on_disk(path: str) -> Notebook | None:
    if not is_notebook(path):
        return None
    try:
        status = os.stat(path)
        return _read(path, status.st_mtime_ns, status.st_size)
    except (OSError, NotebookError):
        return None


@lru_cache(maxsize=4)
def _read(path: str, _changed: int, _size: int) -> Notebook:
    with open(path, "rb") as file:
        return read_notebook(file.read(LARGEST))


def _language(document: dict[str, Any]) -> str:
    metadata = document.get("metadata")
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        said = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(said, dict) and isinstance(said.get(name), str):
            return str(said[name]).lower()
    return ""


def _code_cells(document: dict[str, Any]) -> Iterator[tuple[int, str]]:
    cells = document.get("cells")
    if cells is None:  # nbformat 3
        sheets = document.get("worksheets")
        first = sheets[0] if isinstance(sheets, list) and sheets else None
        cells = first.get("cells") if isinstance(first, dict) else None
    if not isinstance(cells, list):
        raise NotebookError("The file is no notebook: there are no cells in it.")
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            text = "".join(map(str, source)) if isinstance(source, list) else str(source)
            yield number, text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
