"""Inputs whose sizes hang on each other are found: what contradicts itself is mended in what it was computed from."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.capture.inference.guessing.input_candidates import plan_for
from inductor_debug.capture.inference.search.conflict_repairs import by_conflict, mended
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.search.input_search import search
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.specs.rendering import signature_of
from inductor_debug.capture.inference.specs.specs import Guess, SpecArgument, TensorSpec
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

pytestmark = pytest.mark.torch


class Mixing(nn.Module):
    """Hands features on along the edges of a graph."""

    def forward(self, x: Any, matrix: Any) -> Any:
        return torch.einsum("ncvl,vw->ncwl", (x, matrix)).contiguous()


class Diffused(nn.Module):
    """Takes as many square matrices as its layer has room for, each as large as there are nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.mixing = Mixing()
        self.layer = nn.Conv2d(7 * 3, 8, 1)

    def forward(self, x: Any, support: Any) -> Any:
        out = [x]
        for matrix in support:
            once = self.mixing(x, matrix)
            out += [once, self.mixing(once, matrix)]
        return self.layer(torch.cat(out, dim=1))


class Attending(nn.Module):
    """One step of a decoder: a state of its own, outputs and features of an encoder, and a mask, of tied sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.cell = nn.Embedding(50, 40), nn.LSTM(40, 64, batch_first=True)
        self.state, self.score = nn.Linear(64, 96), nn.Linear(96, 1)

    def forward(self, word: Any, last: Any, outputs: Any, features: Any, padding: Any) -> Any:
        decoded, last = self.cell(self.table(word).unsqueeze(1), last)
        batch, length, width = list(outputs.size())
        state = self.state(decoded.squeeze(1)).unsqueeze(1).expand(batch, length, width).contiguous()
        scores = self.score(torch.tanh(features + state.view(-1, width))).view(-1, length)
        weights = torch.softmax(scores, dim=1) * padding
        return torch.bmm(weights.unsqueeze(1), outputs), last


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (Diffused, "x f32[2, 3, 32, 32], support [f32[32, 32], f32[32, 32], f32[32, 32]]"),
        (
            Attending,
            "word i64[2], last (f32[1, 2, 64], f32[1, 2, 64]), outputs f32[2, 1, 96], features f32[2, 1], "
            "padding f32[2, 1]",
        ),
    ],
)
def test_sizes_that_hang_on_each_other_are_found(kind: type[nn.Module], call: str) -> None:
    with FakeTensorMode():
        trials = Trials(kind)
        plan = plan_for(trials.subject)
        found = search(trials, lambda: plan, [plan.first()], set(), lambda _: False, seconds=60, runs=200)
    assert isinstance(found, Found), found
    assert signature_of(found.guess, {}) == call


def guess(**shapes: tuple[int, ...]) -> Guess:
    return Guess(tuple(SpecArgument(name, TensorSpec(shape)) for name, shape in shapes.items()))


class Added(nn.Module):
    def forward(self, x: Any, y: Any) -> Any:
        return x.flatten(1) + y


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.GRU(8, 16)

    def forward(self, x: Any, h: Any) -> Any:
        return self.layer(x, h)


def test_only_the_inputs_are_changed_that_a_contradiction_came_of() -> None:
    with FakeTensorMode():
        outcome = Trials(Added).run(guess(x=(2, 3, 4), y=(2, 7)))
        told = [signature_of(other, {}) for other in by_conflict(outcome)]
    assert told == ["x f32[2, 3, 4], y f32[2, 12]"]


def test_contradictions_are_mended_one_after_the_other() -> None:
    with FakeTensorMode():
        trials = Trials(Recurrent)
        start = trials.run(guess(x=(5, 6, 9), h=(3, 4)))
        end = mended(trials, start, lambda _: True)
    assert end.error is None
    assert signature_of(end.guess, {}) == "x f32[5, 16, 8], h f32[1, 16, 16]"
