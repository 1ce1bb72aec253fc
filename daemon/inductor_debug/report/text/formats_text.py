"""Which formats take an exported program, as text: `analyze --type formats`."""

from __future__ import annotations

from collections.abc import Iterator

from inductor_debug_schema.answers.formats_document import ExportFormat, FormatObstacle, FormatsDocument, FormatState

from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.rules.words.export_words import FORMAT_NAMES


class FormatsText:
    """Writes such documents for people."""

    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places = places
        self._sources = sources
        self._paint = styler.paint

    def text(self, document: FormatsDocument) -> str:
        """One document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: FormatsDocument) -> Iterator[str]:
        ends = "torch.export takes it" if document.exported else "torch.export does not take it"
        yield self._paint(printable(f"{self._places.shown(document.path)}::{document.target}: {ends}"), Role.HEADING)
        if document.why:
            yield printable(f"  {document.why}")
        for each in document.formats:
            yield printable(f"  {FORMAT_NAMES.get(each.format, each.format)} ({each.made_by}): {_verdict(each)}")
            yield from (printable(f"    {self._obstacle(obstacle)}") for obstacle in each.obstacles)

    def _obstacle(self, each: FormatObstacle) -> str:
        times = f" (× {each.count})" if each.count > 1 else ""
        if each.path is None or each.range is None:
            return f"{each.operator}{times}"
        at = self._sources.location(self._places.shown(each.path), each.path, each.range.start)
        return f"{each.operator}{times}, from `{' '.join(each.expression.split())}` at {at}"


def _verdict(each: ExportFormat) -> str:
    match each.state:
        case FormatState.TAKEN:
            return f"yes, with the sizes of the example alone; {each.why}" if each.fixed_sizes else "yes"
        case FormatState.REFUSED:
            return f"no: {each.why}"
        case FormatState.NOT_INSTALLED:
            return f"not installed: {each.why}"
        case FormatState.NOT_TRIED:
            return f"not tried: {each.why}"
