"""Open notebooks: their cells as the client has them, and where places in cells are in the text that is analysed.

That text is a document of its own, with the notebook's URI: what was run, in order (`engine/notebooks/cell_runs`).
Features ask in its positions; the cells are what clients ask about and are answered in. Where a cell was edited since
it ran, places move along with the edit, as far as their text is still there. Nothing here sends or analyses anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from inductor_debug_schema import CellLines, Position, Range

from inductor_debug.engine.notebooks.cell_runs import CellRun, last_runs, python_text, with_run
from inductor_debug.server.state.text_outline import outline_of
from inductor_debug.source.notebooks.reading import Notebook, notebook_of, open_as
from inductor_debug.source.text_changes import difference


@dataclass(slots=True)
class Cell:
    """A code cell: `text` as the client sees it, at the client's `version`; `running` is the text that runs now.

    `seen` is what the client last said of its execution: what the kernel had counted, and whether it went well.
    """

    uri: str
    version: int
    text: str
    seen: tuple[int, bool] | None = None
    running: str | None = None


@dataclass(frozen=True, slots=True)
class _Area:
    """The lines of the analysed text that are a cell's, and its text as it ran."""

    start: int
    lines: int
    ran: str


@dataclass(slots=True)
class OpenNotebook:
    """One notebook: its `cells` in Python, and in `order` the URIs of all cells from top to bottom.

    With `whole` the user has asked for a check of all cells, as they stand.
    """

    uri: str
    path: str
    cells: dict[str, Cell] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    runs: tuple[CellRun, ...] = ()
    whole: bool = False
    _areas: dict[str, _Area] = field(default_factory=dict)

    def take(self, run: CellRun) -> None:
        """Takes in a run of a cell."""
        before, self.runs = self.runs, with_run(self.runs, run)
        self.whole = self.whole and self.runs == before

    def compose(self) -> Notebook:
        """The text to analyse: of what was run, or of all cells as they stand."""
        runs = self.runs
        if self.whole:
            code = filter(self.cells.__contains__, self.order)
            runs = tuple(CellRun(uri, number, self.cells[uri].text) for number, uri in enumerate(code))
        numbers = {uri: number for number, uri in enumerate(self.order, 1)}
        notebook = notebook_of((numbers.get(run.cell, 0), python_text(run.text)) for run in runs)
        self._areas = {}
        for cell, index in last_runs(runs).items():
            ran = runs[index].text
            self._areas[cell] = _Area(notebook.starts[index], python_text(ran).count("\n") + 1, ran)
        open_as(self.path, notebook)
        return notebook

    def has_run(self, cell: str) -> bool:
        """Whether a cell is part of what is analysed."""
        return cell in self._areas

    def is_edited(self, cell: str) -> bool:
        """Whether a cell is not what was run of it any more."""
        area = self._areas.get(cell)
        return area is not None and self.cells[cell].text != area.ran

    def area(self, cell: str) -> Range | None:
        """The lines of the analysed text that are a cell's."""
        area = self._areas.get(cell)
        return None if area is None else Range(Position(area.start, 0), Position(area.start + area.lines, 0))

    def lines(self) -> list[CellLines]:
        """The lines of the analysed text that are those of cells."""
        return [CellLines(uri, area.start, area.lines) for uri, area in self._areas.items() if uri in self.cells]

    def inside(self, cell: str, place: Range) -> Range | None:
        """Where a place in a cell is in the analysed text."""
        area = self._areas.get(cell)
        if area is None:
            return None
        moved = difference(self.cells[cell].text, area.ran).moved(place)
        return None if moved is None else _shifted(moved, area.start)

    def outside(self, place: Range) -> tuple[str, Range] | None:
        """The cell in which a place of the analysed text is, and where; None where that is in none, or gone."""
        for uri, area in self._areas.items():
            if area.start <= place.start.line < area.start + area.lines and uri in self.cells:
                moved = difference(area.ran, self.cells[uri].text).moved(_shifted(place, -area.start))
                return None if moved is None else (uri, moved)
        return None

    def waiting(self) -> tuple[str, int] | None:
        """The first cell that nobody ran and that defines a module, and the line of it; None where all have run."""
        for uri in filter(self.cells.__contains__, self.order):
            outline = None if uri in self._areas else outline_of(python_text(self.cells[uri].text))
            if outline is not None and outline.modules:
                return uri, outline.modules[0].line
        return None


class NotebookCells:
    """The open notebooks of one client, and of which of them a cell is."""

    def __init__(self) -> None:
        self.known: dict[str, OpenNotebook] = {}

    def notebook_of(self, uri: str) -> OpenNotebook | None:
        """The notebook that a cell belongs to; None for what is no cell."""
        return next((notebook for notebook in self.known.values() if uri in notebook.cells), None)

    def at(self, path: str) -> OpenNotebook | None:
        """The open notebook of a file."""
        return next((notebook for notebook in self.known.values() if notebook.path == path), None)

    def outside(self, path: str, place: Range) -> tuple[str, Range] | None:
        """The cell in which a place of a file is, and where; None where the file is no open notebook."""
        notebook = self.at(path)
        return None if notebook is None else notebook.outside(place)

    def cells_of(self, uri: str) -> Iterator[str]:
        """The cells of the notebook with a URI."""
        notebook = self.known.get(uri)
        yield from notebook.cells if notebook is not None else ()


def _shifted(place: Range, lines: int) -> Range:
    start, end = place.start, place.end
    return Range(Position(start.line + lines, start.character), Position(end.line + lines, end.character))
