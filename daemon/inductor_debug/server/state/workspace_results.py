"""What is known of files that are not open: the last result of each file that was checked with the whole workspace.

An open document speaks for itself; when it is closed, its last result stays here if the file was part of a check. A
result whose file, or one that it imports, has changed since is told as stale, that of a deleted file as gone. Settings
that change make every result stale. Nothing here analyses anything.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inductor_debug_schema import FileReport, FileStatus

from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.text.source_files import read_source
from inductor_debug.server.state.diagnostics import uri_of_path
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

CHANGED = "changed since it was checked"


@dataclass(frozen=True, slots=True)
class _Result:
    """An update without a version, the text that it is of, and the files that this text imports."""

    update: AnalysisUpdate
    text: str
    dependencies: frozenset[str]


class WorkspaceResults:
    """Results by the path of their file."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, _Result] = {}

    def keep(self, update: AnalysisUpdate, text: str, dependencies: frozenset[str]) -> None:
        """Takes a file's newest result, and shows it unless a document speaks for the file."""
        newest = dataclasses.replace(update, uri=uri_of_path(update.path), version=None, generation=0)
        self._known[update.path] = _Result(newest, text, dependencies)
        self._show(update.path)

    def heard(self, update: AnalysisUpdate) -> None:
        """A document of a file that was part of a check has a newer result."""
        document = self._server.documents.get(update.uri)
        ended = update.state in (AnalysisState.DONE, AnalysisState.FAILED)
        if document is not None and ended and update.path in self._known:
            self.keep(update, document.text, self._server.engine.dependencies(update.uri))

    def opened(self, uri: str) -> None:
        """From now on the document speaks, under the URI that the client gave it."""
        known = self._known.get(self._server.documents[uri].path)
        if known is not None and known.update.uri != uri:
            self._server.hear(_gone(known.update))

    def closed(self, uri: str) -> None:
        """Shows what is known of the file that a closed document was of."""
        path = path_of(uri)
        if path in self._known:
            self._show(path)

    def changed(self, paths: set[str]) -> None:
        """Files were made, changed or deleted: says so of the results that they concern."""
        for path, known in list(self._known.items()):
            if not paths.isdisjoint(known.dependencies):
                self._outdate(path)
            if path in paths or not paths.isdisjoint(known.dependencies) or not os.path.isfile(path):
                self._show(path)

    def settings_changed(self) -> None:
        """Every result is of other settings."""
        for path in list(self._known):
            self._outdate(path)
            self._show(path)

    def _outdate(self, path: str) -> None:
        known = self._known[path]
        stale = dataclasses.replace(known.update, state=AnalysisState.STALE, cause=CHANGED)
        self._known[path] = dataclasses.replace(known, update=stale)

    def _show(self, path: str) -> None:
        if not os.path.isfile(path):
            self._server.hear(_gone(self._known.pop(path).update))
            return
        if read_source(path) != self._known[path].text:
            self._outdate(path)
        if not self._is_open(path):
            self._server.hear(self._known[path].update)

    def _is_open(self, path: str) -> bool:
        return any(document.path == path for document in self._server.documents.values())


def _gone(update: AnalysisUpdate) -> AnalysisUpdate:
    nothing = FileReport(path=update.path, status=FileStatus.NO_TARGET)
    return dataclasses.replace(update, state=AnalysisState.GONE, report=nothing, cause="deleted")


def register(server: Server) -> None:
    """Listens for what outdates results; after `publishing`, which clears what a closed document has shown."""
    results = server.workspace_results
    server.listeners.append(results.heard)
    server.opened_listeners.append(results.opened)
    server.closed_listeners.append(results.closed)
    server.file_listeners.append(results.changed)
    server.settings_listeners.append(results.settings_changed)
