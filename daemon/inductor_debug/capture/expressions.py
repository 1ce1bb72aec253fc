"""Which expression an instruction belongs to, for Pythons that do not say (before 3.11).

The compiler emits the calls and operators of a line in the order in which they are evaluated, and so does a post-order
walk of the syntax tree: the n-th instruction of a kind on a line belongs to the n-th expression of that kind in its
scope. Where the counts differ (a `finally` block's copy, bytecode rewritten by Dynamo), the answer is None and callers
point at the whole line.
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
    # A comprehension is a function that is called at once.
    ast.ListComp: "call",
    ast.SetComp: "call",
    ast.DictComp: "call",
    ast.GeneratorExp: "call",
}
_SUBSCRIPTS = {"BINARY_SUBSCR", "STORE_SUBSCR", "BINARY_SLICE"}
_COMPREHENSIONS: dict[type[ast.AST], str] = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}


class SourcePositions(NamedTuple):
    """Where an instruction comes from: one-based lines and UTF-8 columns, as in `dis.Positions`."""

    lineno: int | None
    end_lineno: int | None
    col_offset: int | None
    end_col_offset: int | None


class _Key(NamedTuple):
    """Expressions that are told apart by their order alone: name and first line of the scope, line, kind."""

    scope: str
    scope_line: int
    line: int
    kind: str


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
    key, ordinal, count = located
    text = text if text is not None else "".join(linecache.getlines(code.co_filename))
    nodes = _expressions(text).get(key, [])
    return nodes[ordinal] if len(nodes) == count else None


@lru_cache(maxsize=1024)
def _instructions(code: CodeType) -> dict[int, tuple[_Key, int, int]]:
    """Byte offset to (what it is, ordinal among those, how many there are)."""
    found: list[tuple[int, _Key, int]] = []
    counts: dict[_Key, int] = {}
    line = code.co_firstlineno
    starts = {start: number for start, _, number in code.co_lines() if number is not None}
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        kind = _kind_of(instruction)
        if kind is not None:
            key = _Key(code.co_name, code.co_firstlineno, line, kind)
            ordinal = counts.get(key, 0)
            counts[key] = ordinal + 1
            found.append((instruction.offset, key, ordinal))
    return {offset: (key, ordinal, counts[key]) for offset, key, ordinal in found}


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
def _expressions(text: str) -> dict[_Key, list[SourcePositions]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    found: dict[_Key, list[SourcePositions]] = {}
    for node, kind, (scope, scope_line) in _evaluated(tree, ("<module>", 1)):
        positions = SourcePositions(node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
        found.setdefault(_Key(scope, scope_line, node.lineno, kind), []).append(positions)
    return found


_Scope = tuple[str, int]


def _evaluated(node: ast.AST, scope: _Scope) -> Iterator[tuple[ast.expr | ast.AugAssign, str, _Scope]]:
    """All expressions below and at `node` in the order of evaluation, each with the scope that evaluates it."""
    # A method that is called is loaded by LOAD_METHOD, which is no attribute access of its own.
    called = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    for child, inner in _children(node, scope):
        yield from _evaluated(called.value if called is not None and child is called else child, inner)
    kind = _NODE_KINDS.get(type(node))
    if kind is not None and isinstance(node, (ast.expr, ast.AugAssign)):
        yield node, kind, scope


def _children(node: ast.AST, scope: _Scope) -> Iterator[tuple[ast.AST, _Scope]]:
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from ((child, scope) for child in (node.value, *targets) if child is not None)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        body = {id(child) for child in node.body}
        for child in ast.iter_child_nodes(node):
            yield child, (node.name, first) if id(child) in body else scope
    elif isinstance(node, ast.Lambda):
        yield node.args, scope
        yield node.body, ("<lambda>", node.lineno)
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        inside = (_COMPREHENSIONS[type(node)], node.lineno)
        outer = node.generators[0].iter
        yield outer, scope
        for generator in node.generators:
            parts = [generator.target, generator.iter, *generator.ifs]
            yield from ((part, inside) for part in parts if part is not outer)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        yield from ((part, inside) for part in results)
    else:
        yield from ((child, scope) for child in ast.iter_child_nodes(node))
