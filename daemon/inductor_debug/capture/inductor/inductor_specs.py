"""Ties operations of post-grad graphs to what Inductor made of them, for the specs that `rules.derived_specs` makes.

It only looks things up: which kernel and which scheduler node compute an operation, with which loops, and what its
results are called.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from inductor_debug_schema import DeviceSpecs, Graph, GraphDocument, GraphNode, Listing
from torch.fx import GraphModule, Node

from inductor_debug.capture.inductor.inductor_ir import IrPart, IrStep
from inductor_debug.capture.node_facts.graph_bodies import names_in
from inductor_debug.rules.derived_specs import LoweredLoops, LoweredOperation
from inductor_debug.rules.recording.ops import Op
from inductor_debug.rules.words.spec_words import spec_text

_UNTOLD = "{} has no operation of its own: it copies what another kernel reads or gives."


def with_specs(document: GraphDocument, specs: DeviceSpecs) -> GraphDocument:
    """The document with what its kernels ask of an accelerator, and with a text of that for each graph of kernels."""
    told = {(spec.graph, spec.kernel) for spec in specs.specs}
    untold = [kernel.name for kernel in document.kernels if (kernel.graph, kernel.name) not in told]
    specs = replace(specs, notes=[*specs.notes, *map(_UNTOLD.format, untold)])
    listings = []
    for graph in dict.fromkeys(spec.graph for spec in specs.specs):
        text, places = spec_text(specs, [spec for spec in specs.specs if spec.graph == graph])
        listings.append(Listing(f"kernel specs on {specs.accelerator}", "text", text, graph, places))
    return replace(document, specs=specs, listings=[*document.listings, *listings])


class LoweredOperations:
    """What became of the operations of one recording; graphs are added one after the other."""

    def __init__(self) -> None:
        self._rows: dict[Node, tuple[str, GraphNode]] = {}
        self._names: dict[Node, str] = {}
        self._steps: dict[tuple[str, str], str] = {}
        self._parts: dict[tuple[str, str], IrPart] = {}
        self._kernels: dict[tuple[str, str], tuple[str, ...]] = {}

    def add(self, post_grad: Graph, ir: Graph | None, graph_module: GraphModule, steps: Iterable[IrStep]) -> None:
        """Adds a post-grad graph, the module that it is the table of, and the scheduler nodes that it became.

        `ir` is the table of these, None where there are none.
        """
        for row in ir.nodes if ir is not None else ():
            self._kernels[post_grad.name, row.name] = tuple(row.kernels)
        rows = {row.name: row for row in post_grad.nodes}
        for node, name in names_in(graph_module):
            self._names[node] = name
            if name in rows:
                self._rows[node] = (post_grad.name, rows[name])
        for step in steps:
            for origin in step.origins:
                self._steps.setdefault((post_grad.name, origin), step.name)
            for part in step.parts:
                if part.value:
                    self._parts[post_grad.name, part.value] = part
                    self._steps[post_grad.name, part.value] = step.name

    def of(self, operations: Sequence[Op], nodes: Sequence[Any]) -> dict[int, LoweredOperation]:
        """By index; `nodes` are those that ran the operations, None where none did."""
        found = {}
        for operation, node in zip(operations, nodes, strict=True):
            known = self._rows.get(node)
            if known is not None:
                found[operation.index] = self._lowered(operation, node, *known)
        return found

    def _lowered(self, operation: Op, node: Node, graph: str, row: GraphNode) -> LoweredOperation:
        part = self._parts.get((graph, row.name))
        step = self._steps.get((graph, row.name), "")
        # Kernels that only prepare what the operation reads name it as well; those that inline it compute it.
        own = self._kernels.get((graph, step), ()) if part is not None else ()
        results = (row.name,) if len(operation.outputs) == 1 else tuple(self._picked(node, len(operation.outputs)))
        return LoweredOperation(
            graph=graph,
            node=row.name,
            kernels=own or tuple(row.kernels),
            results=results,
            operands=tuple(row.inputs),
            step=step,
            place=row.place,
            loops=LoweredLoops(part.ranges, part.reduced) if part is not None and part.ranges is not None else None,
            external=any(self._external(graph, name) for name in (row.name, *results)),
        )

    def _external(self, graph: str, value: str) -> bool:
        """Whether a kernel of a library computes a value; what joins others has none, they are written in place."""
        part = self._parts.get((graph, value))
        called = self._kernels.get((graph, self._steps.get((graph, value), "")))
        return part is not None and part.ranges is None and bool(called)

    def _picked(self, node: Node, count: int) -> list[str]:
        """The names of the nodes that pick the results of an operation with several."""
        names = [f"{self._names[node]}[{index}]" for index in range(count)]
        for user in node.users:
            if user.target is operator.getitem and user.args[1] in range(count):
                names[user.args[1]] = self._names.get(user, "")  # type: ignore[index]
        return names
