"""Questions about the objects that conventions find: what they are, and whether two are the same. Calls nothing."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from inductor_debug.capture.interception import unwrap


def identity_of(subject: Any, module: str) -> tuple[int, ...]:
    """The class for a class of this `module` and its instances, the code for a function, else the object itself."""
    subject = unwrap(subject)
    kind = subject if isinstance(subject, type) else type(subject)
    if kind.__module__ == module:
        return (id(kind),)
    return (id(getattr(subject, "__code__", subject)),)


def is_function(subject: Any) -> bool:
    """Whether `subject` can be called as it is, and is no model."""
    return callable(subject) and not isinstance(subject, type) and not isinstance(subject, torch.nn.Module)


def needs_no_arguments(subject: Any) -> bool:
    """Whether calling `subject` with nothing fits its signature."""
    try:
        inspect.signature(subject).bind()
    except (TypeError, ValueError):
        return False
    return True
