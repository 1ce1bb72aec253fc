"""The command `inductorDebug.tensors`: which tensors are alive at a line, from what the last runs have left.

Nothing runs for it and nothing is waited for, so that an editor may ask at every move of the cursor.
"""

from __future__ import annotations

import json
from dataclasses import replace

from inductor_debug_schema import LineTensors, to_wire
from inductor_debug_schema.commands.command_requests import TensorsRequest

from inductor_debug.engine.live_tensors.line import ROWS, Question
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

LARGEST = 56 * 1024
"""Bytes of an answer; beyond, it has fewer rows, and the rest is asked for anew."""


async def tensors(call: Call[TensorsRequest]) -> LineTensors:
    """Tells the tensors at a line."""
    asked = call.request
    if min(asked.line, asked.call, asked.first) < 0:
        raise RequestError("`line`, `call` and `first` must be numbers from 0 on.", INVALID_PARAMS)
    path = path_of(asked.uri) or ""
    question = Question(path, asked.line, asked.target, asked.call, asked.module, asked.first)
    rows = ROWS
    while True:
        answer = call.server.engine.tensors(asked.uri, replace(question, rows=rows))
        if rows == 1 or len(json.dumps(to_wire(answer))) <= LARGEST:
            return answer
        rows = max(1, rows * 2 // 3)
