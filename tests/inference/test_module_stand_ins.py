"""What a constructor is given of which modules are asked is called as the class calls it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.capture.inference.construction.demands import demands
from inductor_debug.capture.inference.construction.module_stand_ins import stand_in_for, tensor_for
from torch import nn


class Wrapper(nn.Module):
    def __init__(self, inner: Any, other: Any, plain: Any) -> None:
        super().__init__()
        self.inner, self.other, self.plain = inner, other, plain

    def forward(self, x: Any, mask: Any) -> Any:
        x, weights = self.inner(x, mask=mask)
        return self.plain(self.other(x, weights))


class Stack(nn.Module):
    def __init__(self, layers: Any, norms: Any, pairs: Any, width: Any) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(norms) if norms is not None else None
        self.wrapped = nn.ModuleList([Wrapper(first, second, nn.ReLU()) for first, second in pairs])
        self.linear = nn.Linear(width, width)

    def forward(self, x: Any, mask: Any) -> Any:
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x, _ = layer(x, mask)
            x = norm(x)
        return x


def given(kind: type, name: str) -> Any:
    stand_in = stand_in_for(demands(kind)[name])
    if stand_in is None:
        return None
    assert repr(eval(stand_in.text)) == repr(stand_in.make())
    return stand_in.make()


def test_a_module_takes_what_it_is_called_with_and_gives_what_is_unpacked() -> None:
    x = torch.ones(2)
    assert all(result is x for result in given(Wrapper, "inner")(x, mask=None))
    assert given(Wrapper, "other")(x, x) is x
    assert given(Wrapper, "plain") is None


def test_a_module_has_the_sizes_that_are_read_of_it() -> None:
    class Sampled(nn.Module):
        def __init__(self, net: Any) -> None:
            super().__init__()
            self.net, self.max_seq_len = net, net.max_seq_len

        def forward(self, x: Any, mask: Any) -> Any:
            return self.net(x[:, : self.max_seq_len], mask)

    made = given(Sampled, "net")
    assert type(made.max_seq_len) is int
    assert Sampled(made)(torch.ones(2, 4), None).shape == (2, 4)


def test_lists_of_modules_and_of_pairs_of_them_are_told_from_numbers() -> None:
    x = torch.ones(2)
    assert [len(layer(x, None)) for layer in given(Stack, "layers")] == [2, 2]
    assert [type(norm) for norm in given(Stack, "norms")] == [nn.Identity, nn.Identity]
    assert [[len(layer(x, mask=x)) for layer in pair] for pair in given(Stack, "pairs")] == [[2, 2], [2, 2]]
    assert given(Stack, "width") is None


class Pretrained(nn.Module):
    def __init__(self, words: int, weights: Any) -> None:
        super().__init__()
        self.table = nn.Embedding(words, 64)
        self.table.weight = nn.Parameter(weights, requires_grad=False)


class Grouped(nn.Module):
    def __init__(self, width: int, groups: Any, images: Any, module: Any, settings: Any) -> None:
        super().__init__()
        self.groups, self.count = groups.to(groups.device), groups.shape[0]
        self.height = images.shape[3]
        self.module = module.to("cpu")
        self.scale = settings.size * settings.dim

    def forward(self, x: Any) -> Any:
        return self.module(x)


TENSORS = {
    (Pretrained, "weights"): (1000, 64),
    (Pretrained, "words"): None,
    (Grouped, "width"): None,
    (Grouped, "groups"): (12, 12),
    (Grouped, "images"): (12, 12, 12, 12),
    (Grouped, "module"): None,
    (Grouped, "settings"): None,
}


@pytest.mark.parametrize(("kind", "name"), TENSORS)
def test_what_is_used_as_a_tensor_is_one_as_wide_as_what_is_known(kind: type, name: str) -> None:
    demand, shape = demands(kind)[name], TENSORS[kind, name]
    assert demand.is_tensor is (shape is not None)
    if shape is not None:
        made = tensor_for(demand, {"flag": True, "width": 12})
        assert made.make().shape == eval(made.text).shape == shape


@pytest.mark.parametrize("kind", [nn.Linear, nn.Sequential, int])
def test_classes_of_libraries_ask_for_none(kind: type) -> None:
    assert all(stand_in_for(demand) is None for demand in demands(kind).values())


class Focal(nn.Module):
    def __init__(self, loss: Any) -> None:
        super().__init__()
        self.loss = loss
        self.reduction = loss.reduction
        self.loss.reduction = "none"

    def forward(self, predicted: Any, true: Any) -> Any:
        return self.loss(predicted, true).mean()


def test_a_loss_that_is_wrapped_is_one_of_torchs() -> None:
    assert type(given(Focal, "loss")) is nn.BCEWithLogitsLoss
