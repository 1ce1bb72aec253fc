"""What a failed trial says of the inputs: a condition under which code raises, a module that was given an argument."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from inductor_debug.capture.inference.guessing import pretrained
from inductor_debug.capture.inference.guessing.input_candidates import plan_for
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.search.input_search import search
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.specs.rendering import inputs_of, signature_of
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

pytestmark = pytest.mark.torch


class Pairs(nn.Module):
    """Takes two images each, and says so in words that nobody needs to read."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3)

    def forward(self, pixel_values: Any) -> Any:
        if pixel_values.ndim != 5 or pixel_values.size(1) != 2:
            raise ValueError("no pairs")
        return self.layer(pixel_values.flatten(0, 1))


class Asserted(nn.Module):
    """Asserts of a name what it asks of the argument."""

    def forward(self, x: Any) -> Any:
        assert x.dim() == 3
        assert x.shape[-1] == 6, "wrong"
        return x @ torch.ones(6, 2)


class Inside(nn.Module):
    """Hands its argument on to what calls it otherwise and asserts something of it, beside one that is called so."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Asserted()

    def forward(self, source: Any, y: Any) -> Any:
        return self.inner(source) + y.mean()


class Below(nn.Module):
    """Puts an image below a prompt, and takes both as high as it says."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 8, 8)
        self.size = (80, 48)

    def forward(self, image: Any, prompt: Any) -> Any:
        return self.embedded(torch.cat((prompt, image), dim=2))

    def embedded(self, image: Any) -> Any:
        _, _, height, width = image.shape
        if height != self.size[0] or width != self.size[1]:
            raise ValueError("not an image of mine")
        return self.layer(image)


class Trained(nn.Module):
    """Needs both targets while it is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x: Any, pitches: Any = None, energies: Any = None, unused: Any = None) -> Any:
        incomplete = pitches is None or energies is None
        if self.training and incomplete:
            raise ValueError("not without targets")
        return self.layer(x).mean() - pitches.mean() - energies.mean()


class OneOf(nn.Module):
    """Takes either of two inputs beside the first, not both."""

    def forward(self, x: Any, image: Any = None, encoded: Any = None) -> Any:
        if sum(item is None for item in [image, encoded]) != 1:
            raise ValueError("one of them")
        return x.mean() + image[:, :3].mean()


class Task(nn.Module):
    """Beside images, a layer takes an argument as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.image, self.task = nn.Conv2d(3, 8, 1), nn.Linear(77, 8)

    def forward(self, pixel_values: Any, task_inputs: Any) -> Any:
        return self.image(pixel_values).mean((2, 3)) + self.task(task_inputs)


class Strided(nn.Module):
    """Leaves nothing of short sounds."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(*(nn.Conv1d(1, 1, 10, stride=5) for _ in range(4)))

    def forward(self, signal: Any) -> Any:
        return self.down(signal)


class Stacked(nn.Module):
    """Unpacks what is left of a shape."""

    def forward(self, images: Any) -> Any:
        return self.inner(images.view(-1, *images.shape[2:]))

    def inner(self, images: Any) -> Any:
        batch, channels, height, width = images.shape
        return images.reshape(batch, channels * height, width)


class Chunked(nn.Module):
    """Takes whole chunks only, and as many as its numbers say at least."""

    def __init__(self) -> None:
        super().__init__()
        self.window = 25

    def forward(self, spectrogram: Any) -> Any:
        _, _, length = spectrogram.shape
        chunk = 2 * self.window
        if length % chunk != 0:
            raise ValueError("no whole chunks")
        return self.folded(spectrogram.unflatten(2, (-1, chunk)))

    def folded(self, chunks: Any) -> Any:
        if chunks.size(2) < 2:
            raise ValueError("too few")
        return chunks


class Unset(nn.Module):
    """Does something with an argument that is None by default."""

    def forward(self, pixel_values: Any, sizes: Any = None, unused: Any = None) -> Any:
        rows = sizes[:, 0]
        return pixel_values.mean() + rows


class Folded(nn.Module):
    """Folds a mask as it folds what it masks."""

    def forward(self, spectrogram: Any, features_mask: Any) -> Any:
        batch, _, length = spectrogram.shape
        return spectrogram.unflatten(2, (-1, 2)).mean() * features_mask.view(batch, length // 2, 2)


class Positions(nn.Module):
    """Adds as many positions as it has, in a shape that broadcasts."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(100, 8)
        self.register_buffer("places", torch.ones(1, 64, 8))

    def forward(self, input_ids: Any) -> Any:
        return (self.table(input_ids) + torch.broadcast_to(self.places, (input_ids.shape[0], 64, 8))).sum()


