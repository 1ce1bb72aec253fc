"""A loss of a detector: boxes and scores in one pair, and for each image a table of true boxes with their classes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.capture.inference.guessing.input_candidates import plan_for
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.search.input_search import search
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.specs.rendering import signature_of
from torch import nn

pytestmark = pytest.mark.torch

_WIDE = 1 << 22


class BoxLoss(nn.Module):
    """Looks at values on the way, as those do that match boxes with priors."""

    def __init__(self, num_classes: int = 21) -> None:
        super().__init__()
        self.num_classes = num_classes

    def forward(self, predictions: Any, priors: Any, targets: Any) -> Any:
        """Multibox loss.

        Args:
            predictions: locations and scores
                conf shape: torch.size(batch_size,num_priors,num_classes)
            priors: shape: torch.size(num_priors,4)
            targets: boxes, and their class behind them
        """
        locations, scores = predictions
        count = locations.size(0)
        classes = torch.zeros(count, priors.size(0), dtype=torch.int64)
        for number in range(count):
            truths, labels = targets[number][:, :-1], targets[number][:, -1]
            best = (truths[:, None] - priors[None]).abs().sum(-1).argmin(0)
            classes[number] = labels[best].long()
        boxes = locations[(classes >= 0).unsqueeze(-1).expand_as(locations)].view(-1, 4)
        chosen = scores.view(-1, self.num_classes).gather(1, classes.view(-1, 1))
        return boxes.sum() + chosen.sum()


def test_boxes_scores_and_tables_of_true_boxes_are_told_apart() -> None:
    torch.manual_seed(0)  # as every stage does: which rows its values pick decides how far a call comes
    trials = Trials(BoxLoss)
    plan = plan_for(trials.subject)
    found = search(trials, lambda: plan, [plan.first()], set(), lambda _: False, seconds=60, runs=60)
    assert isinstance(found, Found), found
    assert signature_of(found.guess, {}) == (
        "predictions (f32[2, 48, 4], f32[2, 48, 21]), priors f32[48, 4], targets f32[2, 16, 5]"
    )


class Wide(nn.Module):
    """Keeps on its way more than all calls of a search may take together."""

    def forward(self, x: Any, y: Any) -> Any:
        kept = torch.ones(_WIDE)
        if x.dim() != 2 or y.dim() != 5 or x.shape[-1] != 6:
            raise ValueError(f"not these: {kept[0]}")
        return x.sum() + y.sum()


def test_what_a_call_made_that_failed_is_let_go() -> None:
    trials = Trials(Wide)
    ends = []
    run = trials.run

    def watched(guess: Any, *rest: Any) -> Any:
        outcome = run(guess, *rest)
        ends.append(outcome)
        return outcome

    trials.run = watched  # type: ignore[method-assign]
    plan = plan_for(trials.subject)
    search(trials, lambda: plan, [plan.first()], set(), lambda _: False, seconds=60, runs=40)
    holding = [outcome for outcome in ends if outcome.error is not None and outcome.error.__traceback__ is not None]
    assert len(ends) > 2
    assert len(holding) <= 1
