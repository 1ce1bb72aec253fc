"""Which part of the source a graph break is about. Syntax only; nothing is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug_schema import BreakCause, Location

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.call_expressions import node_at
from inductor_debug.source.syntax_tree import text_of

_LONGEST = 60
_RECEIVER = frozenset({BreakCause.METHOD, BreakCause.NUMPY, BreakCause.VALUE, BreakCause.AUTOGRAD, BreakCause.HOOK})
"""Causes that are about the object whose method is called."""


@dataclass(frozen=True, slots=True)
class BrokenExpression:
    """An expression that breaks a graph: where it stands, its text, and the part of it that matters (`GraphBreak`)."""

    location: Location
    text: str
    subject: str


def broken_expression(sources: SourceMap, location: Location, cause: BreakCause) -> BrokenExpression:
    """The expression at a place: of a statement that chooses by a value its condition alone.

    Python 3.11 gives the jump over a branch the whole statement; where no expression stands at the place (Python 3.10
    may know the line only), there is no text.
    """
    node = node_at(sources, location)
    if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)) and cause is BreakCause.BRANCH:
        node = node.test
        location = sources.location_of(location.path, node)
    if not isinstance(node, (ast.expr, ast.AugAssign)):
        return BrokenExpression(location, "", "")
    source = sources.text(location.path)
    lines = source.lines if source is not None else []
    subject = _subject(node, cause)
    return BrokenExpression(location, _text(lines, node), _text(lines, subject) if subject is not None else "")


def _subject(node: ast.expr | ast.AugAssign, cause: BreakCause) -> ast.expr | None:
    if cause is BreakCause.BRANCH and isinstance(node, ast.expr):
        return node
    if cause not in _RECEIVER:
        return None
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return node.func.value
        return node.args[0] if node.args and cause is BreakCause.VALUE else None
    if isinstance(node, ast.Subscript):
        return node.slice
    if isinstance(node, ast.FormattedValue):
        return node.value
    if isinstance(node, ast.JoinedStr):
        values = [value.value for value in node.values if isinstance(value, ast.FormattedValue)]
        return values[0] if len(values) == 1 else None
    return None


def _text(lines: Sequence[str], node: ast.expr | ast.stmt) -> str:
    """The source of an expression in one line; the arguments of a long call are left out."""
    text = text_of(lines, node)
    if len(text) > _LONGEST and isinstance(node, ast.Call):
        text = f"{text_of(lines, node.func)}(…)"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
