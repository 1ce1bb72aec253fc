"""Ratios, thresholds and the sentence that says why: what passes, what is suspicious and what is wrong."""

from __future__ import annotations

import math

import pytest
import torch
from inductor_debug import KernelDiffHarness
from inductor_debug.kerneldiff.execution.structure import Pair
from inductor_debug.kerneldiff.judging.anchoring import Error, anchor, error_from, rounding_error
from inductor_debug.kerneldiff.judging.diff_report import TensorResult, Verdict
from inductor_debug.kerneldiff.judging.output_judging import Anchors, judge_pairs
from inductor_debug.kerneldiff.judging.verdict import SUSPICIOUS, WRONG, overall, verdict_of
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig
from torch import nn

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        (0.0, Verdict.PASS),
        (SUSPICIOUS, Verdict.PASS),
        (SUSPICIOUS + 0.1, Verdict.SUSPICIOUS),
        (WRONG + 0.1, Verdict.WRONG),
        (math.inf, Verdict.WRONG),
        (math.nan, Verdict.WRONG),
    ],
)
def test_what_a_ratio_means(ratio: float, verdict: Verdict) -> None:
    assert verdict_of(ratio) is verdict


def result(name: str, ratio: float | None, verdict: Verdict | None = None) -> TensorResult:
    return TensorResult(name, verdict or verdict_of(ratio or 0.0), "because", ratio=ratio)


def test_the_sentence_names_the_worst_result_and_outputs_before_gradients() -> None:
    both = [result("output[0]", 20.0), result("grad of weight", 500.0), result("output[1]", 1.0)]
    verdict, why = overall(both, "eager in float32", True)
    assert verdict is Verdict.WRONG
    assert why == "output[0]: because (2 of 3 results are wrong)."


def test_another_shape_says_more_than_any_number() -> None:
    found = [result("output[0]", 1e6), result("output[1]", None, Verdict.WRONG)]
    assert overall(found, "eager in float32", True)[1].startswith("output[1]")


def test_noise_of_the_model_itself_is_never_wrong_but_nan_is() -> None:
    assert overall([result("output", 1e4)], "eager", False)[0] is Verdict.SUSPICIOUS
    assert overall([result("output", math.inf)], "eager", False)[0] is Verdict.WRONG


def test_a_pass_says_what_it_was_measured_with() -> None:
    verdict, why = overall([result("output", 1.25)], "eager in float32", True)
    assert verdict is Verdict.PASS
    assert why == "output is as exact as eager in float32 (at most 1.2 times the error to expect)."
    assert overall([], "eager", True)[0] is Verdict.PASS


def test_the_expected_error_of_one_rounding_is_measured_right() -> None:
    exact = torch.randn(100_000, dtype=torch.float64)
    expected = rounding_error(exact, torch.finfo(torch.bfloat16).eps)
    actual = error_from(exact, exact.bfloat16())
    assert 0.5 < actual.rms / expected.rms < 2
    assert actual.largest <= expected.largest


def test_new_infinities_are_wrong_and_those_of_the_precision_are_not() -> None:
    exact = torch.tensor([1.0, 1e30, 3.0], dtype=torch.float64)
    overflowed = torch.tensor([1.0, math.inf, 3.0])
    expected = Error(1e-7, 1e-7)
    assert anchor(exact, expected, overflowed, overflowed).ratio < 2
    assert anchor(exact, expected, overflowed, exact.float()).ratio == math.inf


def test_tolerances_are_a_view_and_decide_nothing() -> None:
    x = torch.randn(64)
    pair = Pair("output", x, x * (1 + 1e-4))
    anchors = Anchors(exact={"output": x.double()})
    for config, passed in ((ComparisonConfig(atol=1.0), True), (ComparisonConfig(), False)):
        found = judge_pairs([pair], anchors, config)[0]
        assert found.comparison is not None
        assert found.comparison.passed is passed
        assert found.verdict is Verdict.WRONG


def test_an_ill_conditioned_model_passes_where_a_tolerance_would_not() -> None:
    class Cancels(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x + 1000.0).softmax(-1).log() * 1e3 + x.sum(-1, keepdim=True) * 1e4 - x.flip(-1).sum(-1, True) * 1e4

    report = KernelDiffHarness(Cancels(), (torch.randn(8, 300),), test_backend="aot_eager_decomp_partition").compare()
    assert report.verdict is Verdict.PASS, report.summary()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_every_precision_is_judged_by_its_own_error(dtype: torch.dtype) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(64, 64)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.tanh(self.linear(x)).sum(-1)

    model, x = Model().to(dtype), torch.randn(8, 64, dtype=dtype)
    report = KernelDiffHarness(model, (x,), test_backend="aot_eager_decomp_partition").compare()
    assert report.verdict is Verdict.PASS, report.summary()
