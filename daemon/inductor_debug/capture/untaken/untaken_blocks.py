"""The blocks of a function that a run has not entered, the outermost of each alone.

It walks the statements that ran and asks, of each place where a run may go one way or another, which way it did not go.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from inductor_debug_schema import Held

from inductor_debug.capture.expressions.evaluation import SourcePositions
from inductor_debug.capture.untaken.conditions import held
from inductor_debug.capture.untaken.work import asks_for_the_mode, is_work

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_SILENT = (*_SCOPES, ast.Pass, ast.Global, ast.Nonlocal)
"""Statements that may leave no instruction of their own."""
_TRIES: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))
_ENDINGS = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class RanPlaces:
    """The places in a file of which instructions ran.

    Args:
        positions: of the instructions. Where a Python knows lines alone, whatever begins on a line that ran counts as
            having run.
        functions: those that were entered, by name and first line.
    """

    def __init__(self, positions: Iterable[SourcePositions], functions: Collection[tuple[str, int]]) -> None:
        self._functions = functions
        self._by_line: dict[int, list[SourcePositions]] = {}
        for each in positions:
            if each.lineno is not None:
                self._by_line.setdefault(each.lineno, []).append(each)

    def entered(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether a function ran itself; functions inside of it may have been made by another run."""
        first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
        return (function.name, first) in self._functions

    def any_in(self, node: ast.expr | ast.stmt) -> bool:
        """Whether anything at or inside of a node's place ran."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        return any(
            _within(each, start, end)
            for line in range(node.lineno, node.end_lineno + 1)
            for each in self._by_line.get(line, ())
        )

    def any_of(self, nodes: Iterable[ast.expr | ast.stmt]) -> bool:
        """Whether anything inside of one of the nodes ran."""
        return any(map(self.any_in, nodes))


@dataclass(frozen=True, slots=True)
class Untaken:
    """Nodes that did not run, one after the other, and what held instead of `subject` (a node, a name or nothing)."""

    nodes: Sequence[ast.expr | ast.stmt]
    subject: ast.expr | ast.pattern | str
    held: Held


def untaken_blocks(function: ast.FunctionDef | ast.AsyncFunctionDef, ran: RanPlaces) -> Iterator[Untaken]:
    """The blocks of a function, which was entered, that did not run and are a model's work."""
    return (block for block in _in_statements(function.body, ran) if is_work(block.nodes))


def _in_statements(statements: Sequence[ast.stmt], ran: RanPlaces) -> Iterator[Untaken]:
    """The blocks in statements of which the first was reached."""
    for index, statement in enumerate(statements):
        if isinstance(statement, _SILENT) or _is_text(statement):
            continue
        if not ran.any_in(statement):
            yield _rest(statements, index, ran)
            return
        yield from _in_statement(statement, ran)


def _in_statement(statement: ast.stmt, ran: RanPlaces) -> Iterator[Untaken]:
    if isinstance(statement, _TRIES):
        yield from _in_try(statement, ran)
    elif isinstance(statement, ast.Match):
        for case in statement.cases:
            yield from _way(case.body, (case.pattern, Held.OTHER_CASE), ran)
    elif isinstance(statement, (ast.If, ast.While)):
        asks = asks_for_the_mode(statement.test)
        yield from _way(statement.body, None if asks else held(statement.test, False), ran)
        leaves = isinstance(statement, ast.While)
        yield from _way(statement.orelse, None if asks or leaves else held(statement.test, True), ran)
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        yield from _way(statement.body, (statement.iter, Held.EMPTY), ran)
        yield from _way(statement.orelse, None, ran)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        yield from _in_statements(statement.body, ran)
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.stmt):
            yield from _in_expression(child, ran)


def _way(
    nodes: Sequence[ast.expr | ast.stmt], why: tuple[ast.expr | ast.pattern | str, Held] | None, ran: RanPlaces
) -> Iterator[Untaken]:
    """One of the ways that a run may go; `why` is what held where it did not, None where that is not to be told."""
    if not nodes:
        return
    if not ran.any_of(nodes):
        if why is not None:
            yield Untaken(nodes, *why)
        return
    yield from _in_statements([node for node in nodes if isinstance(node, ast.stmt)], ran)
    for node in nodes:
        if isinstance(node, ast.expr):
            yield from _in_expression(node, ran)


def _in_try(statement: ast.Try, ran: RanPlaces) -> Iterator[Untaken]:
    yield from _in_statements(statement.body, ran)
    for handler in statement.handlers:
        yield from _way(handler.body, (handler.type or "an exception", Held.NOT_RAISED), ran)
    yield from _way(statement.orelse, None, ran)
    yield from _way(statement.finalbody, None, ran)


def _in_expression(node: ast.AST, ran: RanPlaces) -> Iterator[Untaken]:
    if isinstance(node, _SCOPES):
        return
    if isinstance(node, ast.IfExp):
        asks = asks_for_the_mode(node.test)
        yield from _in_expression(node.test, ran)
        yield from _way([node.body], None if asks else held(node.test, False), ran)
        yield from _way([node.orelse], None if asks else held(node.test, True), ran)
        return
    for child in ast.iter_child_nodes(node):
        yield from _in_expression(child, ran)


def _rest(statements: Sequence[ast.stmt], index: int, ran: RanPlaces) -> Untaken:
    """What comes after the statement with which the run left these: because of its condition, where it has one."""
    rest = statements[index:]
    for statement in reversed(statements[:index]):
        if isinstance(statement, ast.If) and not asks_for_the_mode(statement.test):
            for body, value in ((statement.body, True), (statement.orelse, False)):
                if body and isinstance(body[-1], _ENDINGS) and ran.any_in(body[-1]):
                    return Untaken(rest, *held(statement.test, value))
    return Untaken(rest, "", Held.ENDED)


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a constant alone, or declares a name without a value: nothing of it runs."""
    if isinstance(statement, ast.AnnAssign):
        return statement.value is None
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _within(each: SourcePositions, start: tuple[int, int], end: tuple[int, int]) -> bool:
    if each.end_lineno is None or each.col_offset is None or each.end_col_offset is None:
        return True
    return start <= (each.lineno or 0, each.col_offset) and (each.end_lineno, each.end_col_offset) <= end
