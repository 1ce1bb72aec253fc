"""What an order has found so far, sent to the editor while it goes on: partial results as LSP has them.

A command that carries `partialResultToken` among its options is told by `$/progress` with that token, in values
`{target, document}`, where `document` is a `DiffPiece` or a `BisectPiece`, with the `page` as it is then where there is
one. Pieces are cut so that each fits into a message; a single row that would not is left out, for the answer names the
file that has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import Event, PartlyAnswered, to_wire
from lsprotocol import types

from inductor_debug.server.rpc.protocol import LARGEST_MESSAGE

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

_LARGEST_PIECE = LARGEST_MESSAGE * 3 // 4
_LARGEST_PAGE = LARGEST_MESSAGE // 5
OPTION = "partialResultToken"
Page = Callable[[str, dict[str, Any]], str]
"""Takes in a target's piece; returns the page of all pieces so far."""


class PartialResults:
    """Sends pieces of answers for one request; nothing where the client sent no token."""

    def __init__(self, server: Server, options: dict[str, Any], page: Page | None = None) -> None:
        token = options.get(OPTION)
        self._server = server
        self._page = page
        self._token = token if isinstance(token, (str, int)) and not isinstance(token, bool) else None

    def hear(self, event: Event) -> None:
        """Sends an event that is a piece of an answer."""
        if self._token is None or not isinstance(event, PartlyAnswered):
            return
        for piece in pieces(to_wire(event.piece), _LARGEST_PIECE):
            value = {"target": event.target, "document": piece}
            if self._page is not None and len(json.dumps(page := self._page(event.target, piece))) < _LARGEST_PAGE:
                value["page"] = page
            self._server.progress(types.ProgressParams(token=self._token, value=value))


def pieces(document: dict[str, Any], largest: int) -> Iterator[dict[str, Any]]:
    """The document in pieces of at most `largest` bytes of JSON: tables are cut between their rows."""
    tables = {name for name, value in document.items() if _is_table(value)}
    piece: dict[str, Any] = {name: [] for name in tables}
    used = 0
    for name, value in document.items():
        is_table = name in tables
        for part in value if is_table else [value]:
            size = len(json.dumps(part)) + len(name) + 8
            if size > largest:
                continue
            if used + size > largest:
                yield piece
                piece, used = {name: [] for name in tables}, 0
            used += size
            if is_table:
                piece[name].append(part)
            else:
                piece[name] = part
    if used:
        yield piece


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)
