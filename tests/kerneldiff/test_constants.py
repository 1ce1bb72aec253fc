"""Weights are rounded once for a comparison, and never a stale or a shared one is handed out."""

from __future__ import annotations

import pytest
import torch
from inductor_debug import KernelDiffHarness
from inductor_debug.kerneldiff.emulation.rounded_constants import Constants
from inductor_debug.kerneldiff.judging.diff_report import Verdict
from torch import nn

pytestmark = pytest.mark.torch


def test_a_view_of_a_known_tensor_is_computed_once_until_the_tensor_changes() -> None:
    constants, weight = Constants(), torch.randn(128, 64)
    with constants.of([weight]):
        first = constants.get(weight.t(), torch.neg)
        assert constants.get(weight.t(), torch.neg) is first
        assert constants.get(weight, torch.neg) is not first
        weight.mul_(2)
        assert torch.equal(constants.get(weight.t(), torch.neg), -weight.t())
    assert constants.get(weight.t(), torch.neg) is not constants.get(weight.t(), torch.neg)


def test_what_is_kept_is_bounded() -> None:
    constants, weight = Constants(most_bytes=1000), torch.randn(128, 64)
    with constants.of([weight]):
        assert constants.get(weight, torch.neg) is not constants.get(weight, torch.neg)


def test_an_emulated_accelerator_trains_a_model_in_half_precision() -> None:
    model = nn.Sequential(nn.Linear(64, 128), nn.LogSoftmax(-1)).half()
    inputs = (torch.randn(8, 64, dtype=torch.float16),)
    report = KernelDiffHarness(model, inputs, test_backend="spyre", gradients=True).compare()
    assert report.verdict is Verdict.PASS, report.summary()
