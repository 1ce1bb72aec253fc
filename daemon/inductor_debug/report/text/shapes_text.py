"""What the sizes of a target's inputs became when it was exported, as text: `analyze --type shapes`."""

from __future__ import annotations

from collections.abc import Iterator

from inductor_debug_schema import Range
from inductor_debug_schema.answers.shapes_document import DimensionState, InputDimension, ShapesDocument

from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler


class ShapesText:
    """Writes such documents for people."""

    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places = places
        self._sources = sources
        self._paint = styler.paint

    def text(self, document: ShapesDocument) -> str:
        """One document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: ShapesDocument) -> Iterator[str]:
        ends = "torch.export takes it" if document.exported else "torch.export does not take it"
        yield self._paint(printable(f"{self._places.shown(document.path)}::{document.target}: {ends}"), Role.HEADING)
        if document.why:
            yield printable(f"  {document.why}")
        for each in document.dimensions:
            name = f"{each.input}.shape[{each.dimension}]"
            yield printable(f"  {name} = {each.size}: {self._became(each)}")
        for symbol in document.unbacked:
            at = self._at(symbol.expression, symbol.path, symbol.range)
            yield printable(f"  {symbol.symbol}: known only when it runs{f', from {at}' if at else ''}")
        if document.dynamic_shapes:
            yield printable(f"  to export so: torch.export.export(…, {document.dynamic_shapes})")
        if document.marks:
            yield "  to compile so, before the first call:"
            yield from (printable(f"    {mark}") for mark in document.marks.splitlines())

    def _became(self, each: InputDimension) -> str:
        at = self._at(each.because, each.path, each.range)
        because = f" because of {at}" if at else ""
        if each.state is DimensionState.SPECIALISED:
            return f"specialised, became {each.size}{because}"
        if each.state is DimensionState.STATIC:
            return "static"
        asked = f", where {' and '.join(each.asked)}" if each.asked else ""
        if each.state is DimensionState.TIED:
            return f"dynamic, the same as {each.tied_to}{because}"
        upper = f" to {each.maximum}" if each.maximum is not None else " or more"
        limits = f", {each.minimum}{upper}" if each.minimum is not None else ""
        return f"dynamic{f' ({each.symbol})' if each.symbol else ''}{limits}{asked}"

    def _at(self, expression: str, path: str | None, place: Range | None) -> str:
        if path is None or place is None:
            return ""
        return (
            f"`{' '.join(expression.split())}` at {self._sources.location(self._places.shown(path), path, place.start)}"
        )
