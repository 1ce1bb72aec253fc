"""The compiler of tinychip: a backend for `torch.compile` that runs a graph operation by operation.

Its gelu is the quick approximation with a sigmoid, which is a fault: `inductor-debug diff` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter

LISTINGS: list[str] = []
"""The operations of each graph that was compiled, as a real compiler would leave kernels."""


class _Cores(Interpreter):
    """Runs what there is a kernel for as torch does, and gelu in its own way."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """One operation."""
        if getattr(target, "__name__", "") == "gelu":
            (x,) = args
            return x * torch.sigmoid(1.702 * x)
        return super().call_function(target, args, kwargs)


def compile_graph(graph_module: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compiles one of Dynamo's graphs: what `torch.compile` calls, and what it runs in the graph's place."""
    LISTINGS.append("".join(f"{node.format_node()}\n" for node in graph_module.graph.nodes))
    return _Cores(graph_module).run
