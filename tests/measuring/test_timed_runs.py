"""What a step needs beside what is there: also where the steps before it have left memory behind."""

from __future__ import annotations

import sys

import pytest
import torch
from inductor_debug.measuring.timed_runs import added_bytes
from torch import nn

pytestmark = pytest.mark.torch

MEBIBYTE = 1 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="the largest resident size is read from /proc")
def test_a_step_that_was_made_before_adds_as_much_memory_as_at_first() -> None:
    layers = (nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(4))
    model, x = nn.Sequential(*layers), torch.randn(4096, 256)

    def step() -> torch.Tensor:
        with torch.no_grad():
            result: torch.Tensor = model(x)
        return result

    for _ in range(3):
        step()
    added = added_bytes(step, torch.device("cpu"))
    assert added is not None
    assert 2 * 4096 * 1024 * 4 < added < 256 * MEBIBYTE  # what GELU takes and gives is there at once
