"""Pieces of a graph, as graphs of their own: from one operation up to another, with what crosses the cuts.

A piece takes the values that it needs from before it and returns those that are needed after it. Numbers that are no
tensors are written into it. Nothing here compiles or compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from inductor_debug.capture.graphs.graph_runner import last_uses
from inductor_debug.kerneldiff.execution.node_graphs import NodeGraph, operands, plainly
from inductor_debug.kerneldiff.execution.structure import cloned

_LITERALS = (int, float, bool, str, type(None), torch.dtype, torch.device)


@dataclass(frozen=True)
class Piece:
    """The operations `start` to `end` (exclusive) of a graph. `inputs` are real tensors, one for each placeholder.

    `outputs` names the operations whose results it returns. What it does to its inputs in place is a result, too.
    `fixed` says of each input whether it is a constant of the graph, of which no gradient is asked.
    """

    start: int
    end: int
    module: GraphModule
    inputs: list[torch.Tensor]
    outputs: list[str]
    fixed: list[bool]


class Cuttable:
    """A graph with arguments to run it on, ready to be cut. Keeps the arguments, and no other value.

    Args:
        graph: what to cut.
        args: its arguments, which are cloned where the graph writes to anything.
        constants: identities of arguments that are constants.
    """

    def __init__(self, graph: NodeGraph, args: list[Any], constants: frozenset[int] = frozenset()) -> None:
        self.graph = graph
        placeholders = [node for node in graph.module.graph.nodes if node.op == "placeholder"]
        self._fixed = {node for node, value in zip(placeholders, args, strict=False) if id(value) in constants}
        self.writes = any(map(writes, graph.module.graph.nodes))
        self._args = cloned(args) if self.writes else args
        self.operations = graph.operations()
        self._cuts: list[bool] | None = None

    def cut_near(self, wanted: int, start: int, end: int) -> int | None:
        """The place between `start` and `end`, nearest to `wanted`, where only tensors and numbers cross."""
        allowed = self._allowed_cuts()
        places = [place for place in range(start + 1, end) if allowed[place]]
        return min(places, key=lambda place: abs(place - wanted)) if places else None

    def piece(self, start: int, end: int) -> Piece:
        """The operations `start` to `end`, with the values that the reference has there."""
        chosen = self.operations[start:end]
        inside = set(chosen)
        needed = {used for node in chosen for used in node.all_input_nodes if used not in inside}
        values = self._values_before(start, needed)
        graph = Graph()
        copies: dict[Node, Any] = {}
        inputs: list[torch.Tensor] = []
        fixed: list[bool] = []
        for node in self.graph.module.graph.nodes:
            if node not in needed:
                continue
            value = values[node]
            if isinstance(value, torch.Tensor):
                copies[node] = graph.placeholder(node.name)
                inputs.append(value)
                fixed.append(node in self._fixed)
            elif node.op == "get_attr":
                copies[node] = graph.node_copy(node)
            else:
                copies[node] = value
        for node in chosen:
            copies[node] = graph.node_copy(node, copies.__getitem__)
        kept = [node for node in chosen if any(user not in inside for user in node.users)]
        graph.output(tuple(copies[node] for node in kept))
        module = GraphModule(self.graph.module, graph)
        return Piece(start, end, module, _detached(inputs, self.writes), [node.name for node in kept], fixed)

    def _values_before(self, start: int, needed: set[Node]) -> dict[Node, Any]:
        """Runs the operations before `start` as eager does, keeping what is needed."""
        values: dict[Node, Any] = {}
        arguments = iter(cloned(self._args) if self.writes else self._args)
        dead = last_uses(self.graph.module)
        done = 0
        for node in self.graph.module.graph.nodes:
            if node.op == "placeholder":
                values[node] = next(arguments)
            elif node.op == "get_attr":
                values[node] = attrgetter(str(node.target))(self.graph.module)
            elif node.op != "output" and done < start:
                values[node] = plainly(node, *operands(node, values))
                done += 1
                for used in dead.get(node, ()):
                    if used not in needed:
                        values.pop(used, None)
        return {node: values[node] for node in needed}

    def _allowed_cuts(self) -> list[bool]:
        if self._cuts is None:
            simple = self._simple_values()
            position = {node: index for index, node in enumerate(self.operations)}
            allowed = [True] * (len(self.operations) + 1)
            for node, index in position.items():
                if simple[index]:
                    continue
                last = max((position.get(user, len(self.operations)) for user in node.users), default=index)
                for place in range(index + 1, min(last, len(self.operations)) + 1):
                    allowed[place] = False
            self._cuts = allowed
        return self._cuts

    def _simple_values(self) -> list[bool]:
        """For every operation, whether its value may cross a cut."""
        found: list[bool] = []
        values: dict[Node, Any] = {}
        arguments = iter(cloned(self._args) if self.writes else self._args)
        dead = last_uses(self.graph.module)
        for node in self.graph.module.graph.nodes:
            if node.op == "placeholder":
                values[node] = next(arguments)
            elif node.op == "get_attr":
                values[node] = attrgetter(str(node.target))(self.graph.module)
            elif node.op != "output":
                value = values[node] = plainly(node, *operands(node, values))
                found.append(isinstance(value, (torch.Tensor, *_LITERALS)))
                for used in dead.get(node, ()):
                    values.pop(used, None)
        return found


def _detached(inputs: list[torch.Tensor], copy: bool) -> list[torch.Tensor]:
    plain = [tensor.detach() for tensor in inputs]
    return cloned(plain) if copy else plain


def writes(node: Node) -> bool:
    """Whether the node writes to an argument of its own, as far as its name or schema tells."""
    if node.op == "call_method":
        name = str(node.target)
        return (name.endswith("_") and not name.endswith("__")) or name == "__setitem__"
    schema = getattr(node.target, "_schema", None)
    if schema is not None:
        return bool(schema.is_mutable)
    name = getattr(node.target, "__name__", "")
    return name in ("setitem", "iadd", "imul", "isub", "itruediv") or bool(node.kwargs.get("inplace"))
