"""What an order has found so far, sent to the editor while it goes on: partial results as LSP has them.

A command that carries `partialResultToken` is told by `$/progress` with that token, in values of `PartialResult`.
Pieces are cut so that each fits into a message; a single row that would not is left out, for the answer names the file
that has it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

from inductor_debug_schema import (
    Answered,
    AnswerPiece,
    BisectPiece,
    Event,
    KernelBuild,
    PartlyAnswered,
    to_wire,
)
from inductor_debug_schema.commands.command_answers import PartialResult
from lsprotocol import types

from inductor_debug.server.commands.calls import Call, Token
from inductor_debug.server.rpc.protocol import LARGEST_MESSAGE

_LARGEST_PIECE = LARGEST_MESSAGE * 3 // 4
_LARGEST_PAGE = LARGEST_MESSAGE // 5
Page = Callable[[str, BisectPiece], str]
"""Takes in a target's piece; returns the page of all pieces so far."""


class PartialResults:
    """Sends pieces of answers for one call; nothing where the client sent no token."""

    def __init__(self, call: Call[Any], page: Page | None = None) -> None:
        self._call, self._page = call, page

    def hear(self, event: Event) -> None:
        """Sends an event that is a piece of an answer, or what a kernel was compiled to, but for its texts."""
        token = self._call.partial_results
        if token is None:
            return
        if isinstance(event, Answered) and isinstance(event.document, KernelBuild):
            self._send(
                token, PartialResult(target=event.target, document=dataclasses.replace(event.document, texts=[]))
            )
        if not isinstance(event, PartlyAnswered):
            return
        for piece in pieces(event.piece, _LARGEST_PIECE):
            self._send(token, PartialResult(target=event.target, document=piece, page=self._paged(event.target, piece)))

    def _send(self, token: Token, result: PartialResult) -> None:
        self._call.server.progress(types.ProgressParams(token=token, value=to_wire(result)))

    def _paged(self, target: str, piece: AnswerPiece) -> str | None:
        if self._page is None or not isinstance(piece, BisectPiece):
            return None
        page = self._page(target, piece)
        return page if len(json.dumps(page)) < _LARGEST_PAGE else None


def pieces(piece: AnswerPiece, largest: int) -> Iterator[AnswerPiece]:
    """The piece in pieces of at most `largest` bytes of JSON, but for names: tables are cut between their rows."""
    values = {field.name: getattr(piece, field.name) for field in dataclasses.fields(piece)}
    tables = {name for name, value in values.items() if _is_table(value)}
    nothing: dict[str, Any] = {name: [] if name in tables else None for name in values}
    part: dict[str, Any] = dict(nothing)
    used = 0
    for name, value in values.items():
        for row in value if name in tables else [value]:
            size = len(json.dumps(to_wire(row))) + len(name) + 8
            if row is None or size > largest:
                continue
            if used + size > largest:
                yield dataclasses.replace(piece, **part)
                part, used = dict(nothing), 0
            used += size
            part[name] = [*part[name], row] if name in tables else row
    if used:
        yield dataclasses.replace(piece, **part)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(dataclasses.is_dataclass(row) for row in value)
