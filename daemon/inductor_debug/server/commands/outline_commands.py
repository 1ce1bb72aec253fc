"""The commands `inductorDebug.outline` and `inductorDebug.directive`: answered from a document's text alone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TypeVar

from inductor_debug_schema import DirectiveDraft, FileOutline, OutlineEntry, to_wire
from inductor_debug_schema.commands.command_requests import DirectiveRequest, OutlineRequest

from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.directive_drafting import draft
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.editor_texts import EditorDocument, well_formed
from inductor_debug.server.state.text_outline import outline_of
from inductor_debug.source.directives import directive_comments

LARGEST = 56 * 1024
"""Bytes of an answer; definitions for which it has no room are counted."""
Asked = TypeVar("Asked", bound=OutlineRequest)


async def outline(call: Call[OutlineRequest]) -> FileOutline:
    """The definitions of a document."""
    document = _document(call)
    directives = directive_comments(document.text)
    entries = [
        OutlineEntry(found.name, found.kind, found.line, found.top, found.nested, found.top in directives)
        for found in document.outline.definitions
    ]
    answer = whole = FileOutline(document.uri, entries, parses=outline_of(document.text) is not None)
    room = len(entries)
    while room and len(json.dumps(to_wire(answer))) > LARGEST:
        room = room * 2 // 3
        answer = replace(whole, entries=entries[:room], left_out=len(entries) - room)
    return answer


async def directive(call: Call[DirectiveRequest]) -> DirectiveDraft | None:
    """What a class's directive says, and how to have it say something else; None where there is no such class."""
    document, request = _document(call), call.request
    definition = document.outline.definition(request.name)
    return None if definition is None else draft(document, definition, request.inputs, request.init)


def _document(call: Call[Asked]) -> EditorDocument:
    """The document that is meant.

    Raises:
        RequestError: it is not open, and its text was not sent along.
    """
    uri, text = call.request.uri, call.request.text
    document = call.server.documents.get(uri)
    if document is not None:
        return document
    if text is None:
        raise RequestError(f"{uri} is not open.", INVALID_PARAMS)
    return EditorDocument(uri, "", 0, well_formed(text))
