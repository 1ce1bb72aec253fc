"""The commands `inductorDebug.outline` and `inductorDebug.directive`: answered from a document's text alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import DirectiveDraft, FileOutline, OutlineEntry, to_wire

from inductor_debug.server.commands.directive_drafting import draft
from inductor_debug.server.commands.ordering import Token, options_of
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.editor_texts import EditorDocument, well_formed
from inductor_debug.server.state.text_outline import outline_of
from inductor_debug.source.directives import directive_comments

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

LARGEST = 56 * 1024
"""Bytes of an answer; definitions for which it has no room are counted."""
OUTLINE_OPTIONS = ("uri", "text")
DIRECTIVE_OPTIONS = ("uri", "text", "name", "inputs", "init")


async def outline(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """The definitions of a document: `{uri, text?}` in, `FileOutline` out.

    `text` is needed for documents of which the server is not told, such as cells of notebooks.
    """
    document = _document(server, options_of(arguments))
    directives = directive_comments(document.text)
    entries = [
        OutlineEntry(found.name, found.kind, found.line, found.top, found.nested, found.top in directives)
        for found in document.outline.definitions
    ]
    whole = FileOutline(document.uri, entries, parses=outline_of(document.text) is not None)
    answer: dict[str, Any] = to_wire(whole)
    room = len(entries)
    while room and len(json.dumps(answer)) > LARGEST:
        room = room * 2 // 3
        answer = to_wire(replace(whole, entries=entries[:room], left_out=len(entries) - room))
    return answer


async def directive(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any] | None:
    """What a class's directive says, and how to have it say something else.

    `{uri, text?, name, inputs?, init?}` in, `DirectiveDraft` out, or null where the document has no such class (any
    more). Edits come where there are `inputs`.
    """
    options = options_of(arguments)
    words = {name: options.get(name) for name in ("name", "inputs", "init")}
    if not isinstance(words["name"], str) or not all(isinstance(word, str | None) for word in words.values()):
        raise RequestError("`name`, `inputs` and `init` must be texts; `name` is needed.", INVALID_PARAMS)
    document = _document(server, options)
    definition = document.outline.definition(words["name"])
    if definition is None:
        return None
    drafted: DirectiveDraft = draft(document, definition, words["inputs"], words["init"])
    answer: dict[str, Any] = to_wire(drafted)
    return answer


def _document(server: Server, options: dict[str, Any]) -> EditorDocument:
    """The document that is meant.

    Raises:
        RequestError: it is not open, and its text was not sent along.
    """
    uri, text = options["uri"], options.get("text")
    document = server.documents.get(uri)
    if document is not None:
        return document
    if not isinstance(text, str):
        raise RequestError(f"{uri} is not open.", INVALID_PARAMS)
    return EditorDocument(uri, "", 0, well_formed(text))
