"""What methods of a tensor give that somebody makes as an example: `torch.randn(1, 3, 224, 224).cuda()`.

Only its shape and its type matter, so where it lies does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from inductor_debug.capture.inference.values.symbolic_values import UnknownError

_ITSELF = ("cuda", "cpu", "detach", "clone", "contiguous", "pin_memory", "requires_grad_", "random_", "normal_")
_TYPES = {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "long": torch.int64,
    "int": torch.int32,
    "bool": torch.bool,
}
_LAID_OUT = ("view", "reshape", "unsqueeze", "squeeze", "permute", "transpose", "repeat", "expand", "flatten", "t")
_ASKED = ("size", "dim", "numel")
_MOST_ELEMENTS = 1 << 28
PASSING: tuple[Callable[..., Any], ...] = (torch.autograd.Variable,)
"""What gives the tensor that it is given."""


def method_of_tensor(tensor: torch.Tensor, name: str, args: list[Any]) -> Any:
    """What a method gives.

    Raises:
        UnknownError: it is none of those that are known, or would make something huge.
    """
    if name in _ITSELF:
        return tensor
    if name == "to":
        return next((tensor.to(item) for item in args if isinstance(item, torch.dtype)), tensor)
    if name in _TYPES:
        return tensor.to(_TYPES[name])
    if name in _ASKED:
        return getattr(tensor, name)(*args)
    if name not in _LAID_OUT or tensor.numel() * _times(name, args) > _MOST_ELEMENTS:
        raise UnknownError
    return getattr(tensor, name)(*args)


def _times(name: str, args: list[Any]) -> int:
    """How many times as large it gets."""
    numbers = [number for item in args for number in (item if isinstance(item, tuple | list) else [item])]
    return math.prod(max(int(number), 1) for number in numbers) if name == "repeat" else 1
