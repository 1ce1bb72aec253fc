"""What Python refused to bind: from the call as it is written and the signature of what it calls.

Nothing is read from the exception's message. The callee is looked up where the call stands, through names and
attributes alone; a call with `*` or `**` says too little and is left out.
"""

from __future__ import annotations

import ast
import inspect
from types import FrameType, TracebackType
from typing import Any

import torch
from inductor_debug_schema import WrongCall

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.call_expressions import node_at
from inductor_debug.capture.runtime import foreign

_BETWEEN = frozenset({"_call_impl", "_wrapped_call_impl", "_followed"})
"""Functions that hand a module's arguments on to its `forward`."""
_MISSING = object()


def wrong_call(error: BaseException, sources: SourceMap) -> WrongCall | None:
    """The facts of a call that was refused for its arguments; None of any other exception."""
    if not isinstance(error, TypeError):
        return None
    frame = _caller(error.__traceback__, sources)
    own = next((each for each in sources.frames_of_traceback(error.__traceback__) if each.in_project), None)
    node = node_at(sources, own.location) if own is not None else None
    if frame is None or not isinstance(node, ast.Call) or _is_open(node):
        return None
    callee = _value(node.func, frame)
    signature = _signature(callee)
    if callee is _MISSING or signature is None:
        return None
    return _unbound(node, signature)


def _caller(traceback: TracebackType | None, sources: SourceMap) -> FrameType | None:
    """The user's frame that made the call, where the exception comes from the call itself and not from inside it."""
    found: FrameType | None = None
    while traceback is not None:
        frame = traceback.tb_frame
        if sources.in_project(frame.f_code.co_filename):
            found = frame
        elif found is not None and frame.f_code.co_name not in _BETWEEN:
            return None
        traceback = traceback.tb_next
    return found


def _is_open(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords)


def _value(node: ast.expr, frame: FrameType) -> Any:
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, _MISSING))
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, frame)
        return owner if owner is _MISSING else foreign.attribute(owner, node.attr, _MISSING)
    return _MISSING


def _signature(callee: Any) -> inspect.Signature | None:
    """The signature of what runs: of a module its `forward`, of a class its constructor."""
    if foreign.is_a(callee, torch.nn.Module):
        return foreign.signature_of(foreign.attribute(callee, "forward"))
    return foreign.signature_of(callee)


def _unbound(call: ast.Call, signature: inspect.Signature) -> WrongCall | None:
    parameters = list(signature.parameters.values())
    by_position = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    by_name = [each.name for each in parameters if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)]
    takes_rest = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    takes_names = any(each.kind is each.VAR_KEYWORD for each in parameters)
    named = [str(keyword.arg) for keyword in call.keywords]
    given = {each.name for each in by_position[: len(call.args)]} | set(named)
    required = [
        each.name
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    missing = [name for name in required if name not in given]
    unknown = [name for name in named if name not in by_name and not takes_names]
    surplus = 0 if takes_rest else max(len(call.args) - len(by_position), 0)
    if not (missing or unknown or surplus):
        return None
    taken = [each.name for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    return WrongCall(ast.unparse(call.func), taken, missing, unknown, surplus)
