"""Whether a finding stands at a mistake: at the edited expression, where the real run raised, or one operation behind.

Positions alone decide. What a finding says is not looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from inductor_debug_schema import Finding, Range

Lines = tuple[int, int]
"""The first and last of some lines, one-based."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """Where a mistake is: the edited expression, the lines of its statement, and the lines that really raised."""

    path: str
    place: Range
    statement: Lines
    raised: Lines | None

    def has(self, finding: Finding, behind: Iterable[Lines]) -> bool:
        """Whether a finding, or a place that it relates to, stands there; `behind` are the lines that read it."""
        ranges = [finding.range] if finding.path == self.path else []
        ranges += [related.range for related in finding.related if related.path == self.path]
        if any(self._covers(item) for item in ranges):
            return True
        lines = [item for item in (self.raised, *behind) if item is not None]
        return any(_meet(_lines(item), wanted) for item in ranges for wanted in lines)

    def _covers(self, item: Range) -> bool:
        """Whether a range has the edited expression in it, or is a part of it, and is no more than its statement.

        Where nothing is left of the expression, any part of its statement will do.
        """
        outside = item.start <= self.place.start and self.place.end <= item.end
        inside = self.place.start <= item.start and item.end <= self.place.end
        first, last = _lines(item)
        nothing_left = self.place.start == self.place.end
        return (outside or inside or nothing_left) and self.statement[0] <= first and last <= self.statement[1]


def one_behind(tree: ast.Module, lines: Lines) -> list[Lines]:
    """The next statement of the same function that reads what a statement binds, or a function's head its parameters.

    None where nothing is bound. The tree is that of the sound text, which knows what the mistake may have left out.
    """
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.lineno <= lines[0] <= (function.end_lineno or 0):
            statements = sorted(_statements(function), key=lambda item: item.lineno)
            bound = {name for item in statements if item.lineno == lines[0] for name in _names(item, ast.Store)}
            if function.lineno == lines[0]:
                bound |= {item.arg for item in ast.walk(function.args) if isinstance(item, ast.arg)}
            later = (item for item in statements if item.lineno > lines[1])
            found = next((item for item in later if bound & set(_names(item, ast.Load))), None)
            if found is not None:
                return [(found.lineno, found.end_lineno or found.lineno)]
    return []


def _statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The statements that hold no others."""
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and not isinstance(getattr(node, "body", None), list):
            yield node


def _names(statement: ast.stmt, context: type[ast.expr_context]) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, context):
            yield ast.unparse(node)


def _lines(item: Range) -> Lines:
    return item.start.line + 1, item.end.line + 1


def _meet(one: Lines, other: Lines) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
