"""What each target of a file left out, once all of them have run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from inductor_debug_schema import Held, Location, Range, UntakenBlock

from inductor_debug.capture.expressions.evaluation import SourcePositions
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.instruction_watching import Ran, functions_of, positions_of
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.untaken.untaken_blocks import RanPlaces, Untaken, untaken_blocks
from inductor_debug.capture.untaken.work import computing_methods
from inductor_debug.source.syntax_tree import text_of, tree_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LONGEST = 60


@dataclass
class RunsOfFile:
    """What the runs of a file's targets have entered, by target; `complete` while every run could be watched."""

    path: str
    complete: bool = True
    _positions: dict[str, set[SourcePositions]] = field(default_factory=dict)
    _functions: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    _whole: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, target: BuiltTarget, ran: Ran | None, *, whole: bool) -> None:
        """Takes in one run.

        Args:
            target: what ran.
            ran: what was seen of it, None where nothing could be.
            whole: whether the run came to its end; another is no witness of what was left out.
        """
        if ran is None:
            self.complete = False
            return
        self._positions.setdefault(target.name, set()).update(positions_of(ran))
        self._functions.setdefault(target.name, set()).update(functions_of(ran))
        if whole:
            called = target.function.forward if isinstance(target.function, torch.nn.Module) else target.function
            self._whole[target.name] = frozenset(each.name for each in foreign.parameters(called) or ())

    def may_have_entered(self, kind: Any) -> bool:
        """Whether the `forward` of a class ran in some target, or nobody can tell."""
        code = foreign.attribute(foreign.attribute(kind, "forward"), "__code__")
        if not self.complete or not foreign.is_a(code, CodeType) or code.co_filename != self.path:
            return True
        return any((code.co_name, code.co_firstlineno) in functions for functions in self._functions.values())

    def ran_whole(self, target: str) -> bool:
        """Whether a run of the target came to its end."""
        return target in self._whole

    def untaken(self, sources: SourceMap) -> dict[str, list[UntakenBlock]]:
        """By target that ran to its end, what it left out and no target ran, in the order of the text."""
        source = sources.text(self.path)
        if not self.complete or not self._whole or source is None:
            return {}
        try:
            tree = tree_of("\n".join(source.lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        anybody = RanPlaces(set().union(*self._positions.values()), set().union(*self._functions.values()))
        reader = _Reader(self.path, sources, source.lines, tree)
        return {
            target: reader.blocks(RanPlaces(self._positions[target], self._functions[target]), anybody, parameters)
            for target, parameters in self._whole.items()
        }


class _Reader:
    """Reads one file's tree for what did not run."""

    def __init__(self, path: str, sources: SourceMap, lines: Sequence[str], tree: ast.Module) -> None:
        self._path = path
        self._sources = sources
        self._lines = lines
        nodes = list(ast.walk(tree))
        self._functions: list[_Function] = [
            node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        self._classes = [node for node in nodes if isinstance(node, ast.ClassDef)]

    def blocks(self, own: RanPlaces, anybody: RanPlaces, parameters: frozenset[str]) -> list[UntakenBlock]:
        """What a target left out that ran `own`; `anybody` is what all targets ran."""
        found = [
            self._fact(block, parameters)
            for function in self._functions
            if own.entered(function)
            for block in untaken_blocks(function, anybody)
        ]
        found += [
            self._fact(Untaken([method], method.name, Held.NOT_CALLED), parameters)
            for definition in self._classes
            if self._is_reached(definition, own)
            for method in computing_methods(definition)
            if not anybody.entered(method)
        ]
        return sorted(_outermost(found), key=lambda block: block.range)

    def _is_reached(self, definition: ast.ClassDef, own: RanPlaces) -> bool:
        methods = (item for item in definition.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)))
        return any(own.entered(method) for method in methods)

    def _fact(self, block: Untaken, parameters: frozenset[str]) -> UntakenBlock:
        subject = block.subject if isinstance(block.subject, str) else text_of(self._lines, block.subject)
        area = Range(self._place(block.nodes[0]).range.start, self._place(block.nodes[-1]).range.end)
        return UntakenBlock(
            range=area,
            subject=subject if len(subject) <= _LONGEST else f"{subject[: _LONGEST - 1]}…",
            held=block.held,
            parameter=subject in parameters,
        )

    def _place(self, node: ast.expr | ast.stmt) -> Location:
        return self._sources.location_of(self._path, node)


def _outermost(blocks: Sequence[UntakenBlock]) -> Iterator[UntakenBlock]:
    """The blocks that lie in no other: a method that ran nowhere may be called from a branch that did not, either."""
    seen: set[Range] = set()
    for block in blocks:
        inside = any(other.range != block.range and other.range.encloses(block.range) for other in blocks)
        if not inside and block.range not in seen:
            seen.add(block.range)
            yield block
