"""A class is blamed only for what no call avoids: a call that we could not run may be the one that does."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.capture.inference.guessing.input_candidates import plan_for
from inductor_debug.capture.inference.judging.contradiction import judged
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.tensors.fake_mode import MemoryBoundError
from torch import nn

pytestmark = pytest.mark.torch


class Broken(nn.Module):
    """Multiplies what never fits."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.first, self.second = nn.Linear(24, 8), nn.Linear(9, 4)

    def forward(self, x: torch.Tensor) -> Any:
        """Ends early where there are more rows than memory is allowed for."""
        if x.numel() > self.most:
            raise MemoryBoundError("real tensors would take more than is allowed")
        return self.second(self.first(x))


@pytest.mark.parametrize(("most", "is_blamed"), [(1 << 40, True), (24 * 2, False)])
def test_a_call_that_could_not_be_run_leaves_the_fault_open(most: int, is_blamed: bool) -> None:
    trials = Trials(lambda: Broken(most))
    plan = plan_for(trials.subject, (), {})
    judgement = judged(trials, plan, trials.run(plan.first()))
    assert judgement.runs is None
    assert (judgement.blamed is not None) is is_blamed


class Square(nn.Module):
    """Takes squares alone, whose side it finds by a root, and has positions for those of one size."""

    def __init__(self) -> None:
        super().__init__()
        self.patches, self.pool = nn.Conv2d(3, 8, 4, 4), nn.Conv2d(8, 8, 2, 2)
        self.first = nn.Parameter(torch.zeros(1, 1, 8))
        self.positions = nn.Parameter(torch.zeros(1, 50, 8))

    def forward(self, image: torch.Tensor) -> Any:
        """As vision transformers do that make tokens of tokens."""
        batch = image.shape[0]
        tokens = self.patches(image).flatten(2)
        side = int(tokens.shape[2] ** 0.5)
        tokens = self.pool(tokens.reshape(batch, 8, side, side)).flatten(2).transpose(1, 2)
        return torch.cat((self.first.expand(batch, -1, -1), tokens), 1) + self.positions


def test_squares_are_changed_as_squares() -> None:
    trials = Trials(Square)
    plan = plan_for(trials.subject, (), {})
    wrong = trials.run(plan.first().with_sizes(H=48, W=48))
    judgement = judged(trials, plan, wrong)
    assert judgement.blamed is None