class Batched(nn.Module):
    """Joins each input with its own number of rows."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.ones(4, 8))

    def forward(self, x: Any) -> Any:
        return torch.cat((x, self.rows), dim=1)


class Rising(nn.Module):
    """Joins what it makes of a picture with one that is as large as that."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(8, 5, 4, stride=2, padding=1)

    def forward(self, x: Any, before: Any) -> Any:
        return torch.cat((self.up(x), before), 1)


class Inset(nn.Module):
    """Joins what is left of a picture with a small one of as many channels as the next layer takes besides."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 40, 4, stride=4)
        self.mix = nn.Conv2d(52, 7, 1)

    def forward(self, x: Any, x_small: Any) -> Any:
        return self.mix(torch.cat([self.down(x), x_small], dim=1))


class Tabled(nn.Module):
    """Makes its tensors of arrays, as a data loader gives them."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(50, 8)

    def forward(self, items: Any) -> Any:
        places = np.tile(np.arange(items.shape[1]), [items.shape[0], 1])
        places *= items != 0
        return self.table(torch.LongTensor(items)) + self.table(torch.LongTensor(places))


class Asked(nn.Module):
    """Has a part that asks whether one argument is true."""

    def forward(self, x: Any, how: Any) -> Any:
        def chosen(how: Any) -> Any:
            if not how:
                return x + 1
            return x

        return chosen(how)


class Exact(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x: Any) -> Any:
        _, _, h, w = x.shape
        if (h, w) != (299, 299):
            raise ValueError("of another size")
        return self.conv(x)


class Configured(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.image_size = (40, 56)
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x: Any) -> Any:
        height, width = x.shape[-2:]
        assert height == self.image_size[0], "too low"
        assert x.shape[2:] == self.image_size, "too wide"
        return self.conv(x) * width


class OnePixel(nn.Module):
    """Takes images of which one pixel is left after the pools, and squeezes that away."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 24, 3, 4, 1), nn.AvgPool2d(8))
        self.head = nn.Linear(24, 5)

    def forward(self, image: Any) -> Any:
        return self.head(self.features(image).squeeze())


class Extended(nn.Module):
    """Takes an image and a list of others, which are one image with more channels to the first layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(9, 4, 3)

    def forward(self, target_image: Any, ref_imgs: Any) -> Any:
        assert len(ref_imgs) == 2
        images = [target_image]
        images.extend(ref_imgs)
        return self.layer(torch.cat(images, 1))


class Window(nn.Module):
    """Refuses what cannot be parted into windows of seven by seven."""

    def forward(self, x: Any) -> Any:
        height, width = x.shape[-2:]
        assert (height % 7, width % 7) == (0, 0), f"{height} and {width} have to be divisible by 7"
        return x


class Windows(nn.Module):
    """Looks at patches of four pixels in windows, and so at what is left of them."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.Sequential(nn.Conv2d(3, 40, 4, 4), Window(), nn.Conv2d(40, 80, 8, 8), Window())

    def forward(self, x: Any) -> Any:
        return self.stages(x)


class Hourglass(nn.Module):
    """What was made half as large five times and twice as large again is as it was where all of that divides it."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 4, 4)
        self.down = nn.ModuleList(nn.Conv2d(8, 8, 3, 2, 1) for _ in range(5))

    def forward(self, image: Any) -> Any:
        beside = [self.first(image)]
        for layer in self.down:
            beside.append(layer(beside[-1]))
        x = beside.pop()
        while beside:
            x = beside.pop() + nn.functional.interpolate(x, scale_factor=2)
        return x


