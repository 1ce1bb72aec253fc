"""Records post-grad graphs, for statistics: what Inductor is left with after its passes, forward and backward.

No rule judges it, because decompositions are not the user's choice. Nothing runs; every value is the fake one that
Inductor's passes left on its node, and what the forward saves is followed into the backward by its place among the
results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from inductor_debug.capture.graphs.graph_runner import NodeAttribution
from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.capture.stages.aot_lowering import LoweredGraphs
from inductor_debug.capture.stages.aot_recording import LoweringRunner
from inductor_debug.capture.tensors.recorder import CompiledRecorder


@dataclass(frozen=True, slots=True)
class PostGrad:
    """A post-grad graph with the names that its results had before Inductor's passes."""

    graph_module: GraphModule
    results: list[str]


def names_of_results(graph_module: GraphModule) -> list[str]:
    """What the results of a graph are called, by position; "" for one that no node makes."""
    output = next(node for node in reversed(graph_module.graph.nodes) if node.op == "output")
    return [item.name if isinstance(item, Node) else "" for item in output.args[0]]


def examples_of(graph_module: GraphModule) -> list[Any]:
    """The tensors of the target that a graph of Dynamo's was captured with, in the order of its inputs.

    Dynamo forgets them when the backend returns.
    """
    inputs = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    return [getattr(node.meta.get("grapharg"), "example", None) for node in inputs]


class PostGradRecorder:
    """Records one captured graph after the other, as if each was called once, and then all backwards."""

    def __init__(self, attribution: NodeAttribution, origins: OriginTable) -> None:
        self._recorder = CompiledRecorder(attribution, origins)
        self._runner = LoweringRunner(self._recorder, attribution, origins)

    def add(self, source: GraphModule, examples: Sequence[Any], forward: PostGrad, backward: PostGrad | None) -> None:
        """Records the forward; `source` is Dynamo's graph and `examples` what it was captured with."""
        lowered = LoweredGraphs(
            source, forward.graph_module, None, backward.graph_module if backward is not None else None
        )
        if backward is not None:
            self._tie(forward, backward.graph_module)
        self._runner.record(lowered, examples, (), ())

    def finished(self) -> CompiledRecorder:
        """What recorded everything, after the backwards."""
        self._runner.record_backward()
        return self._recorder

    def _tie(self, forward: PostGrad, backward: GraphModule) -> None:
        output = next(node for node in reversed(forward.graph_module.graph.nodes) if node.op == "output")
        saved = dict(zip(forward.results, output.args[0], strict=False))
        for node in backward.graph.nodes:
            before = saved.get(node.name) if node.op == "placeholder" else None
            value = node.meta.get("val")
            made = before.meta.get("val") if isinstance(before, Node) else None
            if isinstance(value, torch.Tensor) and isinstance(made, torch.Tensor) and value is not made:
                self._recorder.tensors.same(value, made)
