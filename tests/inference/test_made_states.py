"""Where a class has a method that makes its state, its `forward` is given such a state, for any batch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.capture.inference.guessing.input_candidates import plan_for
from inductor_debug.capture.inference.guessing.made_states import made_by
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.search.input_search import search
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.specs.rendering import signature_of
from torch import nn

pytestmark = pytest.mark.torch


class Layered(nn.Module):
    """Layers of different widths, which no attribute tells."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Embedding(100, 20)
        self.rnns = nn.ModuleList([nn.LSTM(20, 30), nn.LSTM(30, 20)])

    def forward(self, input: Any, hidden: Any) -> Any:
        raw = self.encoder(input)
        for index, rnn in enumerate(self.rnns):
            raw, _ = rnn(raw, hidden[index])
        return raw

    def init_hidden(self, bsz: int) -> Any:
        weight = next(self.parameters()).data
        return [tuple(weight.new(1, bsz, width).zero_() for _ in range(2)) for width in (30, 20)]


class World(nn.Module):
    """What the state leaves of a layer's width is the action's."""

    def __init__(self) -> None:
        super().__init__()
        self.pre, self.cell = nn.Linear(12 + 6, 40), nn.GRUCell(40, 40)

    def initial(self, batch_size: int) -> Any:
        return {"deter": torch.zeros(batch_size, 40), "stoch": torch.zeros(batch_size, 12)}

    def forward(self, prev_state: Any, action: Any) -> Any:
        joined = self.pre(torch.cat([prev_state["stoch"], action], -1))
        return self.cell(joined, prev_state["deter"])


class Single(nn.Module):
    """Its method knows no batch."""

    def __init__(self) -> None:
        super().__init__()
        self.both = nn.Linear(7 + 9, 9)

    def forward(self, x: Any, hidden: Any) -> Any:
        return self.both(torch.cat((x, hidden), 1))

    def initHidden(self) -> Any:  # noqa: N802 - as people call it
        return torch.zeros(1, 9)


class Unlike(nn.Module):
    """Methods that make no state, or raise."""

    def forward(self, hidden: Any) -> Any:
        return hidden

    def init_weights(self) -> Any:
        return torch.zeros(3)

    def init_state(self, x: Any, y: Any) -> Any:
        return torch.zeros(3)

    def zero_state(self, batch: int) -> Any:
        raise ValueError("no state today")


def called_with(kind: type[nn.Module]) -> str:
    trials = Trials(kind)
    plan = plan_for(trials.subject)
    found = search(trials, lambda: plan, [plan.first()], set(), lambda _: False)
    assert isinstance(found, Found), found
    assert trials.run(found.guess).error is None
    return signature_of(found.guess, {})


def test_a_list_of_states_has_the_width_of_each_layer() -> None:
    assert called_with(Layered) == (
        "input i64[16, 2], hidden [(f32[1, 2, 30], f32[1, 2, 30]), (f32[1, 2, 20], f32[1, 2, 20])]"
    )


def test_what_is_joined_with_a_state_takes_the_rest() -> None:
    assert called_with(World) == "prev_state {deter: f32[2, 40], stoch: f32[2, 12]}, action f32[2, 6]"


def test_a_state_of_one_row_stands_for_any_batch() -> None:
    assert called_with(Single) == "x f32[2, 7], hidden f32[2, 9]"


def test_what_makes_no_state_is_not_taken_for_one() -> None:
    assert list(made_by(Unlike(), "hidden")) == []