class Maps(nn.Module):
    """Takes feature maps, each with channels of its own; some are projected to the channels that others have."""

    def __init__(self) -> None:
        super().__init__()
        for number, channels in enumerate((32, 64, 16)):
            kept = channels == 64
            setattr(self, f"project_{number}", nn.Identity() if kept else nn.Conv2d(channels, 64, 1))
            setattr(self, f"up_{number}", nn.ConvTranspose2d(64, 64, 4, 2, 1, groups=64))

    def forward(self, maps: Any) -> Any:
        assert len(maps) == 3
        maps = list(maps)
        for number, x in enumerate(maps):
            project, up = getattr(self, f"project_{number}"), getattr(self, f"up_{number}")
            maps[number] = up(project(x))
        return maps


class Halved(nn.Module):
    """What its layer makes of the first half is laid beside the second one."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(24, 24)

    def forward(self, x: Any) -> Any:
        first, second = x[:, :24], x[:, 24:]
        return second * self.layer(first)


class Bounded(nn.Module):
    """Takes images with values between 0 and 1."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 6)

    def forward(self, x: Any) -> Any:
        if x.min() < 0 or x.max() > 1:
            raise ValueError("not an image")
        return self.layer(x)


class Remembered(nn.Module):
    """Keeps how often in a roundabout way, which says nothing of what that is."""

    def forward(self, x: Any, num: Any) -> Any:
        self.__setattr__("num", num)
        return [x for _ in range(num)]


class Alike(nn.Module):
    """Asserts that the input has the rank and the shape of what it makes of its target."""

    def forward(self, input: Any, target: Any) -> Any:
        target = torch.stack([target.float()] * 4, 1)
        assert input.dim() == target.dim() == 5
        assert input.size() == target.size()
        return (input * target).sum()


class Heatmaps(nn.Module):
    """Says that the truth is to have the shape of what was predicted, whose rank it shows."""

    def forward(self, pred: Any, gt: Any, mask: Any) -> Any:
        assert pred.size() == gt.size()
        loss = ((pred - gt) ** 2) * mask[:, None, :, :].expand_as(pred)
        return loss.mean(dim=3).mean(dim=2).mean(dim=1)


class Named(nn.Module):
    """Gives functions of torch what they take by name, for each of several predictions."""

    def forward(self, preds: Any, target: Any) -> Any:
        size = (target.size(1), target.size(2))
        first = nn.functional.interpolate(input=preds[0], size=size, mode="bilinear")
        second = nn.functional.interpolate(input=preds[1], size=size, mode="bilinear")
        return nn.functional.cross_entropy(first, target) + nn.functional.cross_entropy(second, target)


CALLS = {
    Remembered: "x f32[2, 32], num = 2",
    Alike: "input f32[2, 4, 16, 24, 5], target f32[2, 16, 24, 5]",
    Heatmaps: "pred f32[2, 8, 24, 16], gt f32[2, 8, 24, 16], mask b8[2, 24, 16]",
    Named: "preds [f32[2, 8, 64, 96], f32[2, 8, 64, 96]], target i64[2, 64, 96]",
    OnePixel: "image f32[2, 3, 32, 32]",
    Extended: "target_image f32[2, 3, 64, 96], ref_imgs [f32[2, 3, 64, 96], f32[2, 3, 64, 96]]",
    Halved: "x f32[2, 48]",
    Bounded: "x f32[2, 6]",
    Asked: "x f32[2, 32], how = False",
    Tabled: "items = __import__('numpy').zeros((2, 32), 'int64')",
    Rising: "x f32[2, 8, 64, 96], before f32[2, 5, 128, 192]",
    Inset: "x f32[2, 3, 64, 96], x_small f32[2, 12, 16, 24]",
    Pairs: "pixel_values f32[2, 2, 3, 64, 96]",
    Asserted: "x f32[2, 16, 6]",
    Inside: "source f32[2, 16, 6], y f32[2, 5]",
    Below: "image f32[2, 3, 40, 48], prompt f32[2, 3, 40, 48]",
    Trained: "x f32[2, 8], pitches f32[2, 32], energies f32[2, 32]",
    OneOf: "x f32[2, 32], image f32[2, 3, 64, 96]",
    Task: "pixel_values f32[2, 3, 64, 96], task_inputs f32[2, 77]",
    Strided: "signal f32[2, 1, 1536]",
    Chunked: "spectrogram f32[2, 80, 100]",
    Unset: "pixel_values f32[2, 3, 64, 96], sizes f32[2, 32]",
    Folded: "spectrogram f32[2, 80, 128], features_mask b8[2, 128]",
    Positions: "input_ids i64[2, 64]",
    Batched: "x f32[4, 32]",
    Stacked: "images f32[2, 16, 3, 64, 96]",
    Exact: "x f32[2, 3, 299, 299]",
    Configured: "x f32[2, 3, 40, 56]",
    Windows: "x f32[2, 3, 224, 672]",
    Hourglass: "image f32[2, 3, 256, 768]",
    Maps: "maps [f32[2, 32, 64, 96], f32[2, 64, 64, 96], f32[2, 16, 64, 96]]",
}


