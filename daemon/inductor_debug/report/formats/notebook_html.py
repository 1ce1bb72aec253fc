"""What notebooks show under a cell: findings, comparisons and graphs as pieces of HTML that bring their own looks.

A notebook is other people's page: nothing here has a script, an identifier or a style of its own names, and whatever
comes from elsewhere is text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inductor_debug_schema import DiffDocument, DiffTensor, DiffVerdict, Finding, GraphDocument, Range, Severity

from inductor_debug.report.file_names import FileNames
from inductor_debug.report.graphs.graph_svg import graph_svg
from inductor_debug.report.html.markup import code, table, text, texts
from inductor_debug.report.run_report import CheckResult, summary
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.snippet import ShownSnippet
from inductor_debug.report.text.text import describe, split_message
from inductor_debug.report.unchecked_classes import coverage_line

_COLOURS = {
    Severity.ERROR: "#c72e0f",
    Severity.WARNING: "#a66300",
    Severity.INFORMATION: "#1a7f9c",
    Severity.HINT: "#808080",
}
_VERDICTS = {DiffVerdict.PASS: "#2e7d32", DiffVerdict.SUSPICIOUS: "#a66300"}
_GOOD, _BAD = "#2e7d32", "#c72e0f"
_MOST_ROWS = 30
_MOST_BLAMED = 5


def check_inline(result: CheckResult, places: FileNames, sources: ShownTexts) -> str:
    """Findings, each with its source, and how much was checked."""
    drawn = _Drawing(places, sources)
    found = [drawn.finding(finding) for _, finding in result.findings()]
    colour = _BAD if found else _GOOD
    last = " · ".join(filter(None, (summary(result), coverage_line(result.files, sources))))
    return _box(colour, [*found, f"<div style='opacity:0.75'>{text(last)}</div>"])


def diff_inline(document: DiffDocument, places: FileNames, sources: ShownTexts) -> str:
    """The verdict of a comparison, a table of results, and the blamed expressions."""
    verdict = document.verdict or DiffVerdict.FAILED
    colour = _VERDICTS.get(verdict, _BAD)
    head = f"{document.target}: {document.backend} against {document.reference}: "
    rows = [_row(tensor) for tensor in (*document.outputs, *document.gradients)][:_MOST_ROWS]
    drawn = _Drawing(places, sources)
    body = [
        f"<div>{text(head)}<b style='color:{colour}'>{text(verdict.value)}</b></div>",
        f"<div>{text(document.why)}</div>",
        table(("result", "type", "verdict", "times expected", "max error", "SNR dB"), rows, 3) if rows else "",
    ]
    for blame in document.blame[:_MOST_BLAMED]:
        body.append(f"<div style='margin-top:0.5em'>{code(blame.op)} {text(blame.why)}</div>")
        if blame.path is not None and blame.range is not None:
            body.append(drawn.source(blame.path, blame.range))
    return _box(colour, body)


def graphs_inline(documents: Iterable[GraphDocument]) -> str:
    """Pictures of graphs, which can be folded away."""
    pictures = (
        f"<details open><summary>{text(f'graphs of {document.target}')}</summary>"
        f"<div style='overflow:auto;max-height:40em'>{graph_svg(document)}</div></details>"
        for document in documents
    )
    return "".join(pictures)


class _Drawing:
    """Draws what has a place in the source."""

    def __init__(self, places: FileNames, sources: ShownTexts) -> None:
        self._places, self._sources = places, sources

    def finding(self, finding: Finding) -> str:
        """One finding with its source and what belongs to it."""
        kind = f"{finding.severity.value}[{finding.rule}]"
        place = self._place(finding.path, finding.range)
        headline, *more = split_message(finding.message)
        parts = [
            f"<div><b style='color:{_COLOURS[finding.severity]}'>{text(kind)}</b> {text(headline)} "
            f"<span style='opacity:0.65'>{text(place)}</span></div>",
            self.source(finding.path, finding.range),
            *(f"<div>{text(line)}</div>" for line in (*more, describe(finding)) if line),
            *(f"<div style='margin-left:1em'>{line}</div>" for line in self._related(finding)),
        ]
        return f"<div style='margin-bottom:0.8em'>{''.join(parts)}</div>"

    def source(self, path: str, area: Range) -> str:
        """The lines of an expression, underlined."""
        snippet = ShownSnippet(Styler(enabled=False), "^", Role.ERROR)
        rows = snippet.render(self._sources.of(path), area, len(str(area.end.line + 1)) + 1)
        shown = "\n".join(map(text, rows))
        return f"<pre style='margin:0.2em 0;line-height:1.3'>{shown}</pre>" if rows else ""

    def _related(self, finding: Finding) -> Iterator[str]:
        for related in finding.related:
            place = text(self._place(related.path, related.range))
            yield f"{text(related.message)} <span style='opacity:0.65'>{place}</span>"

    def _place(self, path: str, area: Range) -> str:
        return self._sources.location(self._places.shown(path), path, area.start)


def _row(tensor: DiffTensor) -> tuple[str, ...]:
    shape = "" if tensor.shape is None else f"[{','.join(map(str, tensor.shape))}]"
    metrics = tensor.metrics
    numbers = (_number(metrics.anchored_ratio), _number(metrics.max_abs), _number(metrics.snr_db))
    return texts((tensor.name, f"{tensor.dtype}{shape}", tensor.verdict.value, *numbers))


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, (int, float)) else str(value or "")


def _box(colour: str, parts: Iterable[str]) -> str:
    return f"<div style='border-left:3px solid {colour};padding-left:0.8em'>{''.join(parts)}</div>"
