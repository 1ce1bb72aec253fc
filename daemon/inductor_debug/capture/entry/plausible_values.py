"""Gives a program that is followed on fake tensors numbers where it asks for values: a loss to print, a best so far.

Only outside of models: what a model does with values is part of what is checked. The numbers mean nothing, and nothing
is judged by them; without them a training loop would end at its first `loss.item()`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from inductor_debug.capture.tensors.fake_mode import is_fake

_FRACTION = 0.5


class PlausibleValues(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Answers `item()`, `float()`, `int()` and `bool()` of tensors that have no value.

    Args:
        inside: says whether a model is running, in which case nothing is made up.
    """

    def __init__(self, inside: Callable[[], bool]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._inside = inside

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten._local_scalar_dense.default and is_fake(args[0]) and not self._inside():
            return self._value(func, args)
        return func(*args, **(kwargs or {}))

    def _value(self, func: Any, args: Any) -> Any:
        try:
            return func(*args)  # a constant has one
        except Exception:
            dtype = args[0].dtype
        if dtype is torch.bool:
            return False
        return _FRACTION if dtype.is_floating_point or dtype.is_complex else 1
