"""Where the functions of a file loop, and which of their expressions they return. Syntax only.

A recording says which expressions ran, not how often one of them was evaluated nor which of its tensors a function
gave back. Loops and `return` statements settle most of that. Only statements are walked, so a file costs little.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from inductor_debug_schema import Position, Range

from inductor_debug.source.source_text import SourceText
from inductor_debug.source.syntax_tree import tree_of

_BLOCKS = ("body", "orelse", "finalbody")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Assignment = tuple[str, ast.AST, "int | None"]
"""A name, what holds its value (the expression, or an augmented statement itself), and which part of it."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class FlowResult:
    """An expression that a function gives back: alone (`slot` 0 of 1) or as one of a tuple's `slots` parts.

    `part` is None, or the one of the expression's own outputs that is meant (`out, weights = ...; return out`).
    """

    slot: int
    slots: int
    part: int | None = None


@dataclass
class Flow:
    """`results` are keyed by the range of the expression; of an augmented assignment, by that of the statement.

    Of the assignments to a returned name only the last one counts: where another one was it, nobody knows.
    """

    results: dict[Range, list[FlowResult]] = field(default_factory=dict)
    loops: list[tuple[Position, Position]] = field(default_factory=list)

    def loops_around(self, span: Range) -> bool:
        """Whether the place is repeated by a loop or comprehension around it."""
        return any(start <= span.start and span.end <= end for start, end in self.loops)


def flow_of(source: SourceText) -> Flow:
    """The loops and results of a file; nothing for a text that does not parse."""
    try:
        tree = tree_of("\n".join(source.lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Flow()
    return _Reader(source).read(tree)


class _Reader:
    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._flow = Flow()

    def read(self, tree: ast.Module) -> Flow:
        self._scope(tree.body)
        return self._flow

    def _scope(self, body: list[ast.stmt]) -> None:
        """One function's (or class's, or the module's) own statements; those inside it are scopes of their own."""
        assigned: list[_Assignment] = []
        returned: list[ast.expr] = []
        for statement in _statements(body):
            if isinstance(statement, _Function | ast.ClassDef):
                self._scope(statement.body)
            elif isinstance(statement, ast.Return) and statement.value is not None:
                returned.append(statement.value)
            elif isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
                for part in (*statement.body, *([statement.test] if isinstance(statement, ast.While) else ())):
                    self._loop(part)
            else:
                assigned += _assignments(statement)
            self._comprehensions(statement)
        self._results(returned, {name: (node, part) for name, node, part in assigned})

    def _results(self, returned: list[ast.expr], assigned: dict[str, tuple[ast.AST, int | None]]) -> None:
        names: dict[tuple[int, int], list[str]] = {}
        for value in returned:
            elements = value.elts if isinstance(value, ast.Tuple) else [value]
            for slot, element in enumerate(elements):
                if isinstance(element, ast.Name):
                    names.setdefault((slot, len(elements)), []).append(element.id)
                else:
                    self._add(element, FlowResult(slot, len(elements)))
        for (slot, slots), wanted in names.items():
            if len(set(wanted)) == 1 and wanted[0] in assigned:
                node, part = assigned[wanted[0]]
                self._add(node, FlowResult(slot, slots, part))

    def _add(self, node: ast.AST, result: FlowResult) -> None:
        self._flow.results.setdefault(self._range(node), []).append(result)

    def _loop(self, node: ast.AST) -> None:
        span = self._range(node)
        self._flow.loops.append((span.start, span.end))

    def _comprehensions(self, statement: ast.stmt) -> None:
        if isinstance(statement, _Function | ast.ClassDef):
            return
        last = statement.body[0].lineno if hasattr(statement, "body") else (statement.end_lineno or statement.lineno)
        if not any(" for " in line for line in self._source.lines[statement.lineno - 1 : last]):
            return
        for node in _expressions(statement):
            if isinstance(node, _COMPREHENSIONS):
                self._loop(node)

    def _range(self, node: ast.AST) -> Range:
        start, end = getattr(node, "lineno", 1) - 1, (getattr(node, "end_lineno", 1) or 1) - 1
        return Range(
            Position(start, self._source.character(start, getattr(node, "col_offset", 0))),
            Position(end, self._source.character(end, getattr(node, "end_col_offset", 0) or 0)),
        )


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a scope, in order; functions and classes are not entered."""
    for statement in body:
        yield statement
        if isinstance(statement, _Function | ast.ClassDef):
            continue
        for block in _BLOCKS:
            yield from _statements(getattr(statement, block, []))
        for handler in getattr(statement, "handlers", []):
            yield from _statements(handler.body)
        for case in getattr(statement, "cases", []):
            yield from _statements(case.body)


def _assignments(statement: ast.stmt) -> list[_Assignment]:
    """The names a statement assigns and what holds their value."""
    if isinstance(statement, ast.Assign):
        found: list[_Assignment] = []
        for target in statement.targets:
            if isinstance(target, ast.Name):
                found.append((target.id, statement.value, None))
            elif isinstance(target, ast.Tuple):
                names = [(part, name.id) for part, name in enumerate(target.elts) if isinstance(name, ast.Name)]
                found += [(name, statement.value, part) for part, name in names]
        return found
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
        return [(statement.target.id, statement.value, None)]
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return [(statement.target.id, statement, None)]
    return []


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of one statement, without those of statements inside it."""
    pending = [node for node in ast.iter_child_nodes(statement) if not isinstance(node, ast.stmt)]
    while pending:
        node = pending.pop()
        yield node
        pending += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
