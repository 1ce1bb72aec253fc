"""The command `inductorDebug.tensors`: which tensors are alive at a line, from what the last runs have left.

Nothing runs for it and nothing is waited for, so that an editor may ask at every move of the cursor.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import to_wire

from inductor_debug.engine.live_tensors.line import ROWS, Question
from inductor_debug.server.commands.ordering import Token, options_of
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

LARGEST = 56 * 1024
"""Bytes of an answer; beyond, it has fewer rows, and the rest is asked for anew."""
_NUMBERS = ("line", "call", "first")
_WORDS = ("target", "module")
OPTIONS = ("uri", *_NUMBERS, *_WORDS)


async def tensors(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Tells the tensors at a line: `{uri, line, target?, call?, module?, first?}` in, `LineTensors` out.

    `line` is zero-based and of the open document's present text. Of several runs of the line the one in `module` is
    told, else number `call`; `first` is the number of the first row that is wanted.
    """
    options = options_of(arguments)
    numbers = {name: options.get(name) or 0 for name in _NUMBERS}
    words = {name: options.get(name) or "" for name in _WORDS}
    if "line" not in options or not all(type(number) is int and number >= 0 for number in numbers.values()):
        raise RequestError("`line`, `call` and `first` must be numbers from 0 on; `line` is needed.", INVALID_PARAMS)
    if not all(isinstance(word, str) for word in words.values()):
        raise RequestError("`target` and `module` must be names.", INVALID_PARAMS)
    question = Question(
        path_of(options["uri"]) or "",
        numbers["line"],
        words["target"],
        numbers["call"],
        words["module"],
        numbers["first"],
    )
    rows = ROWS
    while True:
        answer: dict[str, Any] = to_wire(server.engine.tensors(options["uri"], replace(question, rows=rows)))
        if rows == 1 or len(json.dumps(answer)) <= LARGEST:
            return answer
        rows = max(1, rows * 2 // 3)
