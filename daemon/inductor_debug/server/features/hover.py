"""`textDocument/hover`: what the smallest expression around the cursor gave, ran and cost.

Answered from memory at once: it never waits for an analysis, and says when what it knows is of an older text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inductor_debug_schema import Finding, Position, Range
from lsprotocol import types

from inductor_debug.engine.results.known_expressions import KnownExpression
from inductor_debug.engine.results.target_coverage import sizes_set
from inductor_debug.server.features.expression_text import Wording
from inductor_debug.server.features.numerics_text import hover_lines
from inductor_debug.server.state.diagnostics import range_of, read_range
from inductor_debug.server.state.text_outline import outline_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

EXPLAIN = "inductorDebug.explainRule"
"""The client's command that shows a rule's page."""


def hover_at(server: Server, uri: str, position: Position) -> types.Hover | None:
    """The hover at a position; None where nothing is known."""
    document = server.documents.get(uri)
    if document is None or not server.ready.is_set() or not server.configuration.shows("hover", document.path):
        return None
    known = _at(server.engine.expressions(uri), position) or _assigned_at(server, uri, document.text, position)
    markdown = server.client.markdown_hover
    measured = _measured(server, document.path, position, markdown)
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    wording = Wording(markdown=markdown, explain=EXPLAIN if EXPLAIN in server.client.commands else None)
    findings = _findings(server, document.path, position)
    if known is None:
        text = "\n\n".join(filter(None, (wording.background(findings), measured)))
        return types.Hover(contents=types.MarkupContent(kind=kind, value=text)) if text else None
    text = wording.hover(known, findings, server.accelerator_of(document.path))
    text = "\n\n".join(filter(None, (text, _sizes(server, uri, known), measured)))
    return types.Hover(contents=types.MarkupContent(kind=kind, value=text), range=range_of(known.range))


def _sizes(server: Server, uri: str, known: KnownExpression) -> str:
    """The sizes that hold where the expression ran, because the user set them."""
    update = server.engine.latest(uri)
    ran = [target for target in update.report.targets if target.name in known.targets] if update is not None else []
    return sizes_set(ran)


def _measured(server: Server, path: str, position: Position, markdown: bool) -> str:
    """The errors that comparisons have measured at a position."""
    lines = [
        line
        for measured, nodes in server.numerics.nodes_at(path, position)
        for line in hover_lines(measured, nodes, markdown=markdown)
    ]
    return ("  \n" if markdown else "\n").join(lines)


def _at(expressions: list[KnownExpression], position: Position) -> KnownExpression | None:
    """The smallest expression around a position."""
    around = [known for known in expressions if known.range.start <= position < known.range.end]
    return min(around, key=lambda known: _extent(known.range), default=None)


def _assigned_at(server: Server, uri: str, text: str, position: Position) -> KnownExpression | None:
    """The expression whose value is assigned to the name at a position."""
    outline = outline_of(text)
    for binding in outline.bindings if outline is not None else ():
        if not binding.returned and binding.place.start <= position <= binding.place.end:
            found = [known for known in server.engine.expressions(uri) if known.range in binding.values]
            return found[0] if found else None
    return None


def _extent(span: Range) -> tuple[int, int]:
    return span.end.line - span.start.line, span.end.character - span.start.character


def _findings(server: Server, path: str, position: Position) -> list[Finding]:
    """The findings of all open documents and of comparisons that stand at a position of one file."""
    updates = filter(None, map(server.engine.latest, server.documents))
    known = [*(finding for update in updates for finding in update.report.findings), *server.numerics.findings(path)]
    found: dict[tuple[str, str], Finding] = {}
    for finding in known:
        if finding.path == path and finding.range.start <= position <= finding.range.end:
            found.setdefault((finding.rule, finding.message), finding)
    return sorted(found.values(), key=lambda finding: finding.severity.rank)


def register(server: Server) -> None:
    """Answers `textDocument/hover`."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        uri, position = params.text_document.uri, Position(params.position.line, params.position.character)
        notebook = server.cells.notebook_of(uri)
        if notebook is None:
            return hover_at(server, uri, position)
        place = notebook.inside(uri, Range(position, position))
        found = hover_at(server, notebook.uri, place.start) if place is not None else None
        if found is not None and found.range is not None:
            shown = notebook.outside(read_range(found.range))
            found.range = range_of(shown[1]) if shown is not None else None
        return found
