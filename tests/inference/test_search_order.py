"""Which call is tried next: what came further first, but not for ever, and by what really came further."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.capture.inference.guessing.input_candidates import plan_for
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.search.input_search import search
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.search.waiting import Waiting, WaitingCalls
from inductor_debug.capture.inference.specs.rendering import signature_of
from inductor_debug.capture.inference.specs.specs import Guess, SpecArgument, TensorSpec
from torch import nn

FURTHER, EARLIER = (-2,), (-1,)


class Conditional(nn.Module):
    """Looks one label up for each example, and joins that with noise."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.layer = nn.Embedding(10, 256), nn.Linear(64 + 256, 8)

    def forward(self, z: Any, y: Any) -> Any:
        found = self.embedding(y)
        found = found / torch.norm(found, p=2, dim=1, keepdim=True)
        return self.layer(torch.cat([z, found], dim=1)).view(z.size(0), 8)


class Sharpened(nn.Module):
    """Does the same to both images, in functions and in one line: only what is further right tells them apart."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel = torch.ones(3, 1, 5, 5)

    def edges(self, image: Any) -> Any:
        padded = nn.functional.pad(image, (2, 2, 2, 2), mode="replicate")
        return nn.functional.conv2d(padded, self.kernel, groups=3)[:, :, ::2, ::2]

    def forward(self, x: Any, y: Any) -> Any:
        return (self.edges(x) - self.edges(y)).mean()


def moments(features: Any) -> Any:
    size = features.size()
    assert len(size) == 4
    return features.view(*size[:2], -1).mean(2), size


class Styled(nn.Module):
    """Asserts of what becomes of its inputs, under other names, how many dimensions that has."""

    def forward(self, content: Any, style: Any) -> Any:
        (mean, _), (other, _) = moments(content * 2), moments(style * 2)
        return mean - other


class Direct(nn.Module):
    """Runs a layer as its method, which no hook sees."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3)

    def forward(self, x: Any) -> Any:
        return self.layer.forward(x)


class Tokens(nn.Module):
    """Takes an image as tokens behind one of a class, and says in numbers how high and wide it was."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(24, 4)

    def forward(self, x: Any, h: Any, w: Any) -> Any:
        _, patches = torch.split(x, [1, h * w], 1)
        return self.layer(patches).transpose(1, 2)


class Angles(nn.Module):
    """Makes a table on the device, and of the dtype, that it is told."""

    def forward(self, x: Any, *, device: Any, dtype: Any) -> Any:
        return x + torch.arange(x.shape[-1], device=device, dtype=dtype)


CALLS = {
    Conditional: "z f32[2, 64], y i64[2]",
    Sharpened: "x f32[2, 3, 64, 96], y f32[2, 3, 64, 96]",
    Styled: "content f32[2, 8, 64, 96], style f32[2, 8, 64, 96]",
    Direct: "x f32[2, 3, 64, 96]",
    Angles: "x f32[2, 32], device = torch.device('cpu'), dtype = torch.float32",
    Tokens: "x f32[2, 5, 24], h = 2, w = 2",
}


@pytest.mark.torch
@pytest.mark.parametrize("kind", CALLS, ids=lambda kind: kind.__name__)
def test_the_call_is_found(kind: type[nn.Module]) -> None:
    trials = Trials(kind)
    plan = plan_for(trials.subject)
    found = search(trials, lambda: plan, [plan.first()], set(), lambda _: False, seconds=60, runs=160)
    assert isinstance(found, Found), found
    assert signature_of(found.guess, {}) == CALLS[kind]


def call(number: int) -> Guess:
    return Guess((SpecArgument("x", TensorSpec((number,))),), ())


def filled() -> WaitingCalls:
    waiting = WaitingCalls()
    for rank, first in ((FURTHER, 100), (EARLIER, 500)):
        for number in range(first, first + 100):
            assert waiting.takes(call(number), rank)
            waiting.put(Waiting(call(number), rank, cost=number))
    return waiting


def given(waiting: WaitingCalls, count: int) -> list[int]:
    items = (waiting.next() for _ in range(count))
    return [int(item.guess.arguments[0].spec.dims[0]) for item in items if item is not None]  # type: ignore[union-attr]


def test_what_came_further_is_followed_first_and_what_waits_has_turns_once_that_leads_nowhere() -> None:
    waiting = filled()
    assert given(waiting, 40) == list(range(100, 140))
    later = given(waiting, 60)
    assert [number for number in later if number < 500] == sorted(number for number in later if number < 500)
    assert len([number for number in later if number >= 500]) == 19
    waiting.came_further()
    assert all(number < 500 for number in given(waiting, 10))
    assert len(given(waiting, 1000)) == 200 - 40 - 60 - 10


def test_a_call_is_given_once_and_taken_again_only_for_what_came_further() -> None:
    waiting = WaitingCalls()
    assert waiting.takes(call(1), EARLIER)
    waiting.put(Waiting(call(1), EARLIER))
    assert not waiting.takes(call(1), EARLIER)
    assert waiting.takes(call(1), FURTHER)
    waiting.put(Waiting(call(1), FURTHER))
    assert given(waiting, 3) == [1]
    assert not waiting.takes(call(1), (-9,))
