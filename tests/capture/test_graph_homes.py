"""Modules of nodes that tracing gave none: a layer's share of the backward is whole, so that equal layers fold."""

from __future__ import annotations

from textwrap import dedent

import pytest
from forked import analyze
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug_schema import ArtifactMade, Graph, GraphKind, NodeRole, Stage

pytestmark = pytest.mark.torch

RESIDUAL = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.mix, self.up = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        x = x + self.mix(self.norm_1(x))
        return x + torch.relu(self.up(self.norm_2(x)))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[Block() for _ in range(3)])

    def forward(self, x):
        return self.blocks(x * torch.arange(8)).sum()

def get_inputs():
    return [torch.randn(2, 8, requires_grad=True)]
"""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[GraphKind, Graph]:
    folder = tmp_path_factory.mktemp("residual")
    job = analyze(folder / "model.py", dedent(RESIDUAL), stages=(Stage.AOT,), keep_graphs=True)
    content = next(
        event.content for event in job.events if isinstance(event, ArtifactMade) and event.suffix == ".graph"
    )
    return {graph.kind: graph for graph in decode(content).graphs}


def structure(graph: Graph, block: str) -> list[tuple[str, str]]:
    """What a block is made of, without its own name."""
    return [
        (row.op, row.module.removeprefix(block))
        for row in graph.nodes
        if row.role is NodeRole.OP and (row.module + ".").startswith(block + ".")
    ]


@pytest.mark.parametrize("kind", [GraphKind.FORWARD, GraphKind.BACKWARD])
def test_every_block_has_the_same_operations(graphs: dict[GraphKind, Graph], kind: GraphKind) -> None:
    blocks = [structure(graphs[kind], f"blocks.{number}") for number in range(3)]
    assert blocks[0] == blocks[1] == blocks[2]
    assert ("aten.add.Tensor", "") in blocks[0]


def test_sums_of_gradients_stand_in_the_block_that_uses_the_value_twice(graphs: dict[GraphKind, Graph]) -> None:
    adds = [row for row in graphs[GraphKind.BACKWARD].nodes if row.op == "aten.add.Tensor"]
    assert [row.module for row in adds] == [f"blocks.{number}" for number in (2, 2, 1, 1, 0, 0)]
    assert all(row.seq_nr is None and row.forward and row.place for row in adds)


def test_operations_of_the_root_stay_there(graphs: dict[GraphKind, Graph]) -> None:
    for kind in (GraphKind.FX, GraphKind.JOINT, GraphKind.FORWARD):
        rows = [row for row in graphs[kind].nodes if "arange" in row.op]
        assert [row.module for row in rows] == [""]


@pytest.mark.parametrize(
    ("inputs", "users", "home"),
    [
        (["a.0.q", "a.0.k"], ["a.1.v"], "a.0"),
        (["a.1", "a.0.norm"], ["a.0.mix"], "a.0"),
        (["head", "a.7.norm"], [], None),
        (["a.1.norm", "a.0.norm"], ["a.1.mix", "a.0.mix"], None),
        (["a.0.fc"], ["a.0.fc"], "a.0.fc"),
        ([], ["a.0.fc", "a.0.up"], "a.0"),
        ([], [], None),
    ],
)
def test_neighbours_decide_where_they_agree(inputs: list[str], users: list[str], home: str | None) -> None:
    import torch
    from inductor_debug.capture.graphs.graph_homes import homes_of
    from inductor_debug.capture.running.modules import NodeModules

    graph = torch.fx.Graph()
    operand = graph.placeholder("x")

    def called(path: str, *arguments: torch.fx.Node) -> torch.fx.Node:
        node = graph.call_function(torch.relu, arguments or (operand,))
        node.meta["nn_module_stack"] = {"1": (f"L['self'].{path}", object)}
        return node

    node = graph.call_function(torch.add, tuple(called(path) for path in inputs))
    for path in users:
        called(path, node)
    assert homes_of(graph, NodeModules(None))[node] == (home or "")
