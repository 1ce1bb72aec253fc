"""Which expression an instruction belongs to, for Pythons that do not say (before 3.11).

The compiler emits the calls and operators of a line in the order in which they are evaluated, and so does a post-order
walk of the syntax tree: the n-th instruction of a kind on a line belongs to the n-th expression of that kind. Where the
counts differ (a loop's copy, bytecode rewritten by Dynamo), the answer is None and callers point at the whole line.
"""

from __future__ import annotations

import ast
import dis
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

_NODE_KINDS: dict[type[ast.AST], str] = {
    ast.Call: "call",
    ast.BinOp: "binary",
    ast.AugAssign: "binary",
    ast.UnaryOp: "unary",
    ast.Compare: "compare",
    ast.Subscript: "subscript",
    ast.Attribute: "attribute",
}
_SUBSCRIPTS = {"BINARY_SUBSCR", "STORE_SUBSCR", "BINARY_SLICE"}


class SourcePositions(NamedTuple):
    """Where an instruction comes from: one-based lines and UTF-8 columns, as in `dis.Positions`."""

    lineno: int | None
    end_lineno: int | None
    col_offset: int | None
    end_col_offset: int | None


def positions_at(code: CodeType, offset: int, text: str | None = None) -> SourcePositions | None:
    """Finds the expression that the instruction at byte `offset` of `code` evaluates.

    Args:
        code: the running code object.
        offset: `frame.f_lasti`, or the offset of an instruction of Dynamo's.
        text: the file's text, or None to ask `linecache`.

    Returns:
        The expression's positions, or None where the syntax tree and the bytecode do not match.
    """
    located = _instructions(code).get(offset)
    if located is None:
        return None
    line, kind, ordinal, count = located
    text = text if text is not None else "".join(linecache.getlines(code.co_filename))
    nodes = _expressions(text).get((line, kind), [])
    return nodes[ordinal] if len(nodes) == count else None


@lru_cache(maxsize=1024)
def _instructions(code: CodeType) -> dict[int, tuple[int, str, int, int]]:
    """Byte offset to (line, kind, ordinal among its kind on the line, how many there are)."""
    found: list[tuple[int, int, str, int]] = []
    counts: dict[tuple[int, str], int] = {}
    line = code.co_firstlineno
    starts = {start: number for start, _, number in code.co_lines() if number is not None}
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        kind = _kind_of(instruction)
        if kind is None:
            continue
        ordinal = counts.get((line, kind), 0)
        counts[line, kind] = ordinal + 1
        found.append((instruction.offset, line, kind, ordinal))
    return {offset: (line, kind, ordinal, counts[line, kind]) for offset, line, kind, ordinal in found}


def _kind_of(instruction: dis.Instruction) -> str | None:
    name = instruction.opname
    if name in _SUBSCRIPTS:
        return "subscript"
    if name.startswith("CALL") and not name.startswith("CALL_INTRINSIC"):
        return "call"
    if name.startswith(("BINARY_", "INPLACE_")):
        return "binary"
    if name.startswith("UNARY_"):
        return "unary"
    if name in ("LOAD_ATTR", "STORE_ATTR"):
        return "attribute"
    return "compare" if name in ("COMPARE_OP", "IS_OP", "CONTAINS_OP") else None


@lru_cache(maxsize=64)
def _expressions(text: str) -> dict[tuple[int, str], list[SourcePositions]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    found: dict[tuple[int, str], list[SourcePositions]] = {}
    for node, kind in _post_order(tree):
        positions = SourcePositions(node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
        found.setdefault((node.lineno, kind), []).append(positions)
    return found


def _post_order(node: ast.AST) -> Iterator[tuple[ast.expr | ast.AugAssign, str]]:
    # A method that is called is loaded by LOAD_METHOD, which is no attribute access of its own.
    called = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    for child in ast.iter_child_nodes(node):
        if child is called:
            yield from _post_order(called.value)
        else:
            yield from _post_order(child)
    kind = _NODE_KINDS.get(type(node))
    if kind is not None and isinstance(node, (ast.expr, ast.AugAssign)):
        yield node, kind
