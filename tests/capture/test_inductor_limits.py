"""The inductor stage on targets that bend its rules: it tells what it can, and never what is not so."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze, excerpt
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug_schema import (
    ArtifactMade,
    GraphDocument,
    GraphKind,
    NodeRole,
    Stage,
    StageFinished,
    StageReport,
    StageState,
)
from torch_release import QUANTISED_ON_FAKE

pytestmark = pytest.mark.torch

HEAD = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

"""


def run(folder: Path, text: str) -> Job:
    return analyze(folder / "model.py", HEAD + dedent(text), stages=(Stage.INDUCTOR,), keep_graphs=True)


def report(job: Job) -> StageReport:
    last = job.stages[-1]
    assert isinstance(last, StageFinished)
    return last.report


def document_of(job: Job) -> GraphDocument:
    return decode(
        next(event.content for event in job.events if isinstance(event, ArtifactMade) and event.suffix == ".graph")
    )


CASES = {
    "a graph break": (
        """
        # inductor-debug: inputs=(torch.randn(4, 16),)
        def f(x):
            x = x.relu()
            torch._dynamo.graph_break()
            return x.tanh()
        """,
        ["0", "0.forward", "0.forward.post_grad", "0.forward.ir", "1", "1.forward", "1.forward.post_grad"],
        2,
    ),
    "symbolic sizes in training": (
        """
        # inductor-debug: inputs=(torch.randn(4, 16),), dynamic, train
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(16, 16)

            def forward(self, x):
                return self.a(x).relu().reshape(-1).sum() * x.shape[0]
        """,
        ["0.forward.ir", "0.backward.ir"],
        2,
    ),
    "a higher-order op": (
        """
        # inductor-debug: inputs=(torch.randn(4, 16),)
        def f(x):
            return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))
        """,
        ["0.forward.ir"],
        1,
    ),
    "recomputed activations": (
        """
        # inductor-debug: inputs=(torch.randn(4, 16, requires_grad=True),)
        def f(x):
            return checkpoint(lambda y: y.sin().exp(), x, use_reentrant=False)
        """,
        ["0.backward.ir"],
        2,
    ),
    "a custom op": (
        """
        @torch.library.custom_op("limits::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @twice.register_fake
        def _(x):
            return torch.empty_like(x)

        # inductor-debug: inputs=(torch.randn(4, 16),)
        def f(x):
            return twice(x.sin()).cos()
        """,
        ["0.forward.ir"],
        3,
    ),
    "an input that is written to": (
        """
        # inductor-debug: inputs=(torch.randn(4, 16),)
        def f(x):
            x.add_(1)
            return x.sin()
        """,
        ["0.forward.ir"],
        1,
    ),
    "complex numbers": (
        """
        # inductor-debug: inputs=(torch.randn(4, 16, dtype=torch.complex64),)
        def f(x):
            return (x * x.conj()).abs() + torch.fft.fft(x).real
        """,
        ["0.forward.ir"],
        1,
    ),
    "tied weights and a convolution": (
        """
        # inductor-debug: inputs=(torch.zeros(2, dtype=torch.long), torch.randn(2, 3, 8, 8)), train
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(10, 8)
                self.head = nn.Linear(8, 10, bias=False)
                self.head.weight = self.embedding.weight
                self.convolution = nn.Conv2d(3, 8, 3)

            def forward(self, tokens, image):
                return self.head(self.embedding(tokens)), self.convolution(image)
        """,
        ["0.backward.ir"],
        3,
    ),
    "a quantised input": (
        """
        # inductor-debug: inputs=(torch.quantize_per_tensor(torch.randn(4, 4), 0.1, 0, torch.quint8),)
        def f(x):
            return x.dequantize().sin()
        """,
        ["0.forward.ir"],
        2,
    ),
}


@pytest.mark.parametrize(("text", "graphs", "kernels"), CASES.values(), ids=CASES.keys())
def test_it_lowers(tmp_path: Path, text: str, graphs: list[str], kernels: int) -> None:
    if "quantize" in text and not QUANTISED_ON_FAKE:
        pytest.skip("fake tensors of torch 2.11 know no quantised ones")
    job = run(tmp_path, text)
    assert report(job).state is StageState.DONE, report(job).notes
    document = document_of(job)
    assert set(graphs) <= {graph.name for graph in document.graphs}
    assert len(document.kernels) >= kernels


def test_recomputed_nodes_come_from_the_body_that_computed_them_first(tmp_path: Path) -> None:
    document = document_of(run(tmp_path, CASES["recomputed activations"][0]))
    backward = next(graph for graph in document.graphs if graph.name == "0.backward")
    origins = {name for node in backward.nodes if node.role is NodeRole.OP for name in node.origins}
    body = {node.name for node in document.graphs[0].nodes if node.name.startswith("tag_activation_checkpoint.")}
    assert origins
    assert origins <= body


