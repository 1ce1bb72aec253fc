"""Losses and other modules whose inputs belong together are called: by rank, by size, one by one in a list."""

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
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional

pytestmark = pytest.mark.torch


class KeypointLoss(nn.Module):
    """Looks predictions up at places of a map; a mask says which of the true values count."""

    def forward(self, heat: Any, mask: Any, ind: Any, target: Any) -> Any:
        flat = heat.permute(0, 2, 3, 1).reshape(heat.size(0), -1, 1)
        found = flat.gather(1, ind.unsqueeze(2).expand(ind.size(0), ind.size(1), 1))
        counted = mask.unsqueeze(2).expand_as(target).float()
        return functional.smooth_l1_loss(found * counted, target * counted)


class ShrinkingLoss(nn.Module):
    """Compares an image with one that is smaller by a factor."""

    def __init__(self, factor: int = 4) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: Any, y: Any) -> Any:
        assert x.shape[2] == y.shape[2] * self.factor
        assert x.shape[3] // self.factor == y.shape[3]
        return functional.l1_loss(functional.avg_pool2d(x, self.factor), y)


class Features(nn.Module):
    """Layers of which some are looked at, behind a method that normalises images."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3))
        self.register_buffer("mean", torch.tensor([[[0.5]], [[0.4]], [[0.3]]]))

    def normalised(self, x: Any) -> Any:
        return x.sub(self.mean.detach())

    def forward(self, x: Any, wanted: list[str]) -> dict[str, Any]:
        x = self.normalised(x)
        found = {}
        for name, layer in self.net._modules.items():
            x = layer(x)
            if name in wanted:
                found[name] = x
        return found


class FeatureLoss(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = Features()

    def forward(self, x: Any, y: Any) -> Any:
        first, *_ = self.features(x, ["3"]).values()
        second, *_ = self.features(y, ["3"]).values()
        return torch.norm(first - second)


class Pyramid(nn.Module):
    """Takes an image in several sizes, each half of the one before, which are joined on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 1)
        self.blocks = nn.ModuleList(nn.Conv2d(8 + 3, 8, 3, padding=1) for _ in range(3))

    def forward(self, images: list[Any]) -> Any:
        y = functional.avg_pool2d(self.first(images[0]), 2)
        for image, block in zip(images[1:], self.blocks, strict=True):
            y = functional.avg_pool2d(block(torch.cat((image, y), dim=1)), 2)
        return y


class Dice(nn.Module):
    def forward(self, pred: Any, gt: Any, mask: Any) -> Any:
        assert pred.shape == gt.shape
        assert pred.shape == mask.shape
        return (pred * gt * mask).sum()


class MapLoss(nn.Module):
    """Asserts of parts of what it is given that they are alike."""

    def __init__(self) -> None:
        super().__init__()
        self.dice = Dice()

    def forward(self, pred: Any, batch: dict[str, Any]) -> Any:
        return self.dice(pred[:, 2, :, :], batch["shrink_map"], batch["shrink_mask"])


class Windowed(nn.Module):
    """Takes windows out of the images of a pair that have to be wide enough, and all that is left at once."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3, stride=8), nn.AvgPool2d(10))
        self.weights = nn.Parameter(torch.zeros(5, 8))

    def forward(self, pair: Any) -> Any:
        one, other = pair
        return functional.linear(self.layers(one).flatten(1), self.weights) + self.layers(other).mean()


def heads_of(tensor: Any) -> Any:
    """Stands for a library that takes tensors apart by patterns, and says what a pattern asks for in words alone."""
    if tensor.dim() != 3:
        raise RuntimeError(f"Wrong shape: expected 3 dims. Received {tensor.dim()}-dim tensor.")
    return tensor.unflatten(2, (4, -1)).transpose(1, 2)


class Reading(nn.Module):
    """Attends to a context of which only a pattern says how many dimensions it has."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(24, 16), nn.Linear(40, 16)

    def forward(self, x: Any, retrieved: Any) -> Any:
        q, k = map(heads_of, (self.query(x), self.key(retrieved)))
        return q @ k.transpose(-1, -2)


class PriorLoss(nn.Module):
    """Takes three tensors in one tuple, of which the name of one says what it is."""

    def forward(self, predictions: Any) -> Any:
        locations, scores, priors = predictions
        wide = priors[:, 2:].unsqueeze(0).expand(locations.size(0), priors.size(0), 2)
        return locations.mean() + scores.mean() + wide.mean()


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (KeypointLoss, "heat f32[2, 8, 64, 96], mask b8[2, 32], ind i64[2, 32], target i64[2, 32, 5]"),
        (ShrinkingLoss, "x f32[2, 8, 256, 96], y f32[2, 8, 64, 24]"),
        (FeatureLoss, "x f32[2, 3, 64, 96], y f32[2, 3, 64, 96]"),
        (Pyramid, "images [f32[2, 3, 64, 96], f32[2, 3, 32, 48], f32[2, 3, 16, 24], f32[2, 3, 8, 12]]"),
        (MapLoss, "pred f32[2, 24, 32, 32], batch {shrink_map: f32[2, 32, 32], shrink_mask: b8[2, 32, 32]}"),
        (Reading, "x f32[2, 16, 24], retrieved f32[2, 16, 40]"),
        (Windowed, "pair (f32[2, 3, 112, 112], f32[2, 3, 112, 112])"),
    ],
)
def test_inputs_that_belong_together_are_found(kind: type[nn.Module], call: str) -> None:
    with FakeTensorMode():
        trials = Trials(kind)
        plan = plan_for(trials.subject)
        found = search(trials, lambda: plan, [plan.first()], set(), lambda _: False, seconds=60, runs=100)
    assert isinstance(found, Found), found
    assert signature_of(found.guess, {}) == call


def test_an_element_is_what_the_name_says_that_it_is_unpacked_into() -> None:
    assert signature_of(plan_for(PriorLoss()).first(), {}) == "predictions (f32[2, 32], f32[2, 32], f32[40, 4])"
