"""Opaque backends: the expression at fault is found by cutting graphs, whatever the fault needs to show itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import needed
import pytest
import torch
from inductor_debug import KernelDiffHarness
from inductor_debug.kerneldiff.judging.diff_report import DiffReport, Verdict
from inductor_debug_schema import to_wire
from torch import nn

pytestmark = pytest.mark.torch


def rewriting(*changes: tuple[str, Callable[..., Any]], only_with: str = "") -> Callable[..., Any]:
    """A backend that computes some functions wrongly, perhaps only in graphs that have another one, too."""

    def backend(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        nodes = [node for node in graph_module.graph.nodes if node.op.startswith("call_")]
        names = {getattr(node.target, "__name__", str(node.target)): node for node in nodes}
        for name, change in changes:
            if name in names and (not only_with or only_with in names):
                names[name].op, names[name].target = "call_function", change
        graph_module.recompile()
        return graph_module.forward

    return backend


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 16)
        self.second = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(x))
        y = y.reshape(y.size(0), -1)
        left, right = y.chunk(2, -1)
        y = torch.cat([left.sin(), right.exp()], -1)
        y = torch.tanh(self.second(y))
        return torch.softmax(y, -1)


def compared(model: Any, backend: Any, **settings: Any) -> DiffReport:
    torch.manual_seed(2)
    return KernelDiffHarness(model, (torch.randn(4, 16),), test_backend=backend, **settings).compare()


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("tanh", lambda x: torch.tanh(x) * 1.001, "torch.tanh(self.second(y))"),
        ("exp", lambda x: torch.exp(x) + 0.01, "right.exp()"),
        ("softmax", lambda x, *args, **kwargs: torch.softmax(x, -1).bfloat16().float(), "torch.softmax(y, -1)"),
        ("relu", lambda x: torch.where(x > 1, 1, torch.relu(x)), "torch.relu(self.first(x))"),
    ],
)
def test_one_wrong_operation_is_found(name: str, change: Callable[..., Any], text: str) -> None:
    report = compared(Model().eval(), rewriting((name, change)))
    assert report.verdict is Verdict.WRONG
    assert len(report.blame) == 1
    assert excerpt(report) == text


def excerpt(report: DiffReport) -> str:
    place = report.blame[0].place
    assert place is not None
    with open(place.path, encoding="utf-8") as stream:
        line = stream.read().splitlines()[place.range.start.line]
    return line[place.range.start.character : place.range.end.character]


def test_the_pieces_that_were_compared_are_told_with_their_errors() -> None:
    report = compared(Model().eval(), rewriting(("tanh", lambda x: torch.tanh(x) * 1.001)))
    whole, *others = report.segments
    assert (whole.start, whole.end, whole.wrong) == (0, len(whole.ops), True)
    guilty = [segment for segment in others if segment.end - segment.start == 1 and segment.wrong]
    assert [segment.ops for segment in guilty] == [("torch.tanh",)] or guilty[0].ops[0].endswith("tanh")
    assert guilty[0].error is not None
    assert guilty[0].error.relative == pytest.approx(1e-3, rel=1e-3)
    right = [segment for segment in others if not segment.wrong]
    assert right
    assert all(segment.error is not None and segment.error.relative < 1e-6 for segment in right)
    document = to_wire(whole.on_wire())
    lines = document["range"]["start"]["line"], document["range"]["end"]["line"]
    assert lines[0] < guilty[0].place.range.start.line <= lines[1] if guilty[0].place else False
    assert document["ops"] == list(whole.ops) if len(whole.ops) <= 12 else "…" in document["ops"]


def test_a_piece_that_cannot_be_compiled_alone_says_why() -> None:
    def picky(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        names = [getattr(node.target, "__name__", str(node.target)) for node in graph_module.graph.nodes]
        if "tanh" in names and "relu" not in names:
            raise RuntimeError("tanh wants relu")
        return rewriting(("tanh", torch.sin))(graph_module, example_inputs)

    report = compared(Model().eval(), picky)
    broken = [segment for segment in report.segments if segment.error is None]
    assert broken
    assert all("tanh wants relu" in segment.why and not segment.wrong for segment in broken)
    assert broken[0].on_wire().isolated is None


def test_what_is_wrong_only_together_is_narrowed_down_to_the_operations_that_it_takes() -> None:
    fused = rewriting(("sin", lambda x: torch.sin(x) + 0.01), only_with="tanh")
    report = compared(Model().eval(), fused)
    blame = report.blame[0]
    assert "only when compiled together" in blame.why
    assert "sin" in blame.why
    assert "tanh" in blame.why
    assert len(blame.nodes) < 8


class Updating(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        view = x[:2]
        x.add_(1)
        view.mul_(2)
        return torch.cos(x) + view.sum()


def test_graphs_that_write_to_their_inputs_are_cut_all_the_same() -> None:
    report = compared(Updating(), rewriting(("cos", torch.sin)))
    assert excerpt(report) == "torch.cos(x)"


def test_graphs_after_a_graph_break_are_looked_at_too() -> None:
    class Broken(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x.cos()
            torch._dynamo.graph_break()
            return torch.tanh(y)

    report = compared(Broken(), rewriting(("tanh", lambda x: torch.tanh(x) * 1.01)))
    assert [blame.graph for blame in report.blame] == ["1"]


def test_a_backend_that_is_wrong_nowhere_by_itself_is_said_so() -> None:
    calls = []

    def first_time_only(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        calls.append(1)
        return (
            graph_module.forward
            if len(calls) > 1
            else lambda *args: tuple(value + 1 for value in graph_module.forward(*args))
        )

    report = compared(Model().eval(), first_time_only)
    assert report.verdict is Verdict.WRONG
    assert not report.blame
    assert any("by itself" in note for note in report.notes)


def test_the_time_for_looking_is_bounded() -> None:
    report = compared(Model().eval(), rewriting(("tanh", torch.sin)), time_limit=0.0)
    assert report.verdict is Verdict.WRONG
    assert "no time to look closer" in report.blame[0].why


def test_two_wrong_backends_that_torch_brings_for_testing() -> None:
    report = compared(Model().eval(), "relu_accuracy_error_TESTING_ONLY")
    assert report.verdict is Verdict.WRONG
    assert excerpt(report) == "torch.relu(self.first(x))"
    failed = compared(Model().eval(), "relu_compile_error_TESTING_ONLY")
    assert failed.verdict is Verdict.FAILED


def test_inductor_passes() -> None:
    needed.compiler()
    report = compared(Model().train(), "inductor", gradients=True)
    assert report.verdict is Verdict.PASS, report.summary()
    assert report.gradients