def test_nodes_that_no_expression_made_belong_to_one_all_the_same(tmp_path: Path) -> None:
    """Statistics that are written back, sums of gradients, seeds of random numbers."""
    job = run(
        tmp_path,
        """
        # inductor-debug: inputs=(torch.randn(4, 8, 6),), train
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(8)
                self.drop = nn.Dropout(0.1)
                self.fc = nn.Linear(6, 6)

            def forward(self, x):
                x = self.fc(self.norm(x))
                return self.drop(x).softmax(-1) + x
        """,
    )
    document = document_of(job)
    for graph in document.graphs[1:]:
        assert [node.name for node in graph.nodes if node.role is NodeRole.OP and node.place is None] == []
        assert [node.name for node in graph.nodes if node.role is NodeRole.OP and not node.origins] == []
    written = next(node for graph in document.graphs for node in graph.nodes if node.op == "aten.copy_.default")
    assert written.place is not None
    assert excerpt(job.text, written.place) == "self.norm(x)"


def test_a_forward_alone_is_said(tmp_path: Path) -> None:
    job = run(tmp_path, "# inductor-debug: inputs=(torch.randn(4),)\ndef f(x):\n    return x.sin()\n")
    assert report(job).notes == ["Nothing in f is differentiated, so there is no backward."]
    assert GraphKind.BACKWARD not in {graph.kind for graph in document_of(job).graphs}


def test_a_model_in_eval_mode_is_lowered_for_inference(tmp_path: Path) -> None:
    text = "# inductor-debug: inputs=(torch.randn(4, 8),), init=(8, 8), eval\nclass Model(nn.Linear):\n    pass\n"
    job = run(tmp_path, text)
    assert "in eval mode" in report(job).notes[0]
    assert GraphKind.BACKWARD not in {graph.kind for graph in document_of(job).graphs}


def test_an_op_without_a_backward_is_told_at_its_expression(tmp_path: Path) -> None:
    job = run(
        tmp_path,
        """
        @torch.library.custom_op("mine::without_backward", mutates_args=())
        def operation(x: torch.Tensor) -> torch.Tensor:
            return x.sin()

        @operation.register_fake
        def _(x):
            return torch.empty_like(x)

        # inductor-debug: inputs=(torch.randn(4, requires_grad=True),)
        def step(x):
            return operation(x) * x
        """,
    )
    (refused,) = job.findings
    assert "cannot compile `mine.without_backward.default`" in refused.message
    assert job.marked(refused) == "operation(x)"


def test_a_target_without_operations_has_no_graph(tmp_path: Path) -> None:
    job = run(tmp_path, "# inductor-debug: inputs=(torch.randn(4),)\ndef f(x):\n    return x\n")
    assert report(job).state is StageState.DONE
    assert document_of(job).graphs == []


def test_a_view_alone_needs_no_kernel(tmp_path: Path) -> None:
    job = run(tmp_path, "# inductor-debug: inputs=(torch.randn(4, 2),)\ndef f(x):\n    return x.view(-1)\n")
    assert report(job).state is StageState.DONE
    assert document_of(job).kernels == []


def test_values_are_looked_at_with_real_tensors(tmp_path: Path) -> None:
    job = run(
        tmp_path,
        """
        # inductor-debug: inputs=(torch.ones(4),)
        def f(x):
            count = int(x.sum().item())
            return x.sin() * count
        """,
    )
    assert report(job).state is StageState.DONE, report(job).notes
    assert "1.forward.ir" in {graph.name for graph in document_of(job).graphs}
    assert [job.marked(finding) for finding in job.of("graph-break")] == ["x.sum().item()"]


BROKEN = """
from torch._inductor.lowering import register_lowering

@torch.library.custom_op("limits::odd", mutates_args=())
def odd(x: torch.Tensor) -> torch.Tensor:
    return x * 3

@odd.register_fake
def _(x):
    return torch.empty_like(x)

@register_lowering(torch.ops.limits.odd.default)
def lower_odd(x):
    raise NotImplementedError("odd has no loops yet")

# inductor-debug: inputs=(torch.randn(4, 16),)
def f(x):
    y = x.sin()
    return odd(y).cos()
"""


def test_an_op_that_cannot_be_lowered_is_told_at_its_expression(tmp_path: Path) -> None:
    job = run(tmp_path, BROKEN)
    assert report(job).state is StageState.FAILED
    [finding] = job.of("capture-error")
    assert job.marked(finding) == "odd(y)"
    assert finding.message == (
        "TorchInductor cannot compile `limits.odd.default`: NotImplementedError: odd has no loops yet"
    )
    assert [graph.name for graph in document_of(job).graphs] == ["0", "0.forward", "0.forward.post_grad"]


def test_what_torch_cannot_capture_is_told_as_ever(tmp_path: Path) -> None:
    job = run(tmp_path, "# inductor-debug: inputs=(torch.randn(4, 16),)\ndef f(x):\n    return x @ torch.ones(3, 3)\n")
    assert report(job).state is StageState.FAILED
    [finding] = job.of("capture-error")
    assert job.marked(finding) == "x @ torch.ones(3, 3)"
