"""What `torch.save` does while a file is checked: nothing, unless writing is allowed, and never with fake tensors.

It opens its file without Python's knowing, so no audit event tells of it. A checkpoint of tensors that have no values
would write over one that has. What is saved in memory is saved as ever: whoever does that loads it again. The same goes
for `torch.jit.save`, and for `save` of what `torch.jit` has made.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from inductor_debug.capture.tensors.fake_mode import is_fake, without_modes

_WITHOUT_VALUES = "torch.save wrote nothing, because the tensors that it was given have no values in a check."


@contextlib.contextmanager
def saving(allowed: bool, notes: list[str]) -> Iterator[None]:
    """Replaces `torch.save`, and what saves scripted modules, meanwhile.

    Args:
        allowed: whether user code may write; where it may not, saving is passed over in silence.
        notes: told where there was nothing to save.
    """
    original = torch.save

    def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        if not allowed and not is_in_memory(f):
            return
        if not is_in_memory(f) and holds_no_values(obj):
            notes.append(_WITHOUT_VALUES)
            return
        with without_modes():
            original(obj, f, *args, **kwargs)

    torch.save = save
    try:
        with contextlib.nullcontext() if allowed else _scripted_in_memory_alone():
            yield
    finally:
        torch.save = original


@contextlib.contextmanager
def _scripted_in_memory_alone() -> Iterator[None]:
    """Has scripted and traced modules be saved into no file meanwhile."""
    places: list[tuple[Any, str]] = [
        (torch.jit, "save"),
        (torch.jit.ScriptModule, "save"),
        (getattr(torch.jit, "RecursiveScriptModule"), "save"),  # noqa: B009  public, but exported to no type checker
    ]
    originals = [getattr(owner, name) for owner, name in places]
    for (owner, name), original in zip(places, originals, strict=True):
        setattr(owner, name, _in_memory_alone(original))
    try:
        yield
    finally:
        for (owner, name), original in zip(places, originals, strict=True):
            setattr(owner, name, original)


def _in_memory_alone(original: Callable[..., Any]) -> Callable[..., None]:
    """What saves the first of its arguments into the second, where that is no file."""

    def save(scripted: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        if is_in_memory(f):
            original(scripted, f, *args, **kwargs)

    return save


def is_in_memory(file: Any) -> bool:
    """Whether what is saved goes into no file."""
    return isinstance(file, io.BytesIO)


def holds_no_values(obj: Any) -> bool:
    """Whether what is to be saved has tensors without values."""
    return any(is_fake(tensor) for tensor in _tensors(obj))


def _tensors(obj: Any) -> Iterator[torch.Tensor]:
    for leaf in pytree.tree_leaves(obj):
        if isinstance(leaf, torch.nn.Module):
            yield from leaf.state_dict().values()
        elif isinstance(leaf, torch.Tensor):
            yield leaf
