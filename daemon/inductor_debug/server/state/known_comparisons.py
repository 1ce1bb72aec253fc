"""What comparisons found, kept beside the analyses: `numerics` findings and errors of expressions.

A comparison is of one text. Its findings and numbers move along with later edits and are gone while the lines that they
stand on are others; undoing the edit brings them back. They stay until the target is compared again or its document is
closed. Severities, ignore comments and fingerprints are the engine's policy, asked anew each time, as for any finding.
Nothing here runs a comparison or sends anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import DiffDocument, DiffError, DiffVerdict, Finding, Position, Range

from inductor_debug.engine.orders.orders import Performed
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.engine.text.source_files import read_source
from inductor_debug.source.text_changes import TextChange, difference
from inductor_debug.source.text_lines import split_lines

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

RULE = "numerics"
Changed = Callable[[Iterable[str]], None]
"""Told of the paths of files about which more or other things are known now."""


@dataclass(frozen=True, slots=True)
class MeasuredNode:
    """An operation of a comparison's node table: where it stands, and its errors as the `diff` document has them."""

    path: str
    range: Range
    op: str
    isolated: DiffError | None
    accumulated: DiffError | None
    growth: float | None
    blamed: bool


@dataclass(frozen=True)
class MeasuredError:
    """One comparison of one target. `texts` are the files' texts that its places are in, by path."""

    target: str
    backend: str
    reference: str
    verdict: str
    texts: dict[str, str]
    findings: list[Finding] = field(default_factory=list)
    nodes: list[MeasuredNode] = field(default_factory=list)


class Numerics:
    """The newest comparison of each target of each file."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[tuple[str, str], MeasuredError] = {}
        self._edits: dict[str, tuple[str, str, TextChange]] = {}
        self.listeners: list[Changed] = []

    def take(self, path: str, performed: Performed) -> None:
        """Keeps what came of a comparison of targets of the file at `path`, in place of older ones."""
        affected: set[str] = set()
        for answer in performed.answers:
            document = answer.document
            if not isinstance(document, DiffDocument):
                continue
            found = [finding for finding in performed.found if (finding.rule, finding.target) == (RULE, answer.target)]
            nodes = nodes_of(document)
            paths = {path, *(finding.path for finding in found), *(node.path for node in nodes)}
            texts = {other: text for other in paths if (text := self._text_to_keep(other)) is not None}
            texts[path] = performed.text
            verdict = document.verdict or DiffVerdict.FAILED
            measured = MeasuredError(
                answer.target, document.backend, document.reference, verdict.value, texts, found, nodes
            )
            before = self._known.get((path, answer.target))
            self._known[path, answer.target] = measured
            affected.update(paths, before.texts if before is not None else ())
        self._tell(affected)

    def forget(self, path: str) -> None:
        """The document is closed: what comparisons of it have found is gone, everywhere."""
        gone = [key for key in self._known if key[0] == path]
        self._tell({other for key in gone for other in self._known.pop(key).texts})

    def of(self, path: str, target: str) -> MeasuredError | None:
        """The newest comparison of a target."""
        return self._known.get((path, target))

    def findings(self, path: str) -> list[Finding]:
        """The `numerics` findings in a file, at their places in its present text, as policy has them."""
        found = []
        for finding, measured in self._in(path, lambda measured: measured.findings):
            place = self._place(measured, path, finding.range)
            if place is not None:
                found.append(dataclasses.replace(finding, range=place))
        if not found:
            return []
        try:
            return self._server.engine.judged(path, found, self._text(path))
        except ConfigurationError:
            return found

    def nodes_at(self, path: str, position: Position) -> list[tuple[MeasuredError, list[MeasuredNode]]]:
        """The operations of the smallest expression around a position, for each comparison that has some."""
        around: dict[int, tuple[MeasuredError, list[tuple[Range, MeasuredNode]]]] = {}
        for node, measured in self._in(path, lambda measured: measured.nodes):
            place = self._place(measured, path, node.range)
            if place is not None and place.start <= position < place.end:
                around.setdefault(id(measured), (measured, []))[1].append((place, node))
        answer = []
        for measured, nodes in around.values():
            smallest = min((place for place, _ in nodes), key=extent)
            answer.append((measured, [node for place, node in nodes if place == smallest]))
        return answer

    def _in(self, path: str, items: Callable[[MeasuredError], Iterable[Any]]) -> Iterable[tuple[Any, MeasuredError]]:
        for measured in self._known.values():
            if path in measured.texts:
                yield from ((item, measured) for item in items(measured) if item.path == path)

    def _place(self, measured: MeasuredError, path: str, span: Range) -> Range | None:
        """Where a place of the compared text is now; None while its lines are not what they were."""
        text, compared = self._text(path), measured.texts[path]
        if text is None or text == compared:
            return span
        known = self._edits.get(path)
        if known is None or known[:2] != (compared, text):
            known = self._edits[path] = (compared, text, difference(compared, text))
        place = known[2].moved(span)
        if place is None or lines_of(text, place) != lines_of(compared, span):
            return None
        return place

    def _text(self, path: str) -> str | None:
        return next((document.text for document in self._server.documents.values() if document.path == path), None)

    def _text_to_keep(self, path: str) -> str | None:
        text = self._text(path)
        if text is not None:
            return text
        read = read_source(path)
        return read if isinstance(read, str) else None

    def _tell(self, paths: Iterable[str]) -> None:
        for listener in self.listeners:
            listener(paths)


def nodes_of(document: DiffDocument) -> list[MeasuredNode]:
    """The node table of a `diff` document, without nodes that come from no source."""
    blamed = {(blame.graph, node) for blame in document.blame for node in blame.nodes}
    return [
        MeasuredNode(
            node.path,
            node.range,
            node.op,
            node.isolated,
            node.accumulated,
            node.growth if isinstance(node.growth, (int, float)) else None,
            (node.graph, node.node) in blamed,
        )
        for node in document.nodes
        if node.path is not None and node.range is not None
    ]


def extent(span: Range) -> tuple[int, int]:
    """How large an expression is, for comparing."""
    return span.end.line - span.start.line, span.end.character - span.start.character


def lines_of(text: str, span: Range) -> list[str]:
    """The whole lines of a place, without indentation."""
    return [line.strip() for line in split_lines(text)[span.start.line : span.end.line + 1]]


def register(server: Server) -> None:
    """Forgets what comparisons of a closed document have found."""

    def closed(uri: str) -> None:
        from inductor_debug.server.state.synchronisation import path_of

        if path := path_of(uri):
            server.numerics.forget(path)

    server.closed_listeners.append(closed)
