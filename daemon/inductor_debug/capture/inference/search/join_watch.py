"""Sees which tensors are joined by the call that refuses them: arguments as they came, and what was computed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_JOINS = ("cat", "concat", "concatenate")


@dataclass(frozen=True, slots=True)
class Joined:
    """A tensor that was to be joined with others; `argument` is that of the call which it is, if it is one."""

    argument: str | None
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """What was to be joined, and along which dimension."""

    operands: tuple[Joined, ...] = ()
    dim: int = 0


class JoinWatch(TorchFunctionMode):
    """Changes nothing of a run. `join` is the last one that was refused.

    Args:
        names: of the arguments that are given by position.
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self.join = Join()
        self._names = names
        self._given: dict[int, str] = {}

    @contextlib.contextmanager
    def active(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[None]:
        """Watches meanwhile what is done with the arguments of a call."""
        named = (*zip(self._names, args, strict=False), *kwargs.items())
        self._given = {id(value): name for name, value in named if isinstance(value, torch.Tensor)}
        with self:
            yield

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        try:
            return function(*args, **kwargs)
        except Exception:
            if getattr(function, "__name__", "") in _JOINS:
                self._remember(args, kwargs)
            raise

    def _remember(self, args: Any, kwargs: Mapping[str, Any]) -> None:
        joined = args[0] if args else kwargs.get("tensors", ())
        dim = args[1] if len(args) > 1 else kwargs.get("dim", kwargs.get("axis", 0))
        if isinstance(joined, list | tuple) and all(isinstance(item, torch.Tensor) for item in joined):
            found = (Joined(self._given.get(id(item)), tuple(map(int, item.shape))) for item in joined)
            self.join = Join(tuple(found), dim if isinstance(dim, int) else 0)
