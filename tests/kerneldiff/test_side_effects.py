"""What a call leaves behind besides its results: buffers and inputs are compared, and the model is put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from inductor_debug import KernelDiffHarness
from inductor_debug.kerneldiff.judging.diff_report import Verdict
from torch import nn

pytestmark = pytest.mark.torch


class Normalised(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.b = nn.BatchNorm1d(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.b(x)


UPDATED = [f"buffer b.{name} after the call" for name in ("running_mean", "running_var", "num_batches_tracked")]


def test_running_statistics_are_results_and_are_put_back() -> None:
    model = Normalised().train()
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    report = KernelDiffHarness(model, (torch.randn(16, 8),), test_backend="aot_eager", runs=2).compare()
    assert report.verdict is Verdict.PASS, report.summary()
    assert [result.name for result in report.outputs] == ["output", *UPDATED]
    for name, buffer in model.named_buffers():
        assert torch.equal(buffer, before[name]), name


def test_statistics_that_nobody_updates_are_no_results() -> None:
    report = KernelDiffHarness(Normalised().eval(), (torch.randn(16, 8),), test_backend="aot_eager").compare()
    assert [result.name for result in report.outputs] == ["output"]


def forgetting(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    """A backend that gives the right result and leaves buffers and inputs as they are."""

    def run(*args: torch.Tensor) -> Any:
        return graph_module.forward(*(argument.detach().clone() for argument in args))

    return run


def test_a_backend_that_forgets_to_update_statistics_is_wrong() -> None:
    report = KernelDiffHarness(Normalised().train(), (torch.randn(16, 8),), test_backend=forgetting).compare()
    assert report.verdict is Verdict.WRONG
    wrong = {result.name for result in report.outputs if result.verdict is not Verdict.PASS}
    assert wrong == set(UPDATED)


class InPlace(nn.Module):
    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
        cache.add_(x.exp())
        x.relu_()
        return x.sin()


def test_no_gradient_and_a_gradient_of_zeros_are_the_same() -> None:
    inputs = (torch.randn(4), torch.zeros(4))
    report = KernelDiffHarness(InPlace(), inputs, test_backend="aot_eager", gradients=True).compare()
    assert report.verdict is Verdict.PASS, report.summary()


def test_a_wrong_gradient_is_blamed_on_its_operation_beside_ones_that_write() -> None:
    def backend(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        for node in graph_module.graph.nodes:
            if node.op == "call_method" and node.target == "sin":
                node.op, node.target = "call_function", lambda x: torch.sin(x) + (x - x.detach()) * 0.5
        graph_module.recompile()
        return torch._dynamo.lookup_backend("aot_eager")(graph_module, example_inputs)

    inputs = (torch.randn(4), torch.zeros(4))
    report = KernelDiffHarness(InPlace(), inputs, test_backend=backend, gradients=True).compare()
    assert report.verdict is Verdict.WRONG
    assert [blame.node for blame in report.blame] == ["sin"]


def test_a_function_that_computes_nothing_passes() -> None:
    class Nothing(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    report = KernelDiffHarness(Nothing(), (torch.randn(4),), test_backend="aot_eager").compare()
    assert report.verdict is Verdict.PASS
    assert "nothing to compile" in report.notes[0]


def test_what_runs_in_eager_only_is_no_comparison() -> None:
    class Uncaptured(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if torch.compiler.is_compiling():
                raise ValueError
            return x.sin()

    report = KernelDiffHarness(Uncaptured(), (torch.randn(4),), test_backend="aot_eager").compare()
    assert report.verdict is Verdict.FAILED
    assert "captured no graph" in report.why


@pytest.mark.parametrize(
    ("right", "wrong", "verdict"),
    [
        (lambda x: x.log(), lambda x: x.log().nan_to_num(), Verdict.WRONG),
        (lambda x: x.log(), lambda x: x.log() - x.log(), Verdict.WRONG),
        (lambda x: x.exp() * 0, lambda x: (x * 1e38).exp() * 0, Verdict.WRONG),
        (lambda x: x.log(), lambda x: x.log(), Verdict.PASS),
    ],
    ids=["numbers-for-infinity", "nan-for-infinity", "nan-for-numbers", "same"],
)
def test_what_is_no_number_must_be_none_on_both_sides(
    right: Callable[[torch.Tensor], torch.Tensor], wrong: Callable[[torch.Tensor], torch.Tensor], verdict: Verdict
) -> None:
    def backend(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        return lambda *args: (wrong(args[-1]),)

    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return right(x)

    report = KernelDiffHarness(Model(), (torch.tensor([0.0, 1.0, 2.0]),), test_backend=backend, nodes=False).compare()
    assert report.verdict is verdict, report.why
