"""Whether two modules are alike but for their weights: what one call of each runs can then be held to be the same.

Everything that a module holds is compared, through all that it contains: what is not understood counts as different.
Numbers and words may differ, as the number that a layer has of itself does; which do is told, and whoever asks has to
know that nobody looks at them. Nothing is run, and no code of the modules' own is asked for anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

PLAIN = (int, float, complex, str, bytes, bool, type(None), torch.dtype, torch.device, torch.Size)
_NAMED = frozenset({int, float, str, bool})
"""What of a module itself may differ, if nobody looks at it."""
_REGISTRIES = ("_parameters", "_buffers", "_modules")
_HOOKS = "hooks"
_MOST_KNOWN = 16
"""Numbers of a fake tensor that are known all the same, as the counter of a normalisation is."""
_OF_FAKES = frozenset({"fake_mode", "pytype", "dispatch_keys"})
"""Attributes of fake tensors with values that are no plain ones (torch 2.13)."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a module is but for its weights.

    `key` is equal for modules that are alike. `modules` and `tensors` are all that it holds, in an order that two
    modules of one key share. `named` are the plain values of attributes, which may differ all the same.
    """

    key: Any
    modules: tuple[torch.nn.Module, ...]
    tensors: tuple[torch.Tensor, ...]
    named: tuple[tuple[str, Any], ...]


class Forms:
    """The forms of the modules of one model, each looked at once. Nobody may change the modules meanwhile."""

    def __init__(self) -> None:
        self._known: dict[int, Form | None] = {}

    def of(self, module: torch.nn.Module) -> Form | None:
        """The form; None of a module that holds what is not understood."""
        if id(module) not in self._known:
            self._known[id(module)] = _form(module)
        return self._known[id(module)]


def unlike(left: Form, right: Form) -> list[str]:
    """The names of those attributes whose plain values differ between two modules of one key."""
    return [
        name
        for (name, one), (_, other) in zip(left.named, right.named, strict=True)
        if type(one) is not type(other) or repr(one) != repr(other)
    ]


@dataclass
class _Walk:
    """What was met so far, in order."""

    modules: dict[int, torch.nn.Module] = field(default_factory=dict)
    tensors: dict[int, torch.Tensor] = field(default_factory=dict)
    named: list[tuple[str, Any]] = field(default_factory=list)


class NotUnderstoodError(Exception):
    """A module holds something of which nobody can say whether it is like another."""


def _form(module: torch.nn.Module) -> Form | None:
    walk = _Walk()
    try:
        key = _of_module(module, walk)
    except NotUnderstoodError:
        return None
    return Form(key, tuple(walk.modules.values()), tuple(walk.tensors.values()), tuple(walk.named))


def _of_module(module: torch.nn.Module, walk: _Walk) -> Any:
    if id(module) in walk.modules:
        return "again", list(walk.modules).index(id(module))
    walk.modules[id(module)] = module
    parts: list[Any] = []
    for name, value in vars(module).items():
        if _HOOKS in name and isinstance(value, Mapping):
            if value:
                raise NotUnderstoodError
        elif name in _REGISTRIES:
            parts.append((name, tuple((key, _of_value(item, walk)) for key, item in value.items())))
        elif type(value) in _NAMED and name != "training":
            walk.named.append((name, value))
            parts.append((name, type(value)))
        else:
            parts.append((name, _of_value(value, walk)))
    return type(module), tuple(parts)


def _of_value(value: Any, walk: _Walk) -> Any:
    if isinstance(value, torch.nn.Module):
        return _of_module(value, walk)
    if isinstance(value, torch.Tensor):
        return _of_tensor(value, walk)
    if isinstance(value, PLAIN):
        return type(value), repr(value)
    if type(value) in (list, tuple, set, frozenset) and not value:
        return type(value), ()
    if type(value) in (list, tuple):
        return type(value), tuple(_of_value(item, walk) for item in value)
    if type(value) is dict:
        return dict, tuple((_of_key(key), _of_value(item, walk)) for key, item in value.items())
    # Of anything else only the same object is surely alike.
    return type(value), id(value)


def _of_key(key: Any) -> Any:
    if not isinstance(key, PLAIN):
        raise NotUnderstoodError
    return type(key), repr(key)


def _of_tensor(tensor: torch.Tensor, walk: _Walk) -> Any:
    if id(tensor) in walk.tensors:
        return "again", list(walk.tensors).index(id(tensor))
    walk.tensors[id(tensor)] = tensor
    return look_of(tensor)


def look_of(tensor: torch.Tensor) -> Any:
    """All that code can see of a tensor but its values and its memory.

    Raises:
        NotUnderstoodError: it is of a kind that shows more.
    """
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
        raise NotUnderstoodError
    sizes = (*tensor.shape, *tensor.stride(), tensor.storage_offset())
    if not all(type(size) is int for size in sizes):
        raise NotUnderstoodError
    kept = [(name, _of_tensor_attribute(name, value)) for name, value in vars(tensor).items()]
    if tensor._backward_hooks:
        raise NotUnderstoodError
    return (
        type(tensor),
        tuple(tensor.shape),
        sizes,
        tensor.dtype,
        tensor.device,
        tensor.requires_grad,
        tensor.is_leaf,
        tensor._is_view(),
        tensor.is_conj(),
        tensor.is_neg(),
        tensor.is_leaf and tensor.grad is None,
        tuple(kept),
    )


def _of_tensor_attribute(name: str, value: Any) -> Any:
    if isinstance(value, PLAIN):
        return type(value), repr(value)
    if name == "constant" and isinstance(value, torch.Tensor) and value.numel() <= _MOST_KNOWN:
        return value.dtype, repr(value.tolist())
    if name in _OF_FAKES:
        return str(value) if name == "dispatch_keys" else id(value)
    raise NotUnderstoodError
