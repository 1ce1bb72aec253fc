"""`textDocument/inlayHint`: the types of assigned and returned tensors, beside the code.

Only where the value is known for sure, only in the range that is asked for, and never more than a message may carry.
Between two analyses hints stay as they were, moved along with the edits, so that no line jumps while somebody types.
A value that raised has none, whatever it was before.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from inductor_debug_schema import ExpressionFact, Position, Range
from lsprotocol import types

from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.server.features.expression_text import fact_type, tensor_type
from inductor_debug.server.state.diagnostics import read_range
from inductor_debug.server.state.editor_texts import EditorDocument, Told
from inductor_debug.server.state.notebook_cells import OpenNotebook
from inductor_debug.server.state.refreshing import Refresher
from inductor_debug.server.state.text_outline import NamedValue, outline_of
from inductor_debug.source.text_changes import difference
from inductor_debug.source.text_lines import slice_of, split_lines, utf16_length

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

BUDGET = 48 << 10
"""Bytes of JSON that the hints of one answer may have."""
_FIXED_BYTES = 120


def hints_in(server: Server, uri: str, wanted: Range) -> list[types.InlayHint]:
    """The hints of a document in the range `wanted`, in the order of the text."""
    document = server.documents.get(uri)
    if document is None or not server.ready.is_set() or not server.configuration.shows("inlayHints", document.path):
        return []
    hints: list[types.InlayHint] = []
    left = BUDGET
    for _, told in sorted(_current(server, document).items()):
        if not wanted.start <= told.place.end <= wanted.end:
            continue
        left -= _FIXED_BYTES + len(json.dumps(told.label))
        if left < 0:
            break
        hints.append(_hint(told))
    return hints


def _current(server: Server, document: EditorDocument) -> dict[Position, Told]:
    """All hints of a document by where what they tell of starts in its present text."""
    update = server.engine.latest(document.uri)
    current = _told(server, document)
    ended = update is not None and update.state is AnalysisState.DONE and update.version == document.version
    if not ended or outline_of(document.text) is None:
        current = {**_held(document), **current}
    else:
        document.told = (document.text, current)
    raised = _raised(update, document) if update is not None else set()
    return {place: told for place, told in current.items() if place not in raised}


def _raised(update: AnalysisUpdate, document: EditorDocument) -> set[Position]:
    """Where names stand whose values raised when the present text was run."""
    errors = [
        found.range.start
        for found in update.report.findings
        if found.rule == "capture-error" and found.path == document.path
    ]
    outline = outline_of(document.text) if errors and update.version == document.version else None
    return {
        binding.place.start
        for binding in (outline.bindings if outline is not None else ())
        if any(value.start <= error <= value.end for value in binding.values for error in errors)
    }


def _told(server: Server, document: EditorDocument) -> dict[Position, Told]:
    """What the runs so far have told of the bindings in the present text."""
    facts = {known.range: known.fact for known in server.engine.expressions(document.uri) if known.fact.exact}
    outline = outline_of(document.text) if facts else None
    told = {}
    for binding in outline.bindings if outline is not None else ():
        label = _label(binding, [facts[value] for value in binding.values if value in facts])
        if label is not None:
            told[binding.place.start] = Told(binding.place, label, binding.returned)
    return told


def _held(document: EditorDocument) -> dict[Position, Told]:
    """The hints after the last analysis, moved along with the edits; those of names that were edited are left out."""
    before, hints = document.told
    edit = difference(before, document.text)
    old, new = split_lines(before), split_lines(document.text)
    held = {}
    for told in hints.values():
        place = edit.moved(told.place)
        if place is not None and (told.returned or slice_of(old, told.place) == slice_of(new, place)):
            held[place.start] = replace(told, place=_to_end_of_code(new, place) if told.returned else place)
    return held


def _to_end_of_code(lines: list[str], place: Range) -> Range:
    """A returned value that is being written goes on to the end of its line, a comment left out."""
    code = lines[place.end.line].partition("#")[0].rstrip()
    return Range(place.start, max(place.end, Position(place.end.line, utf16_length(code))))


def _label(binding: NamedValue, facts: list[ExpressionFact]) -> str | None:
    """What to write beside a binding; None where nothing is sure."""
    found = dict.fromkeys(_type(binding, fact) for fact in facts)
    if not found or None in found:
        return None
    return f"{'->' if binding.returned else ':'} {' | '.join(filter(None, found))}"


def _type(binding: NamedValue, fact: ExpressionFact) -> str | None:
    if not fact.outputs:
        return None
    if binding.slot is None:
        return fact_type(fact)
    outputs = fact.variants or [fact.outputs]
    if any(len(tensors) != binding.slots for tensors in outputs):
        return None
    told = list(dict.fromkeys(tensor_type(tensors[binding.slot]) for tensors in outputs))
    return " | ".join([*told[:2], "…"] if len(told) > 2 else told)


def _hint(told: Told) -> types.InlayHint:
    end = told.place.end
    return types.InlayHint(
        position=types.Position(line=end.line, character=end.character),
        label=told.label,
        kind=types.InlayHintKind.Type,
        padding_left=told.returned,
    )


def _cell_hints(server: Server, notebook: OpenNotebook, cell: str, wanted: Range) -> list[types.InlayHint]:
    """The hints of a cell; none at values that are not those which ran."""
    area, hints = notebook.area(cell), []
    for hint in hints_in(server, notebook.uri, area) if area is not None else ():
        at = Position(hint.position.line, hint.position.character)
        shown = notebook.outside(Range(Position(at.line, max(0, at.character - 1)), at))
        if shown is not None and shown[0] == cell and wanted.start <= shown[1].end <= wanted.end:
            end = shown[1].end
            hint.position = types.Position(line=end.line, character=end.character)
            hints.append(hint)
    return hints


def register(server: Server) -> None:
    """Answers `textDocument/inlayHint`, and asks the client to ask again when more is known."""
    refresher = Refresher(server, types.WORKSPACE_INLAY_HINT_REFRESH)

    def refresh() -> None:
        if server.client.refreshes_inlay_hints:
            refresher.refresh()

    def hear(update: AnalysisUpdate) -> None:
        if update.state.settled or (update.state is AnalysisState.RUNNING and update.report.targets):
            refresh()

    server.listeners.append(hear)
    server.settings_listeners.append(refresh)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        uri, wanted = params.text_document.uri, read_range(params.range)
        notebook = server.cells.notebook_of(uri)
        return hints_in(server, uri, wanted) if notebook is None else _cell_hints(server, notebook, uri, wanted)
