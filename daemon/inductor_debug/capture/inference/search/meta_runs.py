"""Runs a model on torch's `meta` device: shapes only, without what fake tensors do besides, and many times as fast.

That a model runs there is believed: fake tensors get their shapes from the same kernels. That it does not may be due to
the device alone, so the caller runs it on fake tensors before it believes that. The caller puts the model's attributes
back.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from inductor_debug.capture.inference.specs.specs import Guess, make_call
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.memoised import memoised_apart
from inductor_debug.capture.tensors.fake_mode import is_fake, without_modes

Around = Callable[[tuple[Any, ...], dict[str, Any]], AbstractContextManager[Any]]


def call_on_meta(model: nn.Module, guess: Guess, around: Around) -> None:
    """Calls `model`, whose tensors are fake, with `guess`, and leaves meta tensors in place of its own.

    `around` makes of the arguments what the call runs in.

    Raises:
        Exception: what the model raises; `TypeError` where a tensor of it is not fake, or it names that device.
    """
    known: dict[int, torch.Tensor] = {}
    with (
        memoised_apart(),
        without_modes(),
        torch.no_grad(),
        torch.device("meta"),
        _WhatMetaTakesWrongly(),
        _without_values(),
    ):
        for part in foreign.parts_of(model):
            _move(part, known)
        args, kwargs = make_call(guess)
        with around(args, kwargs):
            model(*args, **kwargs)


class _WhatMetaTakesWrongly(TorchFunctionMode):
    """Refuses what would not run on fake tensors either, so that those are asked.

    Code that names the meta device itself: where all tensors are there, it would meet the others. And a transposed
    convolution of more or fewer channels than its weight has: torch's kernel does not look (`meta_conv`, torch 2.13).
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if any(map(_names_meta, (*args, kwargs.get("device")))):
            raise TypeError("a tensor that is meant for the meta device")
        rank = _TRANSPOSED.get(func)
        if rank is not None and len(args) > 1 and args[0].dim() >= rank and args[0].size(-rank) != args[1].size(0):
            raise TypeError("a transposed convolution of other channels than its weight has")
        return func(*args, **kwargs)


_TRANSPOSED = {torch.conv_transpose1d: 2, torch.conv_transpose2d: 3, torch.conv_transpose3d: 4}
"""Transposed convolutions, and which dimension of their input, from the end, are the channels."""


def _names_meta(value: Any) -> bool:
    return value == "meta" if type(value) is str else isinstance(value, torch.device) and value.type == "meta"


@contextlib.contextmanager
def _without_values() -> Iterator[None]:
    """Lets transformers know that tensors have no values, as it knows of fake ones: it then does not look at them.

    `transformers.utils.import_utils.is_fake_tensor` (read in 5.x; where there is none, nothing is changed).
    """
    utilities = sys.modules.get("transformers.utils.import_utils")
    original = getattr(utilities, "is_fake_tensor", None)
    if utilities is None or original is None:
        yield
        return
    utilities.is_fake_tensor = lambda x: True  # type: ignore[attr-defined]
    try:
        yield
    finally:
        utilities.is_fake_tensor = original  # type: ignore[attr-defined]


def _move(part: nn.Module, known: dict[int, torch.Tensor]) -> None:
    attributes = part.__dict__
    for holder in (part._parameters, part._buffers):
        for name, tensor in holder.items():
            if tensor is not None:
                holder[name] = _on_meta(tensor, known)  # type: ignore[assignment]
    for name, value in list(attributes.items()):
        if isinstance(value, torch.Tensor):
            attributes[name] = _on_meta(value, known)
        elif type(value) is list and any(isinstance(item, torch.Tensor) for item in value):
            attributes[name] = [_on_meta(item, known) if isinstance(item, torch.Tensor) else item for item in value]


def _on_meta(tensor: Any, known: dict[int, torch.Tensor]) -> torch.Tensor:
    found = known.get(id(tensor))
    if found is None:
        if not is_fake(tensor):
            raise TypeError("a tensor that is not fake")
        found = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
        if isinstance(tensor, nn.Parameter):
            found = nn.Parameter(found, requires_grad=tensor.requires_grad)
        known[id(tensor)] = found
    return found
