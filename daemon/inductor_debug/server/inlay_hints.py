"""`textDocument/inlayHint`: the types of assigned and returned tensors, beside the code.

Only where the value is known for sure, only in the range that is asked for, and never more than a message may carry.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from inductor_debug_schema import ExpressionFact, Position, Range
from lsprotocol import types

from inductor_debug.engine.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.server.expression_text import fact_type, tensor_type
from inductor_debug.server.outline import Binding, outline_of
from inductor_debug.server.refreshing import Refresher

if TYPE_CHECKING:
    from inductor_debug.server.server import Server

BUDGET = 48 << 10
"""Bytes of JSON that the hints of one answer may have."""
_FIXED_BYTES = 120


def hints_in(server: Server, uri: str, wanted: Range) -> list[types.InlayHint]:
    """The hints of a document in the range `wanted`, in the order of the text."""
    document = server.documents.get(uri)
    if document is None or not server.ready.is_set() or not server.configuration.shows("inlayHints", document.path):
        return []
    facts = {known.range: known.fact for known in server.engine.expressions(uri) if known.fact.exact}
    outline = outline_of(document.text) if facts else None
    hints: list[types.InlayHint] = []
    left = BUDGET
    for binding in outline.bindings if outline is not None else ():
        if not wanted.start <= binding.place.end <= wanted.end:
            continue
        label = _label(binding, [facts[value] for value in binding.values if value in facts])
        if label is None:
            continue
        left -= _FIXED_BYTES + len(json.dumps(label))
        if left < 0:
            break
        hints.append(_hint(binding, label))
    return hints


def _label(binding: Binding, facts: list[ExpressionFact]) -> str | None:
    """What to write beside a binding; None where nothing is sure."""
    found = dict.fromkeys(_type(binding, fact) for fact in facts)
    if not found or None in found:
        return None
    return f"{'->' if binding.returned else ':'} {' | '.join(filter(None, found))}"


def _type(binding: Binding, fact: ExpressionFact) -> str | None:
    if not fact.outputs:
        return None
    if binding.slot is None:
        return fact_type(fact)
    outputs = fact.variants or [fact.outputs]
    if any(len(tensors) != binding.slots for tensors in outputs):
        return None
    told = list(dict.fromkeys(tensor_type(tensors[binding.slot]) for tensors in outputs))
    return " | ".join([*told[:2], "…"] if len(told) > 2 else told)


def _hint(binding: Binding, label: str) -> types.InlayHint:
    end = binding.place.end
    return types.InlayHint(
        position=types.Position(line=end.line, character=end.character),
        label=label,
        kind=types.InlayHintKind.Type,
        padding_left=binding.returned,
    )


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
        start, end = params.range.start, params.range.end
        wanted = Range(Position(start.line, start.character), Position(end.line, end.character))
        return hints_in(server, params.text_document.uri, wanted)
