"""The functions, statements and expressions of one file, found by their places. Syntax only.

Places are those of frames: zero-based lines and UTF-16 columns. A text that does not parse has nothing in it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inductor_debug_schema import Position, Range

from inductor_debug.source.flow import Flow, flow_of
from inductor_debug.source.source_text import SourceText
from inductor_debug.source.syntax_tree import tree_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, or the head of a compound one, on the zero-based lines `start` to `end` (inclusive)."""

    node: ast.stmt
    start: int
    end: int


class FunctionCode:
    """What stands where in a file."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._statements: dict[int, Statement] = {}
        self._functions: dict[int, Function] = {}
        self._expressions: dict[int, dict[Range, ast.expr]] = {}
        self.flow = Flow()
        try:
            tree = tree_of("\n".join(source.lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        self.flow = flow_of(source)
        self._add(tree.body)

    def statement(self, line: int) -> Statement | None:
        """The innermost statement at a line."""
        return self._statements.get(line)

    def function(self, line: int) -> Function | None:
        """The innermost function around a line."""
        return self._functions.get(line)

    def expression(self, span: Range) -> ast.expr | None:
        """The expression at a place."""
        statement = self.statement(span.start.line)
        if statement is None:
            return None
        known = self._expressions.get(id(statement.node))
        if known is None:
            known = {self.range(node): node for node in _own_expressions(statement.node)}
            self._expressions[id(statement.node)] = known
        return known.get(span)

    def range(self, node: ast.expr | ast.stmt) -> Range:
        """The place of a node."""
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        return Range(
            Position(start, self._source.character(start, node.col_offset)),
            Position(end, self._source.character(end, node.end_col_offset or 0)),
        )

    def _add(self, body: list[ast.stmt]) -> None:
        for node in body:
            start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            if isinstance(node, Function):
                self._functions.update(dict.fromkeys(range(start, end + 1), node))
            inner = [block for name in _BLOCKS if (block := getattr(node, name, None))]
            inner += [part.body for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
            if inner:
                end = max(start, min(block[0].lineno for block in inner) - 2)
            statement = Statement(node, start, end)
            self._statements.update(dict.fromkeys(range(start, end + 1), statement))
            for block in inner:
                self._add(block)


class Codes:
    """What stands in files, read once.

    Args:
        text_of: the text that ran as the file at a path, None where there is none.
    """

    def __init__(self, text_of: Callable[[str], SourceText | None]) -> None:
        self._text_of = text_of
        self._known: dict[str, FunctionCode | None] = {}

    def __call__(self, path: str) -> FunctionCode | None:
        """What stands in the file at a path; None where there is no text of it."""
        if path not in self._known:
            text = self._text_of(path)
            self._known[path] = None if text is None else FunctionCode(text)
        return self._known[path]


def parameters_of(function: Function) -> list[str]:
    """The names of a function's positional parameters."""
    return [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]


def _own_expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement, without those of statements inside it; inner ones come first."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from reversed([part for part in ast.walk(child) if isinstance(part, ast.expr)])
