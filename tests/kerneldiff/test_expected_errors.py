"""What a precision may make of a model: other orders of sums are no fault, whatever the numbers that are added up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from inductor_debug import KernelDiffHarness
from inductor_debug.kerneldiff.judging.diff_report import Verdict
from inductor_debug.kerneldiff.judging.perturbation import Perturbation
from inductor_debug.kerneldiff.judging.reordering import Chains, errors_of
from torch import nn

pytestmark = pytest.mark.torch
_aten = torch.ops.aten
SEEDED = torch.Generator().manual_seed(5)
"""The bounds are statistical: they hold for nearly all numbers, not for each."""


def one_after_another(values: torch.Tensor) -> torch.Tensor:
    """The sum over the last dimension with one running total in float32."""
    total = torch.zeros(values.shape[:-1])
    for index in range(values.shape[-1]):
        total = total + values[..., index]
    return total


@pytest.mark.parametrize(
    "values",
    [torch.randn(4, 2000, generator=SEEDED), torch.full((4, 2000), 0.1), torch.rand(4, 2000, generator=SEEDED)],
    ids=["random", "equal", "positive"],
)
def test_the_error_of_a_plain_loop_is_foreseen(values: torch.Tensor) -> None:
    found = errors_of(_aten.sum.dim_IntList, (values, [-1]), {}, Chains(1))[0]
    actual = (one_after_another(values).double() - values.double().sum(-1)).abs()
    foreseen = found.shift.abs() + found.spread
    assert bool((actual <= 3 * foreseen).all())
    assert bool((foreseen <= 10 * actual.max()).all())


@pytest.mark.parametrize(
    ("func", "args", "kwargs"),
    [
        (_aten.sum.default, (torch.randn(3, 40),), {}),
        (_aten.mean.dim, (torch.randn(3, 40), [0, -1]), {"keepdim": True}),
        (_aten.var.correction, (torch.randn(3, 40), [1]), {"correction": 0}),
        (_aten.var_mean.correction, (torch.randn(3, 40), [1]), {"keepdim": True}),
        (_aten.std.correction, (torch.zeros(3, 40),), {}),
        (_aten.linalg_vector_norm.default, (torch.randn(3, 40), 2, [0]), {}),
        (_aten.addmm.default, (torch.randn(5), torch.randn(3, 40), torch.randn(40, 5)), {"alpha": -2}),
        (_aten.sum.default, (torch.randn(0, 4),), {}),
        (_aten.sum.default, (torch.tensor(2.0),), {}),
        (_aten.sum.default, (torch.arange(40),), {}),
        (_aten.sum.default, (torch.full((40,), float("inf")),), {}),
    ],
)
def test_errors_have_the_shape_of_the_results_and_are_finite(func: Any, args: Any, kwargs: Any) -> None:
    results = func(*args, **kwargs)
    found = errors_of(func, args, kwargs, Chains(8))
    for result, errors in zip(results if isinstance(results, tuple) else (results,), found, strict=False):
        assert errors.shift.shape == errors.spread.shape == result.shape
        if bool(result.isfinite().all()):
            assert bool(errors.shift.isfinite().all() and errors.spread.isfinite().all())


def test_a_batch_norm_is_moved_as_the_sums_inside_are() -> None:
    layer, x = nn.BatchNorm2d(3), torch.randn(4, 3, 12, 12, requires_grad=True)
    plain = torch.autograd.grad(layer(x).square().sum(), layer.weight)[0]
    with Perturbation(0.0, 1):
        moved = torch.autograd.grad(layer(x).square().sum(), layer.weight)[0]
    assert not torch.equal(plain, moved)
    torch.testing.assert_close(plain, moved, rtol=1e-4, atol=1e-4)


def summing(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    """A backend with another sum over the last dimension."""

    def backend(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        for node in graph_module.graph.nodes:
            if node.op == "call_method" and node.target == "sum":
                node.op, node.target, node.args = "call_function", change, node.args[:1]
        graph_module.recompile()
        return graph_module.forward

    return backend


class Sums(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * 0.1).sum(-1)


def test_a_backend_that_adds_up_in_a_plain_loop_passes() -> None:
    inputs = (torch.ones(6, 3000),)
    report = KernelDiffHarness(Sums(), inputs, test_backend=summing(one_after_another)).compare()
    assert report.verdict is Verdict.PASS, report.why


def test_a_backend_that_loses_an_element_of_a_sum_does_not() -> None:
    inputs = (torch.randn(6, 3000),)
    report = KernelDiffHarness(Sums(), inputs, test_backend=summing(lambda x: x[..., 1:].sum(-1))).compare()
    assert report.verdict is Verdict.WRONG
    assert [blame.op for blame in report.blame] == ["Tensor.sum"]
