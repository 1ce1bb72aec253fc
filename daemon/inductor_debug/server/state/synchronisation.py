"""Documents and files: what the client opens, edits, saves and closes reaches the engine as whole texts.

Only Python files take part; other documents a client may send (a profile in TOML) are kept out of the
engine; cells come as parts of notebooks (`notebook_synchronisation`). Nothing is handed over before the settings are
known (`lifecycle`).
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import to_fs_path, uri_scheme

from inductor_debug.server.state.editor_texts import EditorDocument, edited, well_formed

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

logger = logging.getLogger(__name__)


def path_of(uri: str) -> str:
    """The absolute path of a file's URI, or "" for a document that is no file."""
    try:
        if uri_scheme(uri) != "file":
            return ""
        path = to_fs_path(uri)
    except ValueError:
        return ""
    return os.path.normpath(path) if path and os.path.isabs(path) else ""


def register(server: Server) -> None:
    """Listens for documents and for files changed behind the editor's back."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        path = path_of(item.uri)
        if item.language_id != "python" and not path.endswith((".py", ".pyi")):
            return
        document = EditorDocument(item.uri, path, item.version, well_formed(item.text), saved=well_formed(item.text))
        server.documents[item.uri] = document
        for listener in server.opened_listeners:
            listener(item.uri)
        if server.ready.is_set():
            server.engine.open(document.uri, document.path, document.version, document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return
        document.text = edited(document.text, params.content_changes)
        document.version = params.text_document.version
        if server.ready.is_set():
            server.engine.change(document.uri, document.version, document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return
        if params.text is not None:
            document.text = well_formed(params.text)
        document.save()
        if server.ready.is_set():
            server.engine.save(document.uri, document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        if server.documents.pop(uri, None) is None:
            return
        if server.ready.is_set():
            server.engine.close(uri)
        for listener in server.closed_listeners:
            listener(uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        changes = [(path, change.type) for change in params.changes if (path := path_of(change.uri))]
        paths = [path for path, _ in changes]
        if not paths or not server.ready.is_set():
            return
        server.engine.files_changed(paths, [path for path, kind in changes if kind is types.FileChangeType.Created])
        for listener in server.file_listeners:
            listener(set(paths))
        if any(path.endswith(".toml") for path in paths):
            server.engine.settings_changed()
