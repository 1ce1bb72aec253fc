"""Ways to run a model otherwise as a page: what each needs beside the run as it is, and the code for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inductor_debug_schema import RunFigures, SuggestionsDocument, TriedWay

from inductor_debug.report.file_names import FileNames
from inductor_debug.report.html.markup import Links, bullets, code, command, page, table, text, texts
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.suggestion_words import BOUND, cautions, code_of, fits, gain, not_offered, title_of
from inductor_debug.rules.amounts import in_bytes, in_seconds

_COLUMNS = ("", "Change", "Time", "Copies", "Memory", "Crosses the memory's border")
"""From "Time" on they are numbers."""


def suggestions_page(documents: Sequence[SuggestionsDocument], places: FileNames, sources: ShownTexts) -> str:
    """The page of one target, or of several."""
    title = _title(documents[0]) if len(documents) == 1 else "What makes them faster"
    links = Links(places, sources)
    return page(title, ["\n<hr>\n".join("\n".join(_body(document, links)) for document in documents)])


def _title(document: SuggestionsDocument) -> str:
    return f"What makes {document.target} faster"


def _body(document: SuggestionsDocument, links: Links) -> Iterator[str]:
    on = document.title or document.accelerator or "no accelerator"
    what = "Forward and backward" if document.training else "Forward"
    inputs = f", with inferred inputs, {document.inputs}" if document.inputs else ""
    yield f"<h1>{text(_title(document))}</h1>"
    if document.before is None:
        yield f"<p><strong>{text(document.problem)}</strong></p>"
        return
    yield f"<p>{text(f'{what} on {on}{inputs}. {BOUND}')}</p>"
    offered = [tried for tried in document.tried if tried.offered]
    rows = [_as_it_is(document, document.before), *(_row(document, document.before, tried) for tried in offered)]
    said = [number for number in range(len(_COLUMNS)) if number == 0 or any(row[number] for row in rows)]
    columns = [_COLUMNS[number] for number in said]
    cells = [[row[number] for number in said] for row in rows]
    yield table(columns, cells, columns.index("Time"), named=True, stacked=True)
    if not offered:
        yield "<p>Nothing that was tried needs less.</p>"
    for tried in offered:
        yield f"<h2>{text(title_of(tried))}</h2>"
        yield command("\n".join(code_of(document, tried)))
        if tried.breaks:
            yield bullets(f"{links.location(each.path, each.range)} {code(each.text)}" for each in tried.breaks)
        yield from (f"<p>{text(caution)}</p>" for caution in cautions(tried))
    vain = [not_offered(tried) for tried in document.tried if not tried.offered]
    if vain:
        yield "<h2>Tried in vain</h2>"
        yield bullets(map(text, vain))


def _as_it_is(document: SuggestionsDocument, figures: RunFigures) -> tuple[str, ...]:
    told = fits(document, figures)
    return ("as it is", f"<strong>{text(told)}</strong>" if told else "", *_numbers(figures))


def _row(document: SuggestionsDocument, before: RunFigures, tried: TriedWay) -> tuple[str, ...]:
    assert tried.figures is not None
    told = [gain(before, tried.figures), fits(document, tried.figures)]
    return (text(title_of(tried)), text(", ".join(filter(None, told))), *_numbers(tried.figures))


def _numbers(figures: RunFigures) -> tuple[str, ...]:
    copies = in_seconds(figures.copied_seconds) if figures.copied_seconds else ""
    return texts((in_seconds(figures.seconds), copies, in_bytes(figures.peak_bytes), in_bytes(figures.crossing_bytes)))
