"""One step of a sequence gives what torch gives for all of them: sizes, layout, dtypes and refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.capture.inference.search.recurrent_steps import OneStep, has_recurrent_layers
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

pytestmark = pytest.mark.torch

LAYERS: dict[str, Any] = {
    "gru": lambda **options: nn.GRU(6, 4, 2, **options),
    "lstm": lambda **options: nn.LSTM(6, 4, 2, **options),
    "lstm with projections": lambda **options: nn.LSTM(6, 4, 2, proj_size=3, **options),
    "rnn": lambda **options: nn.RNN(6, 4, **options),
    "rnn with relu": lambda **options: nn.RNN(6, 4, nonlinearity="relu", **options),
}


def _told(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), value.stride(), value.dtype, value.requires_grad
    return [_told(item) for item in value]


@pytest.mark.parametrize("device", ["fake", "meta"])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_a_sequence_is_as_torch_makes_it(name: str, batch_first: bool, bidirectional: bool, device: str) -> None:
    options = {"batch_first": batch_first, "bidirectional": bidirectional}
    expected = _told(LAYERS[name](**options)(torch.rand(5, 7, 6)))
    if device == "fake":
        with FakeTensorMode(), OneStep():
            assert _told(LAYERS[name](**options)(torch.rand(5, 7, 6))) == expected
    else:
        with OneStep(), torch.device("meta"):
            assert _told(LAYERS[name](**options)(torch.rand(5, 7, 6))) == expected


def test_how_long_a_sequence_is_does_not_matter() -> None:
    calls: list[str] = []

    class Counted(FakeTensorMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append(str(func))
            return super().__torch_dispatch__(func, types, args, kwargs)

    def count(steps: int) -> int:
        calls.clear()
        with Counted(), OneStep():
            nn.GRU(6, 4)(torch.rand(steps, 7, 6))
        return len(calls)

    count(2)  # what a fake tensor is made of is looked up once
    assert count(500) == count(50)


def test_what_torch_refuses_and_what_has_values_stays_as_it_is() -> None:
    gru = nn.GRU(6, 4)
    sequence = torch.rand(5, 7, 6)
    with OneStep():
        assert torch.equal(gru(sequence)[0], gru(sequence)[0])
        packed = nn.utils.rnn.pack_padded_sequence(sequence, torch.full((7,), 5))
        assert gru(packed)[0].data.shape == (35, 4)
    with FakeTensorMode(), OneStep():
        with pytest.raises(RuntimeError, match=r"input.size\(-1\) must be equal to input_size"):
            nn.GRU(6, 4)(torch.rand(5, 7, 8))
        with pytest.raises(RuntimeError, match="hidden"):
            nn.GRU(6, 4)(torch.rand(5, 7, 6), torch.rand(1, 3, 4))
    assert has_recurrent_layers(nn.Sequential(gru))
    assert not has_recurrent_layers(nn.Sequential(nn.GRUCell(3, 3)))
