"""Where a file defines its classes and functions, and where those return what they return. Syntax only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug_schema import Location, Position, Range

from inductor_debug.capture.expressions.instruction_expressions import SourcePositions
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.source.directives import name_range
from inductor_debug.source.syntax_tree import tree_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Definitions:
    """The definitions of one file that can be reached by name, those inside `if` and `try` included."""

    def __init__(self, path: str, text: str, sources: SourceMap) -> None:
        self._path, self._sources = path, sources
        source = sources.text(path)
        self._lines = source.lines if source is not None else []
        self._nodes = {node.name: node for node in _definitions(tree_of(text).body)}
        self._assigned = {
            target.id: node.lineno - 1
            for node in tree_of(text).body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    @property
    def start(self) -> Location:
        """The first character of the file: where complaints point that have no better place."""
        return Location(self._path, Range(Position(0, 0), Position(0, 0)))

    def classes(self) -> list[str]:
        """Names of the file's classes, in order."""
        return [name for name, node in self._nodes.items() if isinstance(node, ast.ClassDef)]

    def names(self) -> list[str]:
        """Names of all that the file defines or assigns."""
        return [*self._nodes, *self._assigned]

    def location(self, name: str) -> Location | None:
        """The name after `class` or `def`, or an assigned name; None where the file does not define it."""
        node = self._nodes.get(name)
        line = node.lineno - 1 if node is not None else self._assigned.get(name)
        return None if line is None else Location(self._path, name_range(self._lines, line))

    def returned(self, function: str, owner: str | None = None) -> tuple[Frame, ...]:
        """The frame of the last `return` expression of a function, or of a method of class `owner`."""
        nodes = self._nodes
        if owner is not None:
            node = self._nodes.get(owner)
            nodes = {item.name: item for item in _definitions(node.body)} if isinstance(node, ast.ClassDef) else {}
        found = nodes.get(function)
        if not isinstance(found, Function):
            return ()
        values = [node.value for node in _own_nodes(found) if isinstance(node, ast.Return) and node.value is not None]
        if not values:
            return ()
        last = max(values, key=lambda value: value.lineno)
        positions = SourcePositions(last.lineno, last.end_lineno, last.col_offset, last.end_col_offset)
        name = f"{owner}.{function}" if owner else function
        frame = self._sources.frame_from_positions(self._path, name, positions)
        return (frame,) if frame is not None else ()


def _definitions(body: list[ast.stmt]) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, Definition):
            yield node
        else:
            for block in ("body", "orelse", "finalbody"):
                yield from _definitions(getattr(node, block, []))
            for handler in getattr(node, "handlers", []):
                yield from _definitions(handler.body)


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """All nodes of a function without those of functions inside it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Definition | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
