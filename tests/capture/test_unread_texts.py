"""Texts of graphs that nobody reads are not written while a graph is traced, and are there for whoever asks."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.capture.runtime.trace_log import structured_trace
from inductor_debug.capture.stages.aot_lowering import LoweredGraphs, lower
from torch.fx import GraphModule, graph_module

pytestmark = pytest.mark.torch


def lowered() -> LoweredGraphs:
    """The forward and backward graph of a linear layer between two functions."""
    made: list[LoweredGraphs] = []

    def backend(graph: GraphModule, _: list[torch.Tensor]) -> Any:
        made.append(lower(graph))
        return graph.forward

    torch._dynamo.reset()
    torch.compile(lambda x, weight: torch.relu(x.sin() @ weight), backend=backend)(
        torch.ones(2, 3), torch.ones(3, 3, requires_grad=True)
    )
    return made[0]


def test_no_graph_is_written_as_python_until_somebody_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    compiled = graph_module._forward_from_src

    def noted(text: str, *given: Any) -> Any:
        written.append(text)
        return compiled(text, *given)

    lowered()  # what torch traces once in a process
    monkeypatch.setattr(graph_module, "_forward_from_src", noted)
    before = len(written)
    graphs = lowered()
    assert graphs.forward is not None
    assert graphs.backward is not None
    assert [text for text in written[before:] if "aten" in text] == []
    assert "aten.sin" in graphs.forward.code
    assert [text for text in written[before:] if "aten" in text] == [graphs.forward.code]
    result, *_ = graphs.forward(*(torch.ones(node.meta["val"].shape) for node in placeholders(graphs.forward)))
    assert torch.equal(result, torch.relu(torch.ones(2, 3).sin() @ torch.ones(3, 3)))


def placeholders(graph: GraphModule) -> list[Any]:
    return [node for node in graph.graph.nodes if node.op == "placeholder"]


def test_graphs_are_printed_for_a_log_that_is_kept_and_for_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[GraphModule] = []
    original = GraphModule.print_readable

    def noted(self: GraphModule, *given: Any, **named: Any) -> str:
        printed.append(self)
        return original(self, *given, **named)

    monkeypatch.setattr(GraphModule, "print_readable", noted)
    unread = lowered()
    assert not {id(unread.joint), id(unread.backward)} & {*map(id, printed)}  # Dynamo prints its own
    with structured_trace() as log:
        read = lowered()
    assert log.problem or {id(read.joint), id(read.backward)} <= {*map(id, printed)}
    assert log.problem or ("aot_joint_graph" in log.text and "aten.sin" in log.text)
