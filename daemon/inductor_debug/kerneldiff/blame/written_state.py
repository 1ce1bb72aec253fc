"""Whether it is a write to what the model keeps that a backend gets wrong: a counter, a running mean, an input.

Asked where every piece of a graph is right by itself, so that only what is around the graphs is left. Each write is
tried on a copy of what it is made to: where the results are then right, the write is at fault. A compiler goes wrong so
when its backward computes something again from memory that the forward has written to meanwhile.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.kerneldiff.execution.node_graphs import NodeGraph, with_dynamo_graphs
from inductor_debug.kerneldiff.execution.segments import writes
from inductor_debug.kerneldiff.execution.side_runs import SideRun, run_side
from inductor_debug.kerneldiff.judging.output_judging import Values
from inductor_debug.kerneldiff.judging.sides import values

_LEFT = 0.01
"""The part of an error that may be left for a result to count as put right."""
_MOST_WRITES = 8
"""Each costs one more compilation of the whole target."""


@dataclass(frozen=True)
class Write:
    """A node that writes to an argument of its graph. `name` is the model's for what is written to."""

    graph: NodeGraph
    node: Node
    argument: Node
    name: str


class WriteTrial:
    """Runs one target with single writes made to copies.

    Args:
        target: whose state the caller puts back: `restore` is called after each run.
        compiler: `(GraphModule, example inputs) -> callable`.
        run: arguments of `run_side` (`seed`, `gradients`).
        restore: puts the target back.
        traced: what surrounds runs of compiled code.
    """

    def __init__(
        self,
        target: BuiltTarget,
        compiler: Callable[..., Any],
        run: dict[str, Any],
        restore: Callable[[], None],
        traced: Callable[[], AbstractContextManager[Any]],
    ) -> None:
        self._target, self._compiler, self._run_with, self._restore, self._traced = (
            target,
            compiler,
            run,
            restore,
            traced,
        )

    def guilty(self, wrong: Sequence[str]) -> Write | None:
        """The first write without which all results named `wrong` are right; None where there is no such write."""
        found: list[Write] = []

        def note(graph: NodeGraph, args: list[Any]) -> Any:
            found.extend(self._writes_of(graph, args))
            return graph.module(*args)

        reference = self._values(with_dynamo_graphs(self._target.function, note))
        if not found:
            return None
        before = self._values(self._compiled(None))
        for write in found[:_MOST_WRITES]:
            after = self._values(self._compiled(write))
            if all(_put_right(reference.get(name), before.get(name), after.get(name)) for name in wrong):
                return write
        return None

    def _writes_of(self, graph: NodeGraph, args: list[Any]) -> Iterator[Write]:
        module = self._target.module
        kept = {} if module is None else {id(buffer): f"buffer {name}" for name, buffer in module.named_buffers()}
        arguments = [node for node in graph.module.graph.nodes if node.op == "placeholder"]
        given = {node: kept.get(id(value), "an input") for node, value in zip(arguments, args, strict=False)}
        for node in graph.operations():
            argument = node.args[0] if node.args else None
            if isinstance(argument, Node) and argument in given and writes(node):
                yield Write(graph, node, argument, given[argument])

    def _values(self, function: Callable[..., Any]) -> Values:
        with self._traced():
            ran: SideRun = run_side(self._target, function, **self._run_with)
        self._restore()
        return values(ran) if ran.error is None else {}

    def _compiled(self, write: Write | None) -> Callable[..., Any]:
        count = 0

        def backend(graph_module: GraphModule, example_inputs: list[Any]) -> Any:
            nonlocal count
            if write is not None and write.graph.name == str(count):
                graph_module = _on_a_copy(graph_module, write.argument.name)
            count += 1
            return self._compiler(graph_module, example_inputs)

        torch._dynamo.reset()
        return torch.compile(self._target.function, backend=backend, dynamic=False)


def _on_a_copy(graph_module: GraphModule, name: str) -> GraphModule:
    """The graph with its argument `name` copied first, so that nothing is written to what was given."""
    graph = copy.deepcopy(graph_module.graph)
    given = next(node for node in graph.nodes if node.op == "placeholder" and node.name == name)
    last = next(node for node in reversed(list(graph.nodes)) if node.op == "placeholder")
    with graph.inserting_after(last):
        copied = graph.call_function(torch.clone, (given,))
    given.replace_all_uses_with(copied, delete_user_cb=lambda user: user is not copied)
    return GraphModule(graph_module, graph)


def _put_right(reference: Any, before: Any, after: Any) -> bool:
    if not all(isinstance(value, torch.Tensor) for value in (reference, before, after)):
        return False
    if reference.shape != before.shape or reference.shape != after.shape:
        return False
    first, second = (float((value.double() - reference.double()).norm()) for value in (before, after))
    return second <= _LEFT * first
