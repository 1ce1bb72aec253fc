"""A model that was written down and built again is the model: its classes, its values, and who shares what."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any

import pytest
import torch
from inductor_debug.scripting.saved_model import NotSavableError, load, save
from torch import nn

pytestmark = pytest.mark.torch


class Mode(enum.Enum):
    FAST = 1


class Config:
    def __init__(self) -> None:
        self.mode, self.sizes, self.eps = Mode.FAST, {"a": (1, 2.5)}, float("inf")


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.config, self.act, self.dtype = Config(), nn.functional.gelu, torch.float32
        self.rnn, self.norm = nn.LSTM(4, 4), nn.BatchNorm1d(4)
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.first.bias.requires_grad_(False)
        self.parent = [self]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, _ = self.rnn(x)
        return self.act(self.second(self.norm(self.first(x))))


def there_and_back(value: Any, folder: Path) -> Any:
    save(value, folder, __name__)
    return load(str(folder), globals())


def test_a_model_computes_the_same(tmp_path: Path) -> None:
    model, x = Tied().eval(), torch.randn(3, 4)
    made, (same,) = there_and_back((model, (x,)), tmp_path)
    assert type(made) is Tied
    assert torch.equal(made(same), model(x))
    assert made.state_dict().keys() == model.state_dict().keys()


def test_what_is_shared_stays_shared(tmp_path: Path) -> None:
    made = there_and_back(Tied(), tmp_path)
    assert made.second.weight is made.first.weight
    assert made.parent[0] is made
    assert made.rnn._flat_weights[0] is made.rnn.weight_ih_l0
    assert [made.first.weight.requires_grad, made.first.bias.requires_grad, made.training] == [True, False, True]


def test_attributes_keep_their_values_and_types(tmp_path: Path) -> None:
    made = there_and_back(Tied(), tmp_path)
    assert (made.config.mode, made.config.sizes, made.config.eps) == (Mode.FAST, {"a": (1, 2.5)}, float("inf"))
    assert (made.act, made.dtype) == (nn.functional.gelu, torch.float32)


REFUSED = {
    "a closure": lambda: 1,
    "an open file": open(__file__, encoding="utf-8"),  # noqa: SIM115
    "a computed tensor": torch.ones(2, requires_grad=True) * 2,
    "a generator": torch.Generator(),
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED.keys())
def test_what_has_no_safe_form_is_refused_by_name(value: Any, tmp_path: Path) -> None:
    model = nn.Identity()
    object.__setattr__(model, "odd", value)
    with pytest.raises(NotSavableError, match=r"the model\.odd"):
        save(model, tmp_path, __name__)
