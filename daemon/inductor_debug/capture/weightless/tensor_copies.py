"""Copies of tensors without values, by `copy.deepcopy` and by `pickle`, which torch's own ways do not suit.

Its deep copy copies the fake mode, of which there is to be one, which ends the process once the copy is used; and the
real tensor in which a fake one keeps a constant, whose storage it asks that mode for: caches that are copied with the
count of what they have seen end there. Its pickle takes the fake mode along, which no pickle takes: a model whose
constructor sees whether it can be saved ends there. What a pickle gives back has no values and no constants.
"""

from __future__ import annotations

import functools
from functools import cache
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._mode_utils import no_dispatch


@cache
def mend_copies() -> None:
    """Has copies of tensors without values share their mode and have a constant of their own, and pickles take them."""
    method: Any = torch.Tensor.__deepcopy__
    untraced: Any = torch.compiler.disable  # Dynamo tells of torch's own method
    setattr(FakeTensor, "__deepcopy__", untraced(functools.wraps(method)(_copied)))  # noqa: B010
    # As a method: `torch.export.save` wants to be the only one whom `copyreg` asks for such tensors.
    setattr(FakeTensor, "__reduce_ex__", untraced(lambda tensor, _: _pickled(tensor)))  # noqa: B010
    # What `torch.save` makes of them is a pickle, of which `torch.load` takes what it was told is safe.
    torch.serialization.add_safe_globals([_unpickled])


def _copied(tensor: Any, memo: dict[int, Any]) -> Any:
    memo[id(tensor.fake_mode)] = tensor.fake_mode
    constant = getattr(tensor, "constant", None)
    if constant is not None:
        with no_dispatch():
            memo[id(constant)] = constant.clone()
    copied: Any = torch.Tensor.__deepcopy__
    return copied(tensor, memo)


def _pickled(tensor: torch.Tensor) -> tuple[Any, tuple[Any, ...]]:
    """What `pickle` asks for: the function that makes the tensor again, and what it is given."""
    layout = tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.device
    return _unpickled, (*layout, tensor.requires_grad, isinstance(tensor, torch.nn.Parameter))


@torch.compiler.disable  # type: ignore[untyped-decorator]  # as Dynamo leaves alone what torch makes of its pickles
def _unpickled(
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    dtype: torch.dtype,
    device: torch.device,
    requires_grad: bool,
    is_parameter: bool,
) -> torch.Tensor:
    made = torch.empty_strided(shape, stride, dtype=dtype, device=device)
    return torch.nn.Parameter(made, requires_grad) if is_parameter else made.requires_grad_(requires_grad)
