"""Bodies of higher-order ops have rows of their own, folded under the call that they belong to."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import analyze
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug.capture.node_facts.graph_bodies import Bodies
from inductor_debug_schema import ArtifactMade, Graph, GraphDocument, GraphKind, Stage

pytestmark = pytest.mark.torch

HEAD = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.nn.attention.flex_attention import flex_attention
from torch._higher_order_ops import while_loop

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

"""
CASES = {
    "cond": (
        """
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: self.fc(y).relu(), lambda y: y.sin(), (x,)) + 1
        """,
        "cond",
        {"cond_true_0": ["linear", "relu"], "cond_false_0": ["sin"]},
    ),
    "while_loop": (
        """
    def forward(self, x):
        return while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y.cos()), (torch.tensor(0), x))[1]
        """,
        "while_loop",
        {"cond_fn_0": ["lt"], "body_fn_0": ["add", "cos"]},
    ),
    "checkpoint": (
        """
    def forward(self, x):
        return checkpoint(lambda y: self.fc(y).relu(), x, use_reentrant=False).sum()
        """,
        "tag_activation_checkpoint",
        {"wrap_body_0": ["linear", "relu"]},
    ),
    "a body in a body": (
        """
    def forward(self, x):
        def outer(y):
            return torch.cond(y.sum() > 1, lambda z: z.cos(), lambda z: z.sin(), (y,)).exp()
        return torch.cond(x.sum() > 0, outer, lambda y: y.tan(), (x,))
        """,
        "cond",
        {"cond_true_1": ["sum", "gt", "cos", "sin", "cond", "getitem", "exp"], "cond_false_1": ["tan"]},
    ),
}


def document(folder: Path, forward: str, stage: Stage, inputs: str = "torch.randn(4, 8)") -> GraphDocument:
    text = HEAD + dedent(forward).replace("\n", "\n    ") + f"\n\ndef get_inputs():\n    return [{inputs}]\n"
    job = analyze(folder / "model.py", text, stages=(stage,), keep_graphs=True)
    return decode(next(event.content for event in job.events if isinstance(event, ArtifactMade)))


def assert_names_hold(graph: Graph) -> None:
    known: set[str] = set()
    for node in graph.nodes:
        assert set(node.inputs) <= known, node
        assert node.name not in known
        known.add(node.name)


@pytest.mark.parametrize("case", CASES)
def test_a_body_has_rows_before_its_call_and_below_it(tmp_path: Path, case: str) -> None:
    forward, call, bodies = CASES[case]
    (graph,) = document(tmp_path, forward, Stage.MOCK).graphs
    assert_names_hold(graph)
    rows = {node.name: node for node in graph.nodes}
    for body, ops in bodies.items():
        inside = [node for node in graph.nodes if node.name.startswith(f"{call}.{body}.") and node.role.value == "op"]
        said = [node.op.rpartition(".")[2] for node in inside]
        assert said == ops
        assert all(node.module.startswith(f"{call}.{body}") and node.place is not None for node in inside)
        assert inside[-1].name in rows[call].inputs
        assert not any(node.op == "placeholder" for node in inside)


def test_what_nobody_hands_to_a_body_is_a_row_in_it(tmp_path: Path) -> None:
    forward = """
    def forward(self, x):
        return flex_attention(x, x, x, score_mod=lambda score, b, h, i, j: score + (i - j))
    """
    (graph,) = document(tmp_path, forward, Stage.MOCK, "torch.randn(1, 2, 128, 16)").graphs
    assert_names_hold(graph)
    inside = [node for node in graph.nodes if node.module == "flex_attention.score_mod_0"]
    assert [node.op for node in inside] == ["placeholder"] * 5 + ["operator.sub", "operator.add"]


def test_a_backward_body_belongs_to_the_forward_call(tmp_path: Path) -> None:
    made = document(tmp_path, CASES["cond"][0], Stage.AOT)
    graphs = {graph.kind: graph for graph in made.graphs}
    for graph in made.graphs:
        assert_names_hold(graph)
    inside = [node for node in graphs[GraphKind.BACKWARD].nodes if node.name.startswith("cond_1.")]
    assert inside
    assert all("cond" in node.forward for node in inside)
    names = {node.name for node in graphs[GraphKind.FX].nodes}
    body = [node for node in graphs[GraphKind.FORWARD].nodes if node.name.startswith("cond.")]
    assert body
    assert all(set(node.origins) <= names and node.origins[0].startswith("cond.") for node in body)


def test_kernels_of_a_body_compute_its_rows(tmp_path: Path) -> None:
    made = document(tmp_path, CASES["cond"][0], Stage.INDUCTOR)
    rows = {graph.name: {node.name for node in graph.nodes} for graph in made.graphs}
    assert all(set(kernel.nodes) <= rows[kernel.graph] for kernel in made.kernels)
    forward = [name for kernel in made.kernels if kernel.graph.startswith("0.forward") for name in kernel.nodes]
    assert {"cond.true_graph_0.addmm", "cond.true_graph_0.relu", "cond.false_graph_0.sin"} <= set(forward)


def test_names_are_looked_for_where_their_call_is() -> None:
    bodies = Bodies(["mul", "loop", "loop.body.mul", "loop.body.add", "cond", "cond.yes.add"])
    assert set(bodies.rows(["mul", "add"])) == {"mul", "loop.body.add", "cond.yes.add"}
    assert bodies.rows(["loop", "mul", "add"]) == ["loop", "loop.body.mul", "loop.body.add"]
    assert bodies.rows(["gone"]) == ["gone"]
