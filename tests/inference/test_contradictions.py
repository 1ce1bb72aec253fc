"""A class is blamed only for what no call avoids: a call that we could not run may be the one that does."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.capture.inference.guessing.input_candidates import plan_for
from inductor_debug.capture.inference.judging.coincidences import coincidences
from inductor_debug.capture.inference.judging.contradiction import judged
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.specs.specs import Guess, SpecArgument, TensorSpec
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


class Multiplied(nn.Module):
    """Norms points and channels as one size, and convolves the channels."""

    def __init__(self, points: int) -> None:
        super().__init__()
        self.norm, self.conv = nn.BatchNorm1d(3 * points), nn.Conv2d(3, 8, 1)

    def forward(self, x: torch.Tensor) -> Any:
        """As networks on skeletons do."""
        n, c, t, v = x.size()
        x = self.norm(x.permute(0, 3, 1, 2).reshape(n, v * c, t))
        return self.conv(x.view(n, v, c, t).permute(0, 2, 3, 1))


def test_a_size_that_is_one_with_another_is_shared_out_before_anybody_is_blamed_for_it() -> None:
    trials = Trials(lambda: Multiplied(18))
    plan = plan_for(trials.subject, (), {})
    alone = Guess((SpecArgument("x", TensorSpec((2, 54, 16, 1))),))
    judgement = judged(trials, plan, trials.run(alone))
    assert judgement.blamed is None
    assert judgement.runs is not None
    assert judgement.runs.spec_of("x") == TensorSpec((2, 3, 16, 18))


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


class Squeezed(nn.Module):
    """Takes what is as high as it is wide."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Conv2d(48, 48, 1)

    def forward(self, image: torch.Tensor) -> Any:
        """Weighs the channels."""
        weights = self.mix(nn.functional.avg_pool2d(image, image.size(3))).sigmoid()
        return image * weights.view(-1, 48, 1, 1)


def test_an_image_may_have_to_be_square() -> None:
    """Also where it has as many channels as pixels a side, which the model declares and which cannot change."""
    trials = Trials(Squeezed)
    guess = Guess((SpecArgument("image", TensorSpec(("B", 48, 48, 48))),), (("B", 2),))
    assert trials.run(guess).error is None
    assert coincidences(trials, Found(guess, frozenset("B"), guess), {}) == []


class Pyramid(nn.Module):
    """Puts what is twice as large as its last step beside the step before, which fits where that has an even size."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = nn.Sequential(*(nn.Conv2d(8, 8, 3, stride=2, padding=1) for _ in range(3)))
        self.last = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.back = nn.ConvTranspose2d(8, 8, 2, stride=2)

    def forward(self, x: torch.Tensor) -> Any:
        """The step before the last."""
        x = self.steps(x)
        return torch.cat((x, self.back(self.last(x))), 1)


def test_a_size_that_strides_round_is_not_said_to_be_the_only_one() -> None:
    trials = Trials(Pyramid)
    guess = Guess((SpecArgument("x", TensorSpec(("B", 8, 43, 43))),), (("B", 2),))
    assert trials.run(guess).error is None
    assert trials.run(guess.with_spec("x", TensorSpec(("B", 8, 3 * 43, 3 * 43)))).error is not None
    assert coincidences(trials, Found(guess, frozenset("B"), guess), {}) == []


class Blurred(nn.Module):
    """Makes weights for as many channels as images have, be they several images or one."""

    def forward(self, x: torch.Tensor) -> Any:
        """Every second pixel."""
        x = nn.functional.pad(x, (1, 1, 1, 1))
        return nn.functional.conv2d(x, x.new_ones([x.shape[1], x.shape[1], 4, 4]), stride=2)


class Merged(nn.Module):
    """Takes one image, or several, in two halves, and all of their channels at once."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6 * 16 * 16, 8)

    def forward(self, x: torch.Tensor, step: torch.Tensor) -> Any:
        """A vector for each half."""
        halves = x.unflatten(-1, (2, 16)).movedim(-2, -4).flatten(-3)
        return self.layer(halves) + step[:, None, None]


@pytest.mark.parametrize(
    ("model", "inputs", "batch"),
    [
        (Blurred(), {"x": (18, 16, 32)}, 2),
        (Merged(), {"x": ("B", "T", "D"), "step": (2,)}, 6),
    ],
)
def test_what_is_one_example_of_several_has_no_fixed_size(
    model: nn.Module, inputs: dict[str, tuple[str | int, ...]], batch: int
) -> None:
    trials = Trials(lambda: model)
    arguments = tuple(SpecArgument(name, TensorSpec(dims)) for name, dims in inputs.items())
    guess = Guess(arguments, (("B", batch), ("D", 32), ("T", 16)))
    assert trials.run(guess).error is None
    assert coincidences(trials, Found(guess, frozenset(), guess), {}) == []


class Lasting(nn.Module):
    """Puts beside a sequence what is as long as its own number says, however long the sequence is."""

    def __init__(self, name: str) -> None:
        super().__init__()
        setattr(self, name, 48)
        self.name = name

    def forward(self, x: torch.Tensor) -> Any:
        """A spectrum back in time."""
        return torch.cat((x, torch.fft.irfft(torch.fft.rfft(x, dim=1), n=getattr(self, self.name), dim=1)), -1)


