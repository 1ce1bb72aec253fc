"""Runs a model on torch's `meta` device: shapes only, without what fake tensors do besides, and many times as fast.

A model that is known to run on fake tensors is called once more with other sizes. That it runs is believed; that it
does not may be due to the device, so nothing is concluded from it. The caller puts the model's attributes back.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from inductor_debug.capture.fake_mode import is_fake, without_modes
from inductor_debug.capture.inference.specs import Guess, make_call


def runs_on_meta(model: nn.Module, guess: Guess) -> bool:
    """Whether `model`, whose tensors are fake, takes `guess`. Leaves meta tensors in place of the model's own."""
    known: dict[int, torch.Tensor] = {}
    try:
        with without_modes(), torch.no_grad(), torch.device("meta"):
            for part in model.modules():
                _move(part, known)
            args, kwargs = make_call(guess)
            model(*args, **kwargs)
    except (Exception, SystemExit):
        return False
    return True


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
