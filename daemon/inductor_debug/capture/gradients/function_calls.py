"""Which custom autograd functions a run calls, and with what: metadata of tensors, and all else as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Like:
    """A tensor of a call: what one like it needs to be."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    requires_grad: bool


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """The first call of a function that gradients flow through.

    `arguments` are those of `apply`, tensors as `Like`, where they were asked for. `kept` are the attributes of its
    context that hold, past `save_for_backward`, a tensor that it was given or gives.
    """

    function: type[torch.autograd.Function]
    arguments: tuple[Any, ...]
    kept: tuple[str, ...]


@contextmanager
def function_calls(wanted: Callable[[type], bool], *, sized: bool = True) -> Iterator[list[FunctionCall]]:
    """Collects a call of each function that is `wanted`, until it is left; without arguments unless `sized`.

    Sizes that are symbols would become numbers if they were asked for.
    """
    found: dict[type, FunctionCall] = {}
    calls: list[FunctionCall] = []
    original: Any = torch.autograd.Function.__dict__["apply"]

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        result = original.__get__(None, cls)(*args, **kwargs)  # Python's or, since torch 2.14, C's
        if cls not in found and wanted(cls) and not kwargs:
            outputs = [leaf for leaf in _flat(result) if isinstance(leaf, torch.Tensor)]
            found[cls] = FunctionCall(cls, tuple(map(_like, args)) if sized else (), _kept(args, outputs))
            calls.append(found[cls])
        return result

    torch.autograd.Function.apply = classmethod(apply)  # type: ignore[assignment, method-assign]
    try:
        yield calls
    finally:
        torch.autograd.Function.apply = original  # type: ignore[method-assign]


def _like(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return Like(tuple(int(size) for size in value.shape), value.dtype, value.requires_grad)
    return value


def _kept(args: tuple[Any, ...], outputs: list[torch.Tensor]) -> tuple[str, ...]:
    """Attributes of the context, which is the node of autograd's graph that the function becomes."""
    node = next((output.grad_fn for output in outputs if output.grad_fn is not None), None)
    given = {id(value) for value in (*args, *outputs) if isinstance(value, torch.Tensor)}
    return tuple(name for name, value in getattr(node, "__dict__", {}).items() if id(value) in given)


def _flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]
