"""`copy.deepcopy` of a tensor without values, which torch's own way to copy what hangs on a tensor does not suit.

It copies the fake mode, of which there is to be one, which ends the process once the copy is used; and the real tensor
in which a fake one keeps a constant, whose storage it asks that mode for: caches that are copied with the count of what
they have seen end there.
"""

from __future__ import annotations

import functools
from functools import cache
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._mode_utils import no_dispatch


@cache
def copy_constants() -> None:
    """Has copies of tensors without values share their mode, and have a constant of their own, from now on."""
    method: Any = torch.Tensor.__deepcopy__
    untraced: Any = torch.compiler.disable  # Dynamo tells of torch's own method
    setattr(FakeTensor, "__deepcopy__", untraced(functools.wraps(method)(_copied)))  # noqa: B010


def _copied(tensor: Any, memo: dict[int, Any]) -> Any:
    memo[id(tensor.fake_mode)] = tensor.fake_mode
    constant = getattr(tensor, "constant", None)
    if constant is not None:
        with no_dispatch():
            memo[id(constant)] = constant.clone()
    copied: Any = torch.Tensor.__deepcopy__
    return copied(tensor, memo)
