"""Compares every operation of a target's graphs with a transparent backend's, while the graphs run.

Nothing is retained but numbers: a value is compared as soon as it is there and dropped after its last use. In one walk
every operation is computed on the reference's inputs (*isolated*: whose fault) and on the backend's own (*accumulated*:
how errors grow). *Replacement* runs the graphs again with one result put right (`NodeReplacement`).

The walk returns the reference's results, so that the code between graphs, and backward, go on as in eager.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import torch
from torch.fx import Node
from torch.utils import _pytree as pytree

from inductor_debug.capture.graphs.graph_runner import last_uses
from inductor_debug.kerneldiff.execution.node_graphs import (
    NodeGraph,
    NodePlaces,
    gives_no_values,
    is_random,
    operands,
    operation_name,
    plainly,
    run_graph,
)
from inductor_debug.kerneldiff.execution.operation_arithmetic import Arithmetic, at_least, is_reference
from inductor_debug.kerneldiff.execution.random_numbers import RandomState, random_state_kept
from inductor_debug.kerneldiff.judging.diff_report import NodeError, NodeResult
from inductor_debug.kerneldiff.judging.differences import NOTHING, difference, differs_exactly
from inductor_debug.kerneldiff.judging.operation_errors import ratio_of

CLOSER_LOOK = 1.5
"""An operation whose relative error, in units of the format, is larger is measured against the exact result."""


@dataclass
class Modes:
    """Which of the modes to walk in."""

    isolated: bool = True
    accumulated: bool = True


class NodeWalk:
    """A visitor for `graphs.with_aten_graphs` that fills `results`, one for each operation, in the order of execution.

    Args:
        arithmetic: the backend.
        places: where nodes come from.
        modes: what to compute.
        done: told of each operation when it is compared.
    """

    def __init__(
        self,
        arithmetic: Arithmetic,
        places: NodePlaces,
        modes: Modes | None = None,
        done: Callable[[NodeResult], None] = lambda result: None,
    ) -> None:
        self._arithmetic, self._places = arithmetic, places
        self._modes = modes or Modes()
        self._done = done
        self.results: list[NodeResult] = []

    def __call__(self, graph: NodeGraph, args: list[Any]) -> Any:
        """Runs one graph."""
        return _GraphWalk(self, graph).run(args)

    def isolated_error(self, node: Node, reference: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NodeError:
        """The error of the backend's operation on the reference's inputs."""
        actual = self._arithmetic.compute(node, args, kwargs)
        error = difference(reference, actual)
        most = 0.0 if is_reference(self._arithmetic) else CLOSER_LOOK * at_least(self._arithmetic.unit)
        if error.invalid or error.relative > most or differs_exactly(reference, actual):
            ratio, unheld = ratio_of(self._arithmetic, node, (reference, actual), args, kwargs)
            return replace(error, ratio=ratio, unheld=unheld)
        return error

    def done(self, result: NodeResult) -> None:
        """Takes one operation's result in."""
        self.results.append(result)
        self._done(result)

    @property
    def arithmetic(self) -> Arithmetic:
        """The backend's."""
        return self._arithmetic

    @property
    def modes(self) -> Modes:
        """What is computed."""
        return self._modes

    @property
    def places(self) -> NodePlaces:
        """Where nodes come from."""
        return self._places


class _GraphWalk:
    """One graph on its way: the reference's values, the backend's own, and how large the errors of these are."""

    def __init__(self, walk: NodeWalk, graph: NodeGraph) -> None:
        self._walk, self._graph = walk, graph
        self._reference: dict[Node, Any] = {}
        self._chained: dict[Node, Any] = {}
        self._errors: dict[Node, float] = {}

    def run(self, args: list[Any]) -> Any:
        arguments = iter(args)
        dead = last_uses(self._graph.module)
        chaining = self._walk.modes.accumulated
        for node in self._graph.module.graph.nodes:
            if node.op == "output":
                return pytree.tree_map_only(Node, self._reference.__getitem__, node.args[0])
            if node.op in ("placeholder", "get_attr"):
                fetched = node.op == "get_attr"
                value = attrgetter(str(node.target))(self._graph.module) if fetched else next(arguments)
                self._reference[node] = value
                if chaining:
                    self._chained[node], self._errors[node] = value, 0.0
            else:
                self._operation(node)
            for used in dead.get(node, ()):
                self._reference.pop(used, None)
                self._chained.pop(used, None)
                self._errors.pop(used, None)
        return ()

    def _operation(self, node: Node) -> None:
        walk = self._walk
        before = RandomState.now() if is_random(node) else None
        args, kwargs = operands(node, self._reference)
        writes = _writes(node)
        own = operands(node, self._chained) if walk.modes.accumulated else None
        kept = _copied((args, kwargs)) if writes else (args, kwargs)
        value = self._reference[node] = plainly(node, args, kwargs)
        after = RandomState.now() if before is not None else None
        result = NodeResult(
            self._graph.name, node.name, operation_name(node), walk.places.place(node), walk.places.module(node)
        )
        if walk.modes.isolated:
            _set_random(before)
            nothing = _moves_only(node) or gives_no_values(node)
            result.isolated = NOTHING if nothing else walk.isolated_error(node, value, *kept)
        if own is not None:
            _set_random(before)
            if gives_no_values(node):
                chained = _copied(value)
            else:
                chained = walk.arithmetic.compute(node, *(_copied(own) if writes else own))
            self._chained[node] = chained
            result.accumulated = NOTHING if gives_no_values(node) else difference(value, chained)
            self._errors[node] = result.accumulated.relative
            inputs = [self._errors.get(used, 0.0) for used in node.all_input_nodes]
            floor = at_least(walk.arithmetic.unit)
            result.growth = result.accumulated.relative / max([floor, *inputs])
        _set_random(after)
        walk.done(result)


class NodeReplacement:
    """A visitor that runs the graphs in the backend's arithmetic, but takes the results of `names` from the reference.

    `errors` are the relative errors of each graph's results. It returns the reference's results, as `NodeWalk` does.
    """

    def __init__(self, arithmetic: Arithmetic, names: frozenset[tuple[str, str]]) -> None:
        self._arithmetic, self._names = arithmetic, names
        self.errors: dict[str, float] = {}

    def __call__(self, graph: NodeGraph, args: list[Any]) -> Any:
        """Runs one graph twice, side by side."""
        wanted: dict[str, Any] = {}
        copies = _copied(list(args))

        def reference(node: Node, node_args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            value = plainly(node, node_args, kwargs)
            if (graph.name, node.name) in self._names:
                wanted[node.name] = value
            return value

        def backend(node: Node, node_args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if node.name in wanted:
                return wanted[node.name]
            return self._arithmetic.compute(node, node_args, kwargs)

        with random_state_kept() as state:
            made = run_graph(graph, args, reference)
            after = RandomState.now()
            state.restore()
            own = run_graph(graph, copies, backend)
        after.restore()
        self.errors[graph.name] = difference(made, own).relative
        return made


def _writes(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def _moves_only(node: Node) -> bool:
    """Taking an item out of a tuple computes nothing."""
    return getattr(node.target, "__name__", "") == "getitem"


def _copied(value: Any) -> Any:
    return pytree.tree_map_only(torch.Tensor, torch.Tensor.clone, value)


def _set_random(state: RandomState | None) -> None:
    if state is not None:
        state.restore()
