"""The values of a graph's nodes as its compiled form has them, and how far they are from those of eager.

A value inside a kernel never reaches memory. So the graph is compiled once more with the wanted values as further
outputs, each copied where it is made: what is written over later is seen as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from inductor_debug.capture.failures.failures import describe
from inductor_debug.kerneldiff.metrics.tensor_comparison import compare_tensors


@dataclass(frozen=True)
class BothSides:
    """A value of eager beside the compiled one, which is None where nobody asked for it or it could not be had."""

    eager: torch.Tensor
    compiled: torch.Tensor | None
    apart: str


class CompiledValues:
    """Compiles a graph so that it gives the values of the nodes `wanted`; says why where it cannot."""

    def __init__(self, module: GraphModule, wanted: Collection[str]) -> None:
        self._module, self._names = _with_values(module, wanted)
        self._compiled: Any = None
        self.problem = ""

    def of(self, arguments: Sequence[Any]) -> dict[str, torch.Tensor]:
        """The values by name, for these arguments of the graph."""
        from torch._inductor.compile_fx import compile_fx

        if not self._names or self.problem:
            return {}
        try:
            with torch.no_grad():
                if self._compiled is None:
                    self._compiled = compile_fx(self._module, list(arguments))
                return dict(zip(self._names, self._compiled(*arguments), strict=True))
        except Exception as error:  # of a compiler: the rest is shown without it
            self.problem = describe(error)
            return {}


def compared(eager: torch.Tensor, compiled: torch.Tensor | None, why_not: str) -> BothSides:
    """Both values as they are now: what a later statement writes into them does not change what is shown."""
    kept = eager.detach().clone()
    return BothSides(kept, compiled, apart(kept, compiled) if compiled is not None else why_not)


def apart(reference: torch.Tensor, actual: torch.Tensor) -> str:
    """How far `actual` is from `reference`, in a few words."""
    comparison = compare_tensors(reference, actual)
    metrics = comparison.metrics
    if comparison.problem or metrics is None:
        return comparison.problem
    if metrics.nonfinite_mismatches:
        return f"{metrics.nonfinite_mismatches} elements are NaN or infinite on one side alone"
    if not metrics.max_abs:
        return "equal"
    units = f", {metrics.max_ulp} ulp" if metrics.max_ulp is not None else ""
    return f"at most {metrics.max_abs:.3g} apart{units}"


def _with_values(module: GraphModule, wanted: Collection[str]) -> tuple[GraphModule, list[str]]:
    graph = Graph()
    copies: dict[Node, Node] = {}
    graph.graph_copy(module.graph, copies)
    nodes = [copies[node] for node in module.graph.nodes if node.name in wanted and node in copies]
    values: list[Node] = []
    for node in nodes:
        with graph.inserting_after(node):
            value = graph.call_function(torch.clone, (node,))
        value.meta = dict(node.meta)
        values.append(value)
    graph.output(tuple(values))
    return GraphModule(module, graph), [node.name for node in module.graph.nodes if node.name in wanted]
