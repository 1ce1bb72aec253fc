"""How a program calls again what it has compiled: with other arguments, in another mode, after a global has changed.

Each kind of call is taken down once, by what torch guards (sizes and dtypes of tensors, values of numbers), so that a
loop costs as much as its differences. `Conditions` put back, for a call that is repeated, what held when it was made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from inductor_debug.capture.runtime import foreign
from inductor_debug.rules.recording.ops import Frame

MOST = 8
"""Calls that are kept; torch makes as many versions of a function."""
_PLAIN = (bool, int, float, complex, str, type(None))


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a call was made under. `names` are the globals that its code reads, with the plain values that they had."""

    gradients: bool
    training: bool | None
    names: tuple[tuple[dict[str, Any], str, Any], ...]

    @contextlib.contextmanager
    def held(self, module: torch.nn.Module | None) -> Iterator[None]:
        """Holds them for a call; the caller puts the state of modules and globals back."""
        if module is not None and self.training is not None and module.training != self.training:
            module.train(self.training)
        for names, name, value in self.names:
            names[name] = value
        with torch.set_grad_enabled(self.gradients):
            yield


@dataclass(frozen=True, slots=True)
class LaterCall:
    """A call after the first, unlike all before it; `frames` is where it stands."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    conditions: Conditions
    frames: tuple[Frame, ...]


@dataclass(slots=True)
class CallsAgain:
    """The calls of one compiled object. `first` is what its first call was made under."""

    first: Conditions
    later: list[LaterCall] = field(default_factory=list)
    _seen: set[tuple[Any, ...]] = field(default_factory=set)

    def is_new(self, args: tuple[Any, ...], kwargs: dict[str, Any], conditions: Conditions) -> bool:
        """Whether a call differs from every one before, in something that torch may guard; it counts from now on."""
        if len(self._seen) >= MOST:
            return False
        leaves, form = pytree.tree_flatten((args, kwargs))
        values = tuple((name, value) for _, name, value in conditions.names)
        key = (tuple(map(_guarded, leaves)), str(form), conditions.gradients, conditions.training, values)
        known = key in self._seen
        self._seen.add(key)
        return not known


def conditions_of(function: Callable[..., Any], module: torch.nn.Module | None) -> Conditions:
    """What holds now for a call of `function`, or of the `forward` of a module."""
    names = {
        (id(found), name): (found, name, found[name])
        for found, code in _codes(function, module)
        for name in code.co_names
        if isinstance(found.get(name, found), _PLAIN)
    }
    return Conditions(torch.is_grad_enabled(), None if module is None else module.training, tuple(names.values()))


def _codes(function: Callable[..., Any], module: torch.nn.Module | None) -> Iterator[tuple[dict[str, Any], CodeType]]:
    """The user's code that runs, with its globals, as far as that can be seen without running it."""
    kinds = {type(each) for each in foreign.parts_of(module)} if module is not None else set()
    for found in (function, *(foreign.namespace(kind).get("forward") for kind in kinds)):
        code, names = foreign.code_of(found), foreign.globals_of(found)
        if code is not None and names:
            yield names, code


def _guarded(leaf: Any) -> tuple[Any, ...]:
    if isinstance(leaf, torch.Tensor):
        sizes = () if leaf.is_nested else tuple(map(str, leaf.shape))
        return "tensor", sizes, leaf.dtype, leaf.requires_grad, leaf.device
    if isinstance(leaf, _PLAIN):
        return type(leaf), repr(leaf)
    return type(leaf), id(leaf)
