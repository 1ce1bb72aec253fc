"""Seeded failures: predicates on graphs whose answer is known, for measuring the minimiser and for testing it.

The same predicate judges our programs and torch's graphs, so that both minimisers look for the same thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inductor_debug.repro.minimiser.oracle import OracleVerdict
from inductor_debug.repro.program.from_graph import name_of
from inductor_debug.repro.program.literals import UnprintableError
from inductor_debug.repro.program.program import Program
from torch.fx import GraphModule, Node

Shape = Sequence[tuple[str, tuple[int, ...]]]
"""A graph as its operations in order: the name of each, and the indexes of the operations that it reads."""


@dataclass(frozen=True)
class Pattern:
    """A failure: operations of these names must all be there, the first `occurrence` of them in the whole graph.

    `linked` says that the last must depend on the first.
    """

    names: tuple[str, ...]
    linked: bool = False
    least: int = 1

    def holds(self, shape: Shape) -> bool:
        """Whether a graph has the failure."""
        if any(sum(name == wanted for name, _ in shape) < self.least for wanted in self.names):
            return False
        return not self.linked or self._linked(shape)

    def _linked(self, shape: Shape) -> bool:
        first, last = self.names[0], self.names[-1]
        reached: set[int] = set()
        for index, (name, reads) in enumerate(shape):
            below = not reached.isdisjoint(reads)
            if below and name == last:
                return True
            if below or name == first:
                reached.add(index)
        return False


class PatternOracle:
    """Judges programs by a pattern; nothing is run."""

    deterministic = True

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self.fingerprint = str(pattern)

    def judge(self, program: Program) -> OracleVerdict:
        """Whether the program has the pattern."""
        return OracleVerdict(self._pattern.holds(shape_of_program(program)))


def shape_of_program(program: Program) -> Shape:
    """The operations of a program."""
    made: dict[str, int] = {}
    shape = []
    for index, step in enumerate(program.steps):
        shape.append((step.target, tuple(made[name] for name in step.uses() if name in made)))
        made.update((name, index) for name in step.outputs if name)
    return shape


def shape_of_graph(graph_module: GraphModule) -> Shape:
    """The operations of a graph of torch's."""
    calls = [node for node in graph_module.graph.nodes if node.op in ("call_function", "call_method")]
    indexes = {node: index for index, node in enumerate(calls)}
    return [(_name(node), tuple(indexes[item] for item in node.all_input_nodes if item in indexes)) for node in calls]


def _name(node: Node) -> str:
    target: Any = node.target
    if node.op == "call_method":
        return str(target)
    try:
        return str(target) if hasattr(target, "_schema") else name_of(target)
    except UnprintableError:
        return getattr(target, "__name__", str(target))