class Seasonal(nn.Module):
    """Of its input one layer says how many steps it has, another how many features; the forecast has as many."""

    def __init__(self) -> None:
        super().__init__()
        self.steps, self.features = nn.Conv1d(24, 1, 3, padding=1), nn.Linear(7, 8)

    def forward(self, history: Any, forecast: Any) -> Any:
        joined = torch.cat((history[:, -12:, :], torch.zeros_like(forecast[:, -8:, :])), dim=1)
        return self.steps(history).mean() + self.features(history).mean() + joined.mean()


class Styled(nn.Module):
    """Has weights for the channels of one image, as its style says: it takes no two."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.style = nn.Conv2d(3, 8, 3), nn.Linear(8, 8)

    def forward(self, image: Any) -> Any:
        x = self.layer(image)
        weights = self.style(x.mean((0, 2, 3)))
        return torch.nn.functional.batch_norm(x.view(1, -1, *x.shape[2:]), None, None, weights, None, training=True)


class Masked(nn.Module):
    """Multiplies an image with its mask before anything says what an image is."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3)

    def forward(self, input: Any, holes: Any) -> Any:
        return self.layer(input * holes) / self.layer(holes)


class Flattened(nn.Module):
    """Flattens images of a size that a number alone says."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, image: Any) -> Any:
        x = torch.nn.functional.max_pool2d(self.layer(image), 2)
        return x.view(x.size(0), 1600)


class Echoed(nn.Module):
    """Pads a sound with what it has on both sides."""

    def forward(self, sound: Any, echo: Any) -> Any:
        return torch.nn.functional.pad((sound - echo).unsqueeze(1), (60, 60), mode="reflect")


class Transitions(nn.Module):
    """Views scores with a size that only a number of its own says."""

    def __init__(self, labels: int = 5) -> None:
        super().__init__()
        self.labels, self.weight = labels, nn.Parameter(torch.zeros(labels, labels))

    def forward(self, scores: torch.Tensor) -> Any:
        batch, length = scores.size(0), scores.size(1)
        return self.weight + scores.view(batch, length, 1, self.labels)


class Unpadded(nn.Module):
    """Takes what is left of a side that loses something in each window, as Inception does."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(nn.Conv2d(3 if not n else 4, 4, 9, 2) for n in range(4)), nn.AvgPool2d(9, 2))
        self.last = nn.Linear(4, 10)

    def forward(self, image: Any) -> Any:
        x = self.layers(image)
        return self.last(x.view(x.size(0), -1))


CALLS |= {
    Transitions: "scores f32[2, 32, 5]",
    Unpadded: "image f32[2, 3, 256, 256]",
    Seasonal: "history f32[2, 24, 7], forecast f32[2, 16, 7]",
    Styled: "image f32[1, 3, 64, 96]",
    Masked: "input f32[2, 3, 64, 96], holes f32[2, 3, 64, 96]",
    Flattened: "image f32[2, 3, 40, 40]",
    Echoed: "sound f32[2, 240], echo f32[2, 240]",
}


