"""Lets `.half()`, `.to(dtype)`, `.cuda()` and their like work on modules whose parameters are fake.

`nn.Module._apply` (private; read in torch 2.11 to 2.13) swaps fake parameters with their converted selves, which torch
refuses for tensors that something refers to weakly, as fake mode does. Here the converted data is put into the same
parameter, as happens to real ones, so optimisers and tied weights keep meaning it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

_original: Callable[..., Any] = torch.nn.Module._apply


@contextlib.contextmanager
def fake_conversions() -> Iterator[None]:
    """Replaces the conversion of modules; those without fake parameters are converted as ever."""
    before = torch.nn.Module._apply
    torch.nn.Module._apply = _apply  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.nn.Module._apply = before  # type: ignore[method-assign]


def _apply(self: torch.nn.Module, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
    parameters = [parameter for parameter in self._parameters.values() if parameter is not None]
    if not any(isinstance(parameter, FakeTensor) for parameter in parameters):
        return _original(self, fn, recurse)
    if recurse:
        for child in torch.nn.Module.children(self):
            child._apply(fn)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _convert(parameter, fn)
    for name, buffer in self._buffers.items():
        if buffer is not None:
            self._buffers[name] = fn(buffer)
    return self


def _convert(parameter: Any, fn: Callable[[Any], Any]) -> Any:
    converted = fn(parameter)
    if converted is parameter:
        return parameter
    if converted.device.type != parameter.device.type:  # from "meta", by `to_empty`: torch makes a new one, too
        return torch.nn.Parameter(converted, parameter.requires_grad)
    grad, parameter.grad = parameter.grad, None  # its dtype must match that of the data at all times
    parameter.data = converted
    if grad is not None:
        parameter.grad = fn(grad)
    return parameter
