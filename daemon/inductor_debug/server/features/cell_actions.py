"""Code actions in cells of notebooks: asked for in the text that is analysed, and answered in the cells.

A cell that is not what ran any more has none: what was found may not be there, and a fix was proved of another text.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable

from lsprotocol import types

from inductor_debug.server.features.code_lenses import SET_INPUTS
from inductor_debug.server.state.diagnostics import range_of, read_range
from inductor_debug.server.state.notebook_cells import OpenNotebook

Actions = list[types.Command | types.CodeAction]
Answer = Callable[[types.CodeActionParams], Awaitable[Actions]]


async def cell_actions(answer: Answer, notebook: OpenNotebook, params: types.CodeActionParams) -> Actions:
    """The actions for a range of a cell, without those that edit what is in no cell as it ran."""
    cell = params.text_document.uri
    area = notebook.area(cell)
    if area is None or notebook.is_edited(cell):
        return []
    down = area.start.line
    params.text_document.uri = notebook.uri
    params.range = _moved(params.range, down)
    for shown in params.context.diagnostics:
        shown.range = _moved(shown.range, down)
    found = await answer(params)
    for shown in params.context.diagnostics:  # the actions name the same ones
        shown.range = _moved(shown.range, -down)
    return [action for action in found if isinstance(action, types.Command) or _is_shown(action, notebook, cell)]


def _is_shown(action: types.CodeAction, notebook: OpenNotebook, cell: str) -> bool:
    """Whether an action can be offered in a cell, as which it is written down then."""
    if action.command is not None and action.command.command == SET_INPUTS:
        action.command.arguments = [cell, *(action.command.arguments or ())[1:]]
    if action.edit is None:
        return True
    edit = _in_cells(action.edit, notebook)
    if edit is not None:
        action.edit = edit
    return edit is not None


def _in_cells(edit: types.WorkspaceEdit, notebook: OpenNotebook) -> types.WorkspaceEdit | None:
    """An edit of the analysed text as one of cells; None where it concerns what is in none of them as it ran."""
    versioned = [change.edits for change in edit.document_changes or () if isinstance(change, types.TextDocumentEdit)]
    by_cell: dict[str, list[types.TextEdit]] = {}
    for each in itertools.chain(*versioned, *(edit.changes or {}).values()):
        shown = notebook.outside(read_range(each.range))
        if shown is None or notebook.is_edited(shown[0]) or not isinstance(each, types.TextEdit):
            return None
        by_cell.setdefault(shown[0], []).append(types.TextEdit(range=range_of(shown[1]), new_text=each.new_text))
    if edit.document_changes is None:
        return types.WorkspaceEdit(changes=by_cell)
    changes = [
        types.TextDocumentEdit(
            text_document=types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=notebook.cells[uri].version),
            edits=list(edits),
        )
        for uri, edits in by_cell.items()
    ]
    return types.WorkspaceEdit(document_changes=list(changes))


def _moved(place: types.Range, lines: int) -> types.Range:
    start, end = (types.Position(line=at.line + lines, character=at.character) for at in (place.start, place.end))
    return types.Range(start=start, end=end)
