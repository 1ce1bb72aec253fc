"""Questions about the objects that conventions find: what they are, and whether two are the same. Calls nothing."""

from __future__ import annotations

from typing import Any

import torch

from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.interception import unwrap


def identity_of(subject: Any, module: str) -> tuple[int, ...]:
    """The class for a class of this `module` and its instances, the code for a function, else the object itself."""
    subject = unwrap(subject)
    kind = subject if foreign.is_a(subject, type) else type(subject)
    if foreign.module_name(kind) == module:
        return (id(kind),)
    return (id(foreign.code_of(subject) or subject),)


def is_function(subject: Any) -> bool:
    """Whether `subject` can be called as it is, and is no model."""
    return callable(subject) and not foreign.is_a(subject, type) and not foreign.is_a(subject, torch.nn.Module)
