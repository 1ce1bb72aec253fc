"""How a program calls again what it has compiled: with other arguments, in another mode, after a global has changed.

Each kind of call is taken down once, by what torch guards (sizes and dtypes of tensors, values of numbers), so that a
loop costs as much as its differences. `Conditions` put back, for a call that is repeated, what held when it was made:
also the plain values that the program has changed in between (`held_values`), and how torch was set.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from inductor_debug.capture.runtime.held_values import PLAIN, Held, HeldNames, held_values
from inductor_debug.rules.recording.ops import Frame

_CONFIGURATIONS = (torch._dynamo.config, torch.compiler.config)
"""What says how Dynamo compiles. Their type (`torch.utils._config_module`) is private, its methods are not."""
MOST = 8
"""Calls that are kept; torch makes as many versions of a function."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a call was made under. `values` are those that its code reads of what outlives a call.

    `settings` are those of torch by which code is compiled, for each of its configurations.
    """

    gradients: bool
    training: bool | None
    values: tuple[Held, ...]
    settings: tuple[dict[str, Any], ...] = ()

    @contextlib.contextmanager
    def set_as_here(self, otherwise: Conditions | None = None) -> Iterator[None]:
        """Has torch be set as it was; only in what is not as in `otherwise`, or now."""
        known = otherwise.settings if otherwise is not None else _settings()
        with contextlib.ExitStack() as patches:
            for configuration, wanted, before in zip(_CONFIGURATIONS, self.settings, known, strict=False):
                changed = {name: value for name, value in wanted.items() if before.get(name, value) != value}
                if changed:
                    patches.enter_context(configuration.patch(changed))
            yield

    @contextlib.contextmanager
    def held(self, module: torch.nn.Module | None) -> Iterator[None]:
        """Holds all but the settings for a call; the caller puts the state of modules and globals back."""
        if module is not None and self.training is not None and module.training != self.training:
            module.train(self.training)
        later = [value.now() for value in self.values if isinstance(value, HeldNames)]
        for value in self.values:
            value.put_back()
        try:
            with torch.set_grad_enabled(self.gradients):
                yield
        finally:
            # What the program defines later is not in the call, and not lost with it.
            for names in later:
                names.complete()


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
    _given: set[tuple[Any, ...]] = field(default_factory=set)

    @property
    def same_arguments(self) -> bool:
        """Whether all calls are given equal arguments, and differ in what they are made under."""
        return len(self._given) <= 1

    def is_new(self, args: tuple[Any, ...], kwargs: dict[str, Any], conditions: Conditions) -> bool:
        """Whether a call differs from every one before, in something that torch may guard; it counts from now on."""
        if len(self._seen) >= MOST:
            return False
        leaves, form = pytree.tree_flatten((args, kwargs))
        given = (tuple(map(_guarded, leaves)), _same_objects(leaves), str(form))
        values = tuple(value.identity for value in conditions.values)
        key = (given, conditions.gradients, conditions.training, values)
        known = key in self._seen
        self._given.add(given)
        self._seen.add(key)
        return not known


def conditions_of(
    function: Callable[..., Any], module: torch.nn.Module | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Conditions:
    """What holds now for a call of `function`, or of the `forward` of a module, with these arguments."""
    training = None if module is None else module.training
    held = held_values(function, module, [*args, *kwargs.values()])
    return Conditions(torch.is_grad_enabled(), training, held, _settings())


def _settings() -> tuple[dict[str, Any], ...]:
    """The plain settings of torch's configurations."""
    return tuple(
        {name: value for name, value in each.get_config_copy().items() if type(value) in PLAIN and name[0] != "_"}
        for each in _CONFIGURATIONS
    )


def _same_objects(leaves: list[Any]) -> tuple[int, ...]:
    """For each tensor the number of the first argument that is the same one: torch guards that, too."""
    first: dict[int, int] = {}
    return tuple(
        first.setdefault(id(leaf), number) for number, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)
    )


def _guarded(leaf: Any) -> tuple[Any, ...]:
    if isinstance(leaf, torch.Tensor):
        sizes = () if leaf.is_nested else tuple(map(str, leaf.shape))
        return "tensor", sizes, leaf.dtype, leaf.requires_grad, leaf.device
    if isinstance(leaf, PLAIN):
        return type(leaf), repr(leaf)
    return type(leaf), id(leaf)
