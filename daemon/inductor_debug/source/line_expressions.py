"""Which expressions stand on a line, and which of them somebody means who knows no more than the line and a name.

Compilers remember lines, and what was called there, longer than columns. Where a name fits exactly one expression, it
is that one; everything else is the statement, because a guess between two would send people to the wrong place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from inductor_debug_schema import Position, Range

from inductor_debug.source.source_text import SourceText
from inductor_debug.source.syntax_tree import tree_of

_OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Add: ("add",),
    ast.Sub: ("sub",),
    ast.Mult: ("mul",),
    ast.Div: ("div", "truediv"),
    ast.FloorDiv: ("floordiv", "floor_divide"),
    ast.Mod: ("mod", "remainder"),
    ast.Pow: ("pow",),
    ast.MatMult: ("matmul", "mm", "bmm"),
    ast.BitAnd: ("and_", "bitwise_and"),
    ast.BitOr: ("or_", "bitwise_or"),
    ast.BitXor: ("xor", "bitwise_xor"),
    ast.USub: ("neg",),
    ast.Invert: ("invert", "bitwise_not"),
    ast.Lt: ("lt",),
    ast.LtE: ("le",),
    ast.Gt: ("gt",),
    ast.GtE: ("ge",),
    ast.Eq: ("eq",),
    ast.NotEq: ("ne",),
}
"""What operators are called where a graph names them."""
OPERATOR_NAMES = frozenset({"getitem", *(name for names in _OPERATORS.values() for name in names)})
"""All such names, with that of a subscript."""


@dataclass(frozen=True, slots=True)
class LineExpression:
    """A call, an operator or a subscript on a line: the names that fit it, and its range.

    `opaque` is a call that runs code of an object's own (`self.norm(x)`, `layer(x)`): no name tells what it does.
    """

    names: tuple[str, ...]
    opaque: bool
    range: Range


@dataclass(frozen=True, slots=True)
class Line:
    """What stands on one line: the innermost statement there, without the body that it opens, and its expressions."""

    statement: Range
    expressions: tuple[LineExpression, ...]

    def named(self, names: Iterable[str]) -> LineExpression | None:
        """The one expression that one of `names` fits; None where none does, or several do."""
        wanted = set(names)
        found = [expression for expression in self.expressions if wanted.intersection(expression.names)]
        return found[0] if len(found) == 1 else None

    def starting_at(self, position: Position) -> LineExpression | None:
        """The one expression that begins there."""
        found = [expression for expression in self.expressions if expression.range.start == position]
        return found[0] if len(found) == 1 else None


class LineExpressions:
    """The lines of one text, each looked at once."""

    def __init__(self, text: str) -> None:
        self._source = SourceText(text)
        try:
            self._tree: ast.Module | None = tree_of(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._tree = None
        self._lines: dict[int, list[ast.stmt]] | None = None

    def text(self, line: int) -> str | None:
        """The zero-based line, or None past the end."""
        return self._source.line(line)

    def __len__(self) -> int:
        return len(self._source.lines)

    def range_of(self, line: int, start: int, end_line: int, end: int) -> Range:
        """A range that Python gives: zero-based lines, columns in UTF-8 bytes."""
        return Range(
            Position(line, self._source.character(line, start)),
            Position(end_line, self._source.character(end_line, end)),
        )

    def line(self, number: int) -> Line:
        """What stands on a zero-based line. A text that does not parse has lines without expressions."""
        statements = self._statements().get(number, [])
        if not statements:
            return Line(self._source.line_range(number), ())
        innermost = statements[-1]
        parts = list(_own_parts(innermost))
        found = [each for part in parts for each in self._expressions(part, number)]
        return Line(self._extent(innermost, parts), tuple(found))

    def _statements(self) -> dict[int, list[ast.stmt]]:
        """For each line the statements on it, outer ones first."""
        if self._lines is None:
            self._lines = {}
            for statement in _statements(self._tree):
                for line in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
                    self._lines.setdefault(line, []).append(statement)
        return self._lines

    def _extent(self, statement: ast.stmt, parts: list[ast.AST]) -> Range:
        """A statement, or what stands before the body that it opens."""
        if not hasattr(statement, "body"):
            return self._range(statement)
        ends = [self._range(part).end for part in parts if isinstance(part, ast.expr)]
        whole = self._range(statement)
        return Range(whole.start, max(ends, default=self._source.line_range(whole.start.line).end))

    def _expressions(self, part: ast.AST, line: int) -> Iterator[LineExpression]:
        for node in ast.walk(part):
            names = names_of(node)
            if names and isinstance(node, ast.expr) and line in (node.lineno - 1, _last_name_line(node)):
                yield LineExpression(names, _is_opaque(node), self._range(node))

    def _range(self, node: ast.AST) -> Range:
        assert isinstance(node, (ast.expr, ast.stmt))
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.range_of(node.lineno - 1, node.col_offset, end_line - 1, end)


def names_of(node: ast.AST) -> tuple[str, ...]:
    """What a graph may call an expression: the name of a function or method, or the names of an operator."""
    if isinstance(node, ast.Call):
        return (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "call"),)
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return ()
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return _OPERATORS.get(type(node.op), ())
    if isinstance(node, ast.Compare):
        return tuple(name for operator in node.ops for name in _OPERATORS.get(type(operator), ()))
    return ("getitem",) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) else ()


def _is_opaque(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    root = node.func
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return isinstance(root, ast.Name) and (root is node.func or root.id == "self")


def _statements(tree: ast.AST | None) -> Iterator[ast.stmt]:
    """All statements, outer ones before those in them; no deeper recursion than the text's own blocks."""
    pending = [tree] if tree is not None else []
    while pending:
        node = pending.pop()
        pending += [child for child in reversed(list(ast.iter_child_nodes(node))) if not isinstance(child, ast.expr)]
        if isinstance(node, ast.stmt):
            yield node


def _own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement that are not in the blocks that it opens."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, (ast.expr, ast.withitem, ast.keyword)):
            yield child


def _last_name_line(node: ast.expr) -> int:
    """The zero-based line of a method's name, which a traceback names for a call over several lines."""
    called = node.func if isinstance(node, ast.Call) else node
    return (called.end_lineno or called.lineno) - 1 if isinstance(called, ast.Attribute) else node.lineno - 1
