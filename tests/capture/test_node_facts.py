"""What a graph says of its nodes beyond shapes: the kind of work, its cost, and which of them a finding is about."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import analyze
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug_schema import ArtifactMade, Graph, GraphDocument, GraphKind, OperationKind, Stage

pytestmark = pytest.mark.torch

STACK = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True) for _ in range(3)))
        self.head = nn.Linear(16, 5, bias=False)

    def forward(self, x):
        x = self.blocks(x)
        return self.head(x.double().float()).softmax(-1)

def get_inputs():
    return [torch.randn(2, 4, 16)]
"""


def documents(folder: Path, text: str, *stages: Stage) -> dict[Stage, GraphDocument]:
    job = analyze(folder / "model.py", dedent(text), stages=stages, keep_graphs=True)
    made = [event for event in job.events if isinstance(event, ArtifactMade) and event.suffix == ".graph"]
    found = [decode(one.content) for one in made]
    return {one.stage: one for one in found}


def graph(document: GraphDocument, kind: GraphKind) -> Graph:
    return next(one for one in document.graphs if one.kind is kind)


def test_every_operation_is_called_by_what_it_does_and_counted(tmp_path: Path) -> None:
    [fx] = documents(tmp_path, STACK, Stage.MOCK)[Stage.MOCK].graphs
    kinds = {node.op.rpartition(".")[2]: node.kind for node in fx.nodes}
    assert kinds["linear"] is OperationKind.PRODUCT
    assert kinds["dropout"] is OperationKind.RANDOM
    assert kinds["layer_norm"] is OperationKind.REDUCTION
    assert kinds["relu"] is OperationKind.ELEMENTWISE
    assert kinds["double"] is OperationKind.CONVERSION
    assert kinds["softmax"] is OperationKind.REDUCTION
    assert kinds["placeholder"] is None
    head = next(node for node in fx.nodes if node.shape == [2, 4, 5] and node.kind is OperationKind.PRODUCT)
    assert head.flops == 2 * (2 * 4) * 16 * 5
    assert head.written == head.bytes == 2 * 4 * 5 * 4
    views = [node for node in fx.nodes if node.op.rpartition(".")[2] == "__getitem__" or node.written == 0]
    assert all(node.kind is not OperationKind.PRODUCT for node in views)


def test_the_graph_before_autograd_costs_what_the_one_after_it_does(tmp_path: Path) -> None:
    made = documents(tmp_path, STACK, Stage.AOT)[Stage.AOT]
    total = {
        kind: sum(node.flops or 0 for node in graph(made, kind).nodes) for kind in (GraphKind.FX, GraphKind.FORWARD)
    }
    assert total[GraphKind.FX] == total[GraphKind.FORWARD] > 0
    assert sum(node.flops or 0 for node in graph(made, GraphKind.BACKWARD).nodes) > total[GraphKind.FORWARD]


def test_a_finding_names_the_nodes_that_introduce_it_and_no_others(tmp_path: Path) -> None:
    made = documents(tmp_path, STACK, Stage.MOCK, Stage.AOT)
    [mark] = [mark for mark in made[Stage.MOCK].marks if mark.rule == "dtype"]
    [fx] = made[Stage.MOCK].graphs
    assert [node.op for node in fx.nodes if node.name in mark.nodes] == ["Tensor.double"]
    assert [mark.nodes for mark in made[Stage.AOT].marks if mark.graph == "0.forward"] == [["_to_copy"]]


def test_a_library_model_has_only_the_nodes_at_fault_marked(tmp_path: Path) -> None:
    library = tmp_path / "site-packages" / "library.py"
    library.parent.mkdir()
    library.write_text(
        dedent("""
        import torch
        from torch import nn
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 8)
            def forward(self, x):
                return torch.relu(self.fc(x)) + x.double().sin().float()
        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(Layer() for _ in range(4))
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x.to(torch.float16).float()
        """)
    )
    text = f"""
    import sys
    sys.path.insert(0, "{library.parent}")
    import torch
    from library import Stack
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.stack = Stack()
        def forward(self, x):
            return self.stack(x)

    def get_inputs():
        return [torch.randn(2, 8)]
    """
    made = documents(tmp_path, text, Stage.MOCK)[Stage.MOCK]
    [fx] = made.graphs
    marked = {name for mark in made.marks if mark.rule == "dtype" for name in mark.nodes}
    assert [node.op for node in fx.nodes if node.name in marked] == ["Tensor.double"] * 4


def test_shown_graphs_are_columns_alone(tmp_path: Path) -> None:
    from forked import in_child
    from inductor_debug.accelerators.profile import load_document
    from inductor_debug.capture import session
    from inductor_debug_schema import Event, JobRequest

    path = tmp_path / "model.py"
    request = JobRequest(
        1, str(path), dedent(STACK), str(tmp_path), [Stage.MOCK], load_document("mock"), show_graphs=True
    )
    events: list[Event] = []

    def work() -> list[Event]:
        session.analyze(request, events.append)
        return events

    told, _ = in_child(work)
    assert [(event.suffix, event.stage) for event in told if isinstance(event, ArtifactMade)] == [
        (".graph", Stage.MOCK)
    ]
