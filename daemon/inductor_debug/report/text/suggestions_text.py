"""The `suggestions` document as text for people. Works on the document alone; nothing here judges."""

from __future__ import annotations

from collections.abc import Iterator

from inductor_debug_schema import RunFigures, SuggestionsDocument, TriedWay

from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.suggestion_words import BOUND, cautions, code_of, fits, gain, needs, not_offered, title_of
from inductor_debug.report.text.wrapping import wrapped


def suggestions_text(document: SuggestionsDocument, places: FileNames, sources: ShownTexts, styler: Styler) -> str:
    """What the run needs as it is, what it would need otherwise and how, and what was tried in vain."""
    return "\n".join(_lines(document, places, styler)) + "\n"


def _lines(document: SuggestionsDocument, places: FileNames, styler: Styler) -> Iterator[str]:
    on = document.title or document.accelerator or "no accelerator"
    what = "forward and backward" if document.training else "forward"
    yield styler.paint(printable(f"{places.shown(document.path)}::{document.target}, {what}, on {on}"), Role.HEADING)
    if document.inputs:
        yield from wrapped(f"with inferred inputs, {printable(document.inputs)}", "  ", "  ", styler.width)
    if document.before is None:
        yield from wrapped(printable(document.problem), "  ", "  ", styler.width)
        return
    told = fits(document, document.before)
    yield f"  as it is: {needs(document.before)}" + (f": {told}" if told else "")
    offered = [tried for tried in document.tried if tried.offered]
    for tried in offered:
        yield ""
        yield from _offer(document, document.before, tried, styler)
    vain = [not_offered(tried) for tried in document.tried if not tried.offered]
    yield ""
    if not offered:
        yield "  nothing that was tried needs less"
    if vain:
        yield from wrapped(f"tried in vain: {'; '.join(map(printable, vain))}", "  ", "  ", styler.width)
    yield from wrapped(BOUND, "  ", "  ", styler.width)


def _offer(document: SuggestionsDocument, before: RunFigures, tried: TriedWay, styler: Styler) -> Iterator[str]:
    assert tried.figures is not None
    told = fits(document, tried.figures)
    yield f"  {styler.paint(title_of(tried), Role.HEADING)}: {gain(before, tried.figures)}"
    yield f"    {needs(tried.figures)}" + (f": {told}" if told else "")
    yield from (f"      {styler.paint(line, Role.PLACE)}" for line in code_of(document, tried))
    for caution in cautions(tried):
        yield from wrapped(caution, "    ", "    ", styler.width)
