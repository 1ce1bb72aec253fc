"""Captured graphs as tables: what a reader of a graph is told of every node."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import analyze, excerpt
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    NodeRole,
    Stage,
    StageFinished,
)

pytestmark = pytest.mark.torch

MODEL = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 32, bias=False)

    def forward(self, x):
        return torch.relu(self.fc(x))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block())
        self.register_buffer("scale", torch.ones(32))

    def forward(self, x):
        y = self.blocks(x) * self.scale
        return torch.topk(y, 3, dim=-1)[0].flatten(0, 1)

def get_inputs():
    return [torch.randn(2, 8, 64, dtype=torch.float32)]
"""


def artifacts(folder: Path, text: str, *, stage: Stage = Stage.MOCK) -> list[ArtifactMade]:
    job = analyze(folder / "model.py", dedent(text), stages=(stage,), keep_graphs=True)
    return [event for event in job.events if isinstance(event, ArtifactMade)]


def document(folder: Path, text: str = MODEL) -> GraphDocument:
    return decode(next(made.content for made in artifacts(folder, text) if made.suffix == ".graph"))


def node(graph: Graph, op: str) -> GraphNode:
    return next(row for row in graph.nodes if row.op == op)


def shown(row: GraphNode) -> str:
    assert row.place is not None
    return excerpt(dedent(MODEL), row.place)


def test_document_says_what_it_is_of(tmp_path: Path) -> None:
    made = document(tmp_path)
    assert (made.target, made.stage, made.accelerator, made.path) == (
        "Model",
        Stage.MOCK,
        "mock",
        str(tmp_path / "model.py"),
    )
    assert made.digest
    assert made.torch
    assert made.modules == {
        "": "Model",
        "blocks": "Sequential",
        "blocks.0": "Block",
        "blocks.0.fc": "Linear",
    }
    assert [(graph.name, graph.kind, graph.made_from) for graph in made.graphs] == [("0", GraphKind.FX, "")]


def test_parameters_buffers_and_inputs_have_the_users_names_and_places(tmp_path: Path) -> None:
    rows = {row.detail: row for row in document(tmp_path).graphs[0].nodes if row.op == "placeholder"}
    assert {name: row.role for name, row in rows.items()} == {
        "blocks.0.fc.weight": NodeRole.PARAMETER,
        "scale": NodeRole.BUFFER,
        "x": NodeRole.INPUT,
    }
    weight = rows["blocks.0.fc.weight"]
    assert (weight.shape, weight.dtype, weight.bytes, weight.module) == ([32, 64], "float32", 8192, "blocks.0.fc")
    assert shown(weight) == "nn.Linear(64, 32, bias=False)"
    assert shown(rows["scale"]) == 'self.register_buffer("scale", torch.ones(32))'


def test_ops_have_shape_place_module_and_literal_arguments(tmp_path: Path) -> None:
    graph = document(tmp_path).graphs[0]
    linear = node(graph, "torch._C._nn.linear")
    assert (linear.shape, linear.bytes, linear.module) == ([2, 8, 32], 2 * 8 * 32 * 4, "blocks.0.fc")
    assert shown(linear) == "self.fc(x)"
    assert shown(node(graph, "torch.relu")) == "torch.relu(self.fc(x))"
    topk = node(graph, "torch.topk")
    assert (topk.shape, topk.dtype, topk.bytes) == (None, None, 2 * 8 * 3 * (4 + 8))
    assert topk.detail == "3, dim=-1"
    assert node(graph, "Tensor.flatten").detail == "0, 1"
    assert graph.nodes[-1].role is NodeRole.OUTPUT
    assert graph.nodes[-1].inputs == [graph.nodes[-2].name]


def test_every_node_names_earlier_nodes_only(tmp_path: Path) -> None:
    seen: set[str] = set()
    for row in document(tmp_path).graphs[0].nodes:
        assert seen.issuperset(row.inputs)
        seen.add(row.name)


def test_each_graph_between_breaks_is_there(tmp_path: Path) -> None:
    made = document(
        tmp_path,
        """
        import torch

        # inductor-debug: inputs=(torch.randn(4),)
        def step(x):
            y = x + 1
            torch._dynamo.graph_break()
            return y * 2
        """,
    )
    assert [graph.name for graph in made.graphs] == ["0", "1"]
    assert [node(made.graphs[0], "operator.add").detail, node(made.graphs[1], "operator.mul").detail] == ["1", "2"]


def test_a_target_without_operations_has_no_graph_and_a_note_says_so(tmp_path: Path) -> None:
    text = """
    # inductor-debug: inputs=(1,)
    def same(x):
        return x
    """
    made = document(tmp_path, text)
    assert (made.graphs, made.notes) == ([], ["torch.compile captured no graph of same."])


def test_symbolic_sizes_are_named_and_what_is_counted_is_that_of_the_call(tmp_path: Path) -> None:
    made = document(
        tmp_path,
        """
        import torch

        # inductor-debug: inputs=(torch.randn(7, 4),), dynamic=True
        def step(x):
            return x @ x.T * 2
        """,
    )
    row = node(made.graphs[0], "operator.mul")
    assert row.shape is not None
    assert isinstance(row.shape[0], str)
    assert (row.bytes, row.written) == (7 * 7 * 4, 7 * 7 * 4)
    assert node(made.graphs[0], "operator.matmul").flops == 2 * 7 * 4 * 7
    (note,) = made.notes
    assert f"{row.shape[0]} = 7" in note


def test_a_person_can_read_the_text_beside_the_columns(tmp_path: Path) -> None:
    made = [item for item in artifacts(tmp_path, MODEL) if item.kind is ArtifactKind.FX_GRAPHS]
    assert [item.suffix for item in made] == [".graph", ".txt"]
    assert all(item.target == "Model" and item.stage is Stage.MOCK for item in made)
    line = next(line for line in made[1].content.decode().splitlines() if " = torch.relu(" in line)
    assert "float32[2, 8, 32]" in line
    assert "blocks.0" in line
    assert "model.py:11:16" in line


def test_graphs_come_after_the_findings_and_only_when_asked_for(tmp_path: Path) -> None:
    job = analyze(tmp_path / "model.py", dedent(MODEL), stages=(Stage.MOCK,), keep_graphs=True)
    kinds = [type(event) for event in job.events]
    assert kinds.index(ArtifactMade) > kinds.index(StageFinished)
    job = analyze(tmp_path / "model.py", dedent(MODEL), stages=(Stage.MOCK,))
    assert not [event for event in job.events if isinstance(event, ArtifactMade)]


def test_a_node_with_no_metadata_at_all_is_a_row_all_the_same() -> None:
    import torch
    from inductor_debug.capture.expressions.spans import SourceMap
    from inductor_debug.capture.graphs.graph_tables import table_of

    def hostile(x):  # type: ignore[no-untyped-def]
        return torch.sparse.mm(x, x).view(-1)

    graph_module = torch.fx.symbolic_trace(hostile)
    next(iter(graph_module.graph.nodes)).name = "<script>alert(1)</script>"
    table = table_of(graph_module, name="0", kind=GraphKind.FX, sources=SourceMap("/"), module_names=None)
    assert [(row.role, row.shape) for row in table.nodes] == [
        (NodeRole.INPUT, None),
        (NodeRole.OP, None),
        (NodeRole.OP, None),
        (NodeRole.OUTPUT, None),
    ]