class JoinedChannels(nn.Module):
    """Joins what is known of places with the places, and takes as many channels as both have."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Conv1d(5, 8, 1)

    def forward(self, places: torch.Tensor, known: torch.Tensor) -> Any:
        """Each place as a column."""
        x = torch.cat((known, places), -1).permute(2, 0, 1)
        return self.mix(x.reshape(x.shape[0], -1).unsqueeze(0)) * places[..., :2].sum()


def test_two_inputs_that_are_joined_need_not_be_as_wide_as_each_other() -> None:
    """Both were called `D` by us: twice a number is never five."""
    trials = Trials(JoinedChannels)
    dims = ("B", "T", "D")
    arguments = (SpecArgument("places", TensorSpec(dims)), SpecArgument("known", TensorSpec(dims)))
    refused = trials.run(Guess(arguments, (("B", 2), ("T", 16), ("D", 32))))
    assert refused.error is not None
    judgement = judged(trials, plan_for(trials.subject, (), {}), refused)
    assert judgement.blamed is None
    assert judgement.runs is not None


class OneEach(nn.Module):
    """Has a layer for each column."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(1, 1) for _ in range(48))

    def forward(self, x: torch.Tensor) -> Any:
        """Each column by its own layer."""
        return torch.cat([layer(x[:, at]) for at, layer in enumerate(self.layers)], 1).view(x.shape)


class Positioned(nn.Module):
    """Adds the positions of another dimension: one row stands for all, as many as columns fit by chance."""

    def forward(self, x: torch.Tensor) -> Any:
        """Each row in pieces."""
        return x.unfold(-1, 16, 16) + x.mean(-1)[:1].unsqueeze(-1)


@pytest.mark.parametrize(
    ("model", "given", "shape", "rules"),
    [
        (Lasting("seq_len"), {}, ("B", 48, 40), []),
        (Lasting("in_channels"), {}, ("B", 48, 40), []),
        (Lasting("factor"), {}, ("B", 48, 40), ["fixed-size"]),
        (Lasting("factor"), {"image_size": 48}, ("B", 48, 40), []),
        (Lasting("factor"), {"depth": 48}, ("B", 48, 40), ["fixed-size"]),
        (Positioned(), {}, ("B", 3, 48), []),
        (OneEach(), {}, ("B", 48, 1), []),
    ],
)
def test_what_the_model_calls_a_length_is_declared_and_one_row_stands_for_any(
    model: nn.Module, given: dict[str, int], shape: tuple[str | int, ...], rules: list[str]
) -> None:
    trials = Trials(lambda: model)
    guess = Guess((SpecArgument("x", TensorSpec(shape)),), (("B", 2),))
    assert trials.run(guess).error is None
    assert [remark.rule for remark in coincidences(trials, Found(guess, frozenset("B"), guess), given)] == rules


class Halves(nn.Module):
    """Takes two numbers of each thing in each step, and two more: reshapes say how many those are."""

    def forward(self, x: torch.Tensor) -> Any:
        """Where each thing is next."""
        place = x[:, :, :-1, :2].permute(0, 2, 1, 3).contiguous()
        speed = x[:, :, :-1, 2:].permute(0, 2, 1, 3).contiguous()
        place = place.view(x.size(0) * (x.size(2) - 1), x.size(1), 2)
        return place + speed.view(x.size(0) * (x.size(2) - 1), x.size(1), 2)


def test_a_reshape_declares_a_size_that_another_dimension_has_too_by_chance() -> None:
    trials = Trials(Halves)
    guess = Guess((SpecArgument("x", TensorSpec(("B", 8, "T", 4))),), (("B", 2), ("T", 4)))
    assert trials.run(guess).error is None
    assert coincidences(trials, Found(guess, frozenset("BT"), guess), {}) == []


class Grouped(nn.Module):
    """Takes the parts of examples for examples: without parts it runs on a single one that two halves make."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, g: torch.Tensor) -> Any:
        """Each part by itself."""
        return self.layer(g.flatten(0, 1)).view(*g.shape[:2], *g.shape[2:])


class Normalised(nn.Module):
    """Normalises channels of images: a sequence runs where it has as many examples as channels."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(width))

    def forward(self, g: torch.Tensor) -> Any:
        """The mean of all examples taken off."""
        mean = g.reshape(g.size(0), g.size(1), -1).mean(-1).mean(0)
        return g - mean.view(1, -1, 1, 1), mean - self.mean


@pytest.mark.parametrize(
    ("model", "shape", "sizes"),
    [
        (Grouped(48), ("B", 24, 40, 40), {"B": 2}),
        (Normalised(48), ("B", "T", "D"), {"B": 48, "D": 32, "T": 48}),
    ],
)
def test_a_batch_that_runs_with_one_size_for_want_of_a_dimension_is_told_of_nobody(
    model: nn.Module, shape: tuple[str | int, ...], sizes: dict[str, int]
) -> None:
    trials = Trials(lambda: model)
    guess = Guess((SpecArgument("g", TensorSpec(shape)),), tuple(sizes.items()))
    assert trials.run(guess).error is None
    assert coincidences(trials, Found(guess, frozenset("D") & set(shape), guess), {"width": 48}) == []
