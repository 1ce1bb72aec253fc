"""Which diagnostics a client sees when: pushed as they come, or pulled and told to pull again.

A document shows the findings of its own analysis and those that analyses of other open documents have in it (a helper
module that a model imports), so the ledger here is kept by document that found and document that shows. Closing the
finder clears what it found, everywhere. What comparisons have found (`numerics`) is shown beside them.

A client that can pull *and* be told to pull again (`Client.pulls`) gets the diagnostics of its open documents only by
pulling, as in other servers: editors keep pushed and pulled ones side by side and would show each twice. Documents
that are not open are pushed in either case, because nobody pulls those. A pull waits until the analysis has settled or,
where that takes long, until shortly after the first stage had something new; the rest follows with a refresh. A client
that cannot be told to pull again is pushed to; should it ask all the same, it gets the settled answer.

What is found in a notebook is shown in its cells (`state/notebook_cells`), and nowhere where it is in none of them.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from inductor_debug_schema import Finding, Range
from lsprotocol import types

from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.server.state.diagnostics import diagnostics_of, range_of, uri_of_path
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

GRACE_SECONDS = 0.15
"""How long a pull waits for the analysis to settle once there is something new to show."""


class Publisher:
    """The ledger of findings and the only sender of diagnostics."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._found: dict[str, dict[str, list[Finding]]] = {}
        self._versions: dict[str, int | None] = {}
        self._generations: dict[str, int] = {}
        self._pushed: dict[str, tuple[str, int | None]] = {}
        self._answered: dict[str, str] = {}
        self._waiting: dict[str, list[asyncio.Event]] = {}
        self._refreshing = False
        self._shown_beside: dict[str, int] = {}

    # From the engine and the documents.

    def hear(self, update: AnalysisUpdate) -> None:
        """Shows what an update changed. While nothing new is known, what is shown stays as it is."""
        if (update.version is None) is (update.uri in self._server.documents) or not _news(update):
            return
        before = self._found.get(update.uri, {})
        after: dict[str, list[Finding]] = {}
        for uri, finding in filter(None, map(self._placed, update.report.findings)):
            after.setdefault(uri, []).append(finding)
        quiet = update.state is AnalysisState.STALE or self._repeats(update)
        if before == after and quiet and len(self._beside(update.uri)) == self._shown_beside.get(update.uri, 0):
            return
        self._found[update.uri] = after
        self._versions[update.uri] = update.version
        for uri in {*before, *after, *self._server.cells.cells_of(update.uri)} - {update.uri}:
            self._show(uri)
        if self._generations.get(update.uri) != update.generation:
            # Every generation is answered, also one that finds what was known for the same version (a save).
            self._generations[update.uri] = update.generation
            self._pushed.pop(update.uri, None)
        self._show(update.uri)
        for event in self._waiting.get(update.uri, ()):
            event.set()

    def _repeats(self, update: AnalysisUpdate) -> bool:
        """Whether the client has heard of this version already, and more may come."""
        return update.state is AnalysisState.RUNNING and self._versions.get(update.uri) == update.version

    def opened(self, uri: str) -> None:
        """Takes back what was pushed for a document that the client pulls from now on."""
        if self._server.client.pulls and uri in self._pushed:
            self._push(uri, [])

    def compared(self, paths: Iterable[str]) -> None:
        """Comparisons have found more, or less, in these files."""
        for path in paths:
            notebook = self._server.cells.at(path)
            for uri in (self.uri_of(path),) if notebook is None else tuple(notebook.cells):
                self._show(uri)

    def closed(self, uri: str) -> None:
        """Forgets a document and clears what it found, everywhere."""
        affected = {uri, *self._found.pop(uri, {})}
        self._versions.pop(uri, None)
        self._generations.pop(uri, None)
        self._answered.pop(uri, None)
        self._shown_beside.pop(uri, None)
        for shown in affected:
            self._show(shown)

    # To the client.

    def uri_of(self, path: str) -> str:
        """The URI for a path, as the client spells it where it has the document open."""
        for document in self._server.documents.values():
            if document.path == path:
                return document.uri
        return uri_of_path(path)

    def location_of(self, path: str, place: Range) -> types.Location:
        """A place for the client; of a notebook that is in a cell."""
        uri, shown = self._server.cells.outside(path, place) or (self.uri_of(path), place)
        return types.Location(uri=uri, range=range_of(shown))

    def _placed(self, finding: Finding) -> tuple[str, Finding] | None:
        """The document that shows a finding, and the finding with its place there; None where there is none."""
        notebook = self._server.cells.at(finding.path)
        if notebook is None:
            return self.uri_of(finding.path), finding
        shown = notebook.outside(finding.range)
        return None if shown is None else (shown[0], replace(finding, range=shown[1]))

    def current(self, uri: str) -> list[types.Diagnostic]:
        """What a document shows now."""
        findings = [finding for found in self._found.values() for finding in found.get(uri, ())]
        beside = self._beside(uri)
        self._shown_beside[uri] = len(beside)
        return diagnostics_of([*findings, *beside], self._server.client, self.location_of)

    def _beside(self, uri: str) -> list[Finding]:
        """What is shown beside the findings of analyses: those of comparisons, and what was not checked."""
        notebook = self._server.cells.notebook_of(uri)
        if notebook is not None:
            beside = filter(None, map(self._placed, self._beside_whole(notebook.uri)))
            return [finding for cell, finding in beside if cell == uri]
        return [] if uri in self._server.cells.known else self._beside_whole(uri)

    def _beside_whole(self, uri: str) -> list[Finding]:
        document = self._server.documents.get(uri)
        path = document.path if document is not None else path_of(uri)
        compared = self._server.numerics.findings(path) if path else []
        return [*compared, *self._server.unchecked.findings(uri)]

    def _is_open(self, uri: str) -> bool:
        return uri in self._server.documents or self._server.cells.notebook_of(uri) is not None

    def _show(self, uri: str) -> None:
        if self._server.client.pulls and self._is_open(uri):
            self._refresh_unless_known(uri)
        else:
            self._push(uri, self.current(uri))

    def _push(self, uri: str, diagnostics: list[types.Diagnostic]) -> None:
        is_open = self._is_open(uri)
        if not diagnostics and not is_open and uri not in self._pushed:
            return
        version = self._versions.get(uri)
        state = (_identify(diagnostics), version)
        if self._pushed.get(uri) == state:
            return
        self._pushed[uri] = state
        if not diagnostics and (not is_open or self._server.client.pulls):
            del self._pushed[uri]
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version)
        )

    def _refresh_unless_known(self, uri: str) -> None:
        """Asks the client to pull again, unless it knows this already or waits for an answer just now."""
        answered = self._answered.get(uri)
        if self._refreshing or self._waiting.get(uri) or answered is None:
            return
        if answered != _identify(self.current(uri)):
            self._refreshing = True
            self._server.spawn(self._refresh())

    async def _refresh(self) -> None:
        try:
            await self._server.protocol.ask(types.WORKSPACE_DIAGNOSTIC_REFRESH, None)
        finally:
            self._refreshing = False

    async def pull(self, uri: str, known: str | None) -> types.DocumentDiagnosticReport:
        """Answers a pull: everything, or "unchanged" where the client still has it under the identifier `known`."""
        notebook = self._server.cells.notebook_of(uri)
        about = uri if notebook is None else notebook.uri
        if about in self._server.documents:
            await self._something_to_show(about)
        diagnostics = self.current(uri)
        identifier = self._answered[uri] = _identify(diagnostics)
        if identifier == known:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=identifier)
        return types.RelatedFullDocumentDiagnosticReport(items=diagnostics, result_id=identifier)

    async def _something_to_show(self, uri: str) -> None:
        news = asyncio.Event()
        self._waiting.setdefault(uri, []).append(news)
        settled = asyncio.ensure_future(self._server.engine.settled(uri))
        heard = asyncio.ensure_future(news.wait())
        try:
            if self._server.client.pulls:
                await asyncio.wait({settled, heard}, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.wait({settled}, timeout=GRACE_SECONDS)
            else:
                await settled
        finally:
            settled.cancel()
            heard.cancel()
            self._waiting[uri].remove(news)
            if not self._waiting[uri]:
                del self._waiting[uri]


def _news(update: AnalysisUpdate) -> bool:
    """Whether an update may know more than what the client has, which moves along with the edits by itself."""
    if update.state is AnalysisState.RUNNING:
        return any(target.stages for target in update.report.targets)
    return update.state is not AnalysisState.QUEUED


def _identify(diagnostics: list[types.Diagnostic]) -> str:
    """A short identifier of what is shown: the same for equal diagnostics, in every session."""
    return hashlib.blake2b(repr(diagnostics).encode(), digest_size=8).hexdigest()


def register(server: Server) -> Publisher:
    """Publishes the findings of every update, and answers pulls."""
    publisher = Publisher(server)
    server.listeners.append(publisher.hear)
    server.opened_listeners.append(publisher.opened)
    server.closed_listeners.append(publisher.closed)
    server.numerics.listeners.append(publisher.compared)

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC)
    async def pull(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        await server.ready.wait()
        return await publisher.pull(params.text_document.uri, params.previous_result_id)

    return publisher