@pytest.mark.parametrize("kind", CALLS, ids=lambda kind: kind.__name__)
def test_the_call_is_found(kind: type[nn.Module]) -> None:
    trials = Trials(kind)
    plan = plan_for(trials.subject)
    runs = 400 if kind is Extended else 40
    found = search(trials, lambda: plan, [plan.first()], set(), lambda _: False, seconds=60, runs=runs)
    assert isinstance(found, Found), found
    assert signature_of(found.guess, {}) == CALLS[kind]


class Timed(nn.Module):
    """Its layer takes floating numbers where its name says whole ones."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.SiLU(), nn.Linear(32, 8))
        self.conv = nn.Conv2d(3, 8, 1)

    def forward(self, image: Any, time: Any) -> Any:
        return self.conv(image) + self.time(time)[:, :, None, None]


class Activated(nn.Module):
    """Torch has no kernel of whole numbers for what it does."""

    def forward(self, timesteps: Any) -> Any:
        return torch.nn.functional.silu(timesteps) * 2


class Looked(nn.Module):
    """Looks whole numbers up and gives them to a layer, which no dtype survives."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.layer = nn.Embedding(50, 8), nn.Linear(32, 8)

    def forward(self, step: Any) -> Any:
        return self.table(step).mean() + self.layer(step)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (Timed, "image f32[2, 3, 64, 96], time f32[2, 32]"),
        (Activated, "timesteps f32[2]"),
        (Looked, "step i64[2, 32]"),
    ],
)
def test_dtypes_are_those_that_torch_takes_where_there_are_values(kind: type[nn.Module], call: str) -> None:
    with FakeTensorMode():
        trials = Trials(kind)
        plan = plan_for(trials.subject)
        found = search(trials, lambda: plan, [plan.first()], set(), lambda _: False, seconds=60, runs=40)
    assert isinstance(found, Found), found
    assert signature_of(found.guess, {}) == call


class Visible(nn.Module):
    """Encodes what a mask leaves of each example, as masked autoencoders do."""

    def forward(self, patches: Any, mask: Any) -> Any:
        batch, _, width = patches.shape
        seen = patches[~mask].reshape(batch, -1, width)
        return seen.reshape(batch, seen.shape[1], 2, -1).mean(1)


def test_of_what_a_mask_chooses_something_is_left_as_the_rendered_call_says_too() -> None:
    trials = Trials(Visible)
    plan = plan_for(trials.subject)
    found = search(trials, lambda: plan, [plan.first()], set(), lambda _: False, seconds=60, runs=80)
    assert isinstance(found, Found), found
    patches, mask = eval(inputs_of(found.guess), {"torch": torch})
    assert patches.shape[:2] == mask.shape
    assert mask.any(1).all()
    assert not mask.all(1).any()
    assert Visible()(patches, mask).shape[0] == len(patches)


class Lengths(nn.Module):
    """Counts the tokens of each text that are no padding."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.rnn = nn.Embedding(9, 6), nn.GRU(6, 4, batch_first=True)

    def forward(self, inputs: Any) -> Any:
        tokens = inputs[0]
        lengths = (tokens != 0).sum(-1)
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        return self.rnn(packed)[1]


def test_tokens_of_which_none_may_be_padding_are_no_padding() -> None:
    trials = Trials(Lengths)
    plan = plan_for(trials.subject)
    found = search(trials, lambda: plan, [plan.first()], set(), lambda _: False, seconds=60, runs=80)
    assert isinstance(found, Found), found
    assert Lengths()(*eval(inputs_of(found.guess), {"torch": torch})).shape[-1] == 4


class TwoInputs(nn.Module):
    main_input_name = ("pixel_values", "task_inputs")
    config = SimpleNamespace(is_encoder_decoder=False, num_labels=32)

    def forward(self, pixel_values: Any, task_inputs: Any = None, labels: Any = None) -> Any:
        return pixel_values


def test_a_model_may_have_several_main_inputs_and_images_are_not_as_large_as_other_numbers() -> None:
    model = TwoInputs()
    model.max_num_bins = 32
    plan = plan_for(model)
    pretrained.refine(plan, model)
    assert pretrained.is_pretrained(model)
    assert signature_of(plan.first(), {}).startswith("pixel_values f32[2, 3, 128, 128], task_inputs ")
