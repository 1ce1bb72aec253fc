"""Modules that are built while the model runs: whatever breaks in their constructors, there is one thing to mend.

Reads names and frames, and constructs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

import torch

from inductor_debug.capture.expressions.spans import name_of

_CONSTRUCTOR = ".__init__"


def constructors_among(functions: Iterable[tuple[str, Mapping[str, Any]]]) -> frozenset[str]:
    """Those of some functions, by name and globals, that are constructors of classes of `torch.nn.Module`."""
    return frozenset(name for name, known in functions if _is_of_a_module(name, known))


def constructors_below(frame: FrameType | None) -> frozenset[str]:
    """The constructors of modules that run below a Python frame, by name."""
    found = set()
    while frame is not None:
        if frame.f_code.co_name == "__init__" and isinstance(frame.f_locals.get("self"), torch.nn.Module):
            found.add(name_of(frame.f_code))
        frame = frame.f_back
    return frozenset(found)


def _is_of_a_module(name: str, known: Mapping[str, Any]) -> bool:
    if not name.endswith(_CONSTRUCTOR):
        return False
    first, *rest = name.removesuffix(_CONSTRUCTOR).split(".")
    owner = known.get(first)
    for part in rest:
        owner = vars(owner).get(part) if isinstance(owner, type) else None
    return isinstance(owner, type) and issubclass(owner, torch.nn.Module)
