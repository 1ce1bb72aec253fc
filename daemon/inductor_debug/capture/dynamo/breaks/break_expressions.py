"""Which part of the source a graph break is about. Syntax only; nothing is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug_schema import BreakCause, Location

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.call_expressions import node_at
from inductor_debug.source.syntax_tree import text_of, tree_of

_LONGEST = 60
_RECEIVER = frozenset({BreakCause.METHOD, BreakCause.NUMPY, BreakCause.VALUE, BreakCause.AUTOGRAD, BreakCause.HOOK})
"""Causes that are about the object whose method is called."""
_LAYS_OUT = frozenset({"chunk", "expand", "narrow", "repeat", "reshape", "roll", "select", "split", "tile", "view"})
"""Methods that need no value of their tensor's but the numbers that they are given."""


@dataclass(frozen=True, slots=True)
class BrokenExpression:
    """An expression that breaks a graph: where it stands, its text, and the part of it that matters (`GraphBreak`)."""

    location: Location
    text: str
    subject: str


def broken_expression(sources: SourceMap, location: Location, cause: BreakCause) -> BrokenExpression:
    """The expression at a place: of a statement the part that the instruction at fault is about.

    Python 3.11 gives the jump over a branch the whole statement, as it does loops, `with`, `class` and `return`; where
    no expression stands at the place (Python 3.10 may know the line only), there is no text.
    """
    node = node_at(sources, location)
    if isinstance(node, ast.ClassDef):
        return _class_header(sources, location, node)
    part = _part(sources, location.path, node, cause)
    if part is not None:
        node = part
        location = sources.location_of(location.path, node)
    if not isinstance(node, (ast.expr, ast.AugAssign)):
        return BrokenExpression(location, "", "")
    source = sources.text(location.path)
    lines = source.lines if source is not None else []
    subject = _subject(node, cause, lines)
    return BrokenExpression(location, _text(lines, node), _text(lines, subject) if subject is not None else "")


def _part(sources: SourceMap, path: str, node: ast.expr | ast.stmt | None, cause: BreakCause) -> ast.expr | None:
    """The part of a statement that its own instructions work on; None where that is all of it."""
    match node:
        case ast.If() | ast.While() | ast.Assert() | ast.IfExp() if cause is BreakCause.BRANCH:
            return node.test
        case ast.For():
            return node.iter
        case ast.With(items=[item]):
            return item.context_expr
        case ast.Return():
            return node.value
        case ast.expr() if cause is BreakCause.BRANCH:
            return _matched(sources, path, node)
        case _:
            return None


def _matched(sources: SourceMap, path: str, pattern: ast.expr) -> ast.expr | None:
    """What a `match` compares with a pattern; None where the expression is none."""
    tree = sources.tree(path)
    place = pattern.lineno, pattern.col_offset, pattern.end_col_offset
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Match):
            values = (part for case in node.cases for part in ast.walk(case.pattern) if isinstance(part, ast.expr))
            if any((each.lineno, each.col_offset, each.end_col_offset) == place for each in values):
                return node.subject
    return None


def _class_header(sources: SourceMap, location: Location, node: ast.ClassDef) -> BrokenExpression:
    text = f"class {node.name}"
    start = node.col_offset
    header = sources.location(location.path, node.lineno, node.lineno, start, start + len(text.encode()))
    return BrokenExpression(header, text, "")


def _subject(node: ast.expr | ast.AugAssign, cause: BreakCause, lines: Sequence[str]) -> ast.expr | None:
    if cause is BreakCause.BRANCH and isinstance(node, ast.expr):
        return node
    if cause not in _RECEIVER:
        return None
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and _root(node.func.value) not in _imported(lines):
            asked = _only_unwritten(node.args) if cause is BreakCause.VALUE and node.func.attr in _LAYS_OUT else None
            return asked or node.func.value
        return _only_unwritten(node.args) if cause is BreakCause.VALUE else None
    if isinstance(node, ast.Subscript):
        return _only_unwritten([node.slice])
    if isinstance(node, ast.Slice):
        return _only_unwritten([node])
    if isinstance(node, ast.FormattedValue):
        return node.value
    if isinstance(node, ast.JoinedStr):
        values = [value.value for value in node.values if isinstance(value, ast.FormattedValue)]
        return values[0] if len(values) == 1 else None
    return None


def _only_unwritten(nodes: Sequence[ast.expr]) -> ast.expr | None:
    """Of arguments and indices, parts of slices apart, the one that is no written constant; None where several are."""
    parts = [part for node in nodes for part in (node.elts if isinstance(node, ast.Tuple) else [node])]
    bounds = [
        bound
        for part in parts
        for bound in ((part.lower, part.upper, part.step) if isinstance(part, ast.Slice) else (part,))
        if bound is not None and not isinstance(getattr(bound, "operand", bound), ast.Constant)  # -1 is written, too
    ]
    return bounds[0] if len(bounds) == 1 else None


def _root(node: ast.expr) -> str:
    """The name that a chain of attributes begins with: `torch` of `torch.nn.functional`; empty where it is no name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _imported(lines: Sequence[str]) -> frozenset[str]:
    """The names that a file imports: modules, functions and classes, none of them a value of the model's."""
    try:
        tree = tree_of("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    imports = (node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
    return frozenset(item.asname or item.name.partition(".")[0] for node in imports for item in node.names)


def _text(lines: Sequence[str], node: ast.expr | ast.stmt) -> str:
    """The source of an expression in one line; the arguments of a long call are left out."""
    text = text_of(lines, node)
    if len(text) > _LONGEST and isinstance(node, ast.Call):
        text = f"{text_of(lines, node.func)}(…)"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
