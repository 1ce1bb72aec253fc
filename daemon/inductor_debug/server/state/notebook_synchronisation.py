"""Notebooks: what the client opens, edits, runs and closes of their cells, and when that gives another text to analyse.

Running a cell is to a notebook what saving is to a file: it alone has anything analysed, and what is analysed is the
text that ran. A cell has run in this session where its execution summary says how that went; the counts of earlier
sessions, which are in the file, say nothing of the kernel that runs now.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lsprotocol import types

from inductor_debug.engine.notebooks.cell_runs import CellRun
from inductor_debug.server.state.editor_texts import EditorDocument, edited, well_formed
from inductor_debug.server.state.notebook_cells import Cell, OpenNotebook
from inductor_debug.server.state.synchronisation import path_of
from inductor_debug.source.notebooks.reading import open_as

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

NOTEBOOK_TYPE = "jupyter-notebook"


def sync_options() -> types.NotebookDocumentSyncOptions:
    """Which notebooks we want to be told of: those in files, with all cells, for people count all."""
    return types.NotebookDocumentSyncOptions(
        notebook_selector=[
            types.NotebookDocumentFilterWithNotebook(
                notebook=types.NotebookDocumentFilterNotebookType(notebook_type=NOTEBOOK_TYPE, scheme="file")
            )
        ]
    )


def analyse(server: Server, notebook: OpenNotebook) -> None:
    """Has what counts of a notebook analysed."""
    text = notebook.compose().text
    document = server.documents.get(notebook.uri)
    if document is None:
        document = EditorDocument(notebook.uri, notebook.path, 1, text, saved=text)
        server.documents[notebook.uri] = document
        for listener in server.opened_listeners:
            listener(notebook.uri)
        if server.ready.is_set():
            server.engine.open(document.uri, document.path, document.version, text)
        return
    document.text = text
    document.version += 1
    document.save()
    if server.ready.is_set():
        server.engine.change(document.uri, document.version, text)
        server.engine.save(document.uri, text)


def register(server: Server) -> None:
    """Listens for notebooks."""

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenNotebookDocumentParams) -> None:
        said = params.notebook_document
        path = path_of(said.uri)
        if not path or said.notebook_type != NOTEBOOK_TYPE:
            return
        notebook = server.cells.known[said.uri] = OpenNotebook(said.uri, path)
        _texts(notebook, params.cell_text_documents)
        notebook.order = [cell.document for cell in said.cells]
        _take(notebook, filter(_has_run, said.cells))
        if notebook.runs:
            analyse(server, notebook)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeNotebookDocumentParams) -> None:
        notebook = server.cells.known.get(params.notebook_document.uri)
        cells = params.change.cells
        if notebook is None or cells is None:
            return
        told: list[types.NotebookCell] = list(cells.data or ())
        if cells.structure is not None:
            array = cells.structure.array
            _texts(notebook, cells.structure.did_open or ())
            new = list(array.cells or ())
            notebook.order[array.start : array.start + array.delete_count] = [cell.document for cell in new]
            told += filter(_has_run, new)
            for closed in cells.structure.did_close or ():
                notebook.cells.pop(closed.uri, None)
                _forget(server, closed.uri)
        for change in cells.text_content or ():
            cell = notebook.cells.get(change.document.uri)
            if cell is not None:
                cell.text = edited(cell.text, change.changes)
                cell.version = change.document.version
        before = notebook.runs
        _take(notebook, told)
        if notebook.runs != before:
            analyse(server, notebook)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseNotebookDocumentParams) -> None:
        notebook = server.cells.known.pop(params.notebook_document.uri, None)
        if notebook is None:
            return
        open_as(notebook.path, None)
        if server.documents.pop(notebook.uri, None) is not None and server.ready.is_set():
            server.engine.close(notebook.uri)
        for uri in (notebook.uri, *notebook.cells):
            _forget(server, uri)


def _forget(server: Server, uri: str) -> None:
    for listener in server.closed_listeners:
        listener(uri)


def _texts(notebook: OpenNotebook, documents: Iterable[types.TextDocumentItem]) -> None:
    for item in documents:
        if item.language_id == "python":
            notebook.cells[item.uri] = Cell(item.uri, item.version, well_formed(item.text))


def _has_run(said: types.NotebookCell) -> bool:
    summary = said.execution_summary
    return summary is not None and summary.success is not None


def _order(said: types.NotebookCell) -> int:
    return said.execution_summary.execution_order if said.execution_summary is not None else 0


def _take(notebook: OpenNotebook, told: Iterable[types.NotebookCell]) -> None:
    """Takes in what the client says of the execution of cells.

    A cell that runs has no summary until it is through. By then it may have been edited.
    """
    for said in sorted(told, key=_order):
        cell, summary = notebook.cells.get(said.document), said.execution_summary
        if cell is None:
            continue
        if summary is None or summary.success is None:
            cell.seen, cell.running = None, cell.text
            continue
        seen = (summary.execution_order, summary.success)
        if seen != cell.seen:
            text = cell.text if cell.running is None else cell.running
            cell.seen, cell.running = seen, None
            notebook.take(CellRun(cell.uri, summary.execution_order, text))
