"""The memory of a run (`engine.live_tensors.memory_run`) for people: `analyze --type memory`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from inductor_debug_schema import Location
from inductor_debug_schema.answers.memory_document import HeldMemory, MemoryDocument

from inductor_debug.engine.live_tensors.moment import CURVE_STEPS, curve_of
from inductor_debug.report.cells import one_line, printable, shortened, width_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.memory_words import KINDS_OF_MEMORY
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.wrapping import wrapped
from inductor_debug.rules.amounts import counted, in_bytes

_BARS = "▁▂▃▄▅▆▇█"
_CURVE = "  over the run: "
_KIND = 10
_MOST_ROWS = 15
_LONGEST_SOURCE = 48


class _Row(NamedTuple):
    """What is told of memory: all that is told alike is one row."""

    bytes: int
    what: str
    tensor: str
    place: str


class MemoryText:
    """Writes memory documents."""

    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places = places
        self._sources = sources
        self._paint = styler.paint
        self._width = styler.width
        self._most_steps = CURVE_STEPS if styler.width is None else max(min(styler.width - len(_CURVE), CURVE_STEPS), 1)

    def text(self, document: MemoryDocument) -> str:
        """One document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: MemoryDocument) -> Iterator[str]:
        heading = f"{self._places.shown(document.path)}::{document.target}, {counted(document.operations, 'operation')}"
        yield self._paint(printable(heading), Role.HEADING)
        if document.peak < 0:
            yield "  it runs no operation"
            return
        at = self._at(document.place) if document.place is not None else "outside of the project's expressions"
        yield f"  at most {in_bytes(document.peak_bytes)} alive, at operation {document.peak + 1}: {printable(at)}"
        parts = [f"{KINDS_OF_MEMORY[kind.kind]} {in_bytes(kind.bytes[document.peak])}" for kind in document.kinds]
        yield f"  there: {', '.join(parts)}"
        sizes = ", ".join(f"{name} = {value}" for name, value in document.symbols.items())
        if document.inputs or sizes:
            yield from wrapped(f"with {printable(document.inputs or sizes)}", "  ", "  ", self._width)
        totals = [sum(values) for values in zip(*(kind.bytes for kind in document.kinds), strict=True)]
        yield f"{_CURVE}{_bars(curve_of(totals, self._most_steps))}"
        yield ""
        yield self._paint("  alive at the peak", Role.FAINT)
        rows = sorted(Counter(map(self._row, document.held)).items(), key=lambda item: -item[0].bytes * item[1])
        amounts = [in_bytes(row.bytes * count) for row, count in rows[:_MOST_ROWS]]
        width = max(map(width_of, amounts), default=0)
        for (row, count), size in zip(rows, amounts, strict=False):
            often = f" ×{count}" if count > 1 else ""
            told = "  ".join(filter(None, [row.what, row.tensor + often, row.place]))
            yield printable(f"  {' ' * (width - width_of(size))}{size}  {told}")
        if len(rows) > _MOST_ROWS:
            yield f"  and {counted(len(rows) - _MOST_ROWS, 'more row')}: --format json has all"

    def _row(self, row: HeldMemory) -> _Row:
        shape = f"{row.dtype}[{', '.join(map(str, row.shape))}]"
        place = self._at(row.place) if row.place is not None else ""
        return _Row(row.bytes, f"{row.kind:{_KIND}} {row.name}".rstrip(), shape, place)

    def _at(self, place: Location) -> str:
        where = self._sources.location(self._places.shown(place.path), place.path, place.range.start)
        source = one_line(self._sources.of(place.path).excerpt(place.range))
        return f"{where}  {shortened(source, _LONGEST_SOURCE)}"


def _bars(curve: list[int]) -> str:
    most = max(curve, default=0)
    return "".join(_BARS[min(value * len(_BARS) // max(most, 1), len(_BARS) - 1)] for value in curve)
