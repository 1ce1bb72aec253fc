"""What a constructor takes, and whether a class is a configuration: read from signatures, nothing is called."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from torch import nn


def parameters(kind: type) -> list[inspect.Parameter]:
    """The named parameters of a constructor; raises TypeError or ValueError where it has no signature."""
    signature = inspect.signature(kind)
    skipped = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [item for item in signature.parameters.values() if item.kind not in skipped]


def spelled(annotation: Any) -> str:
    """An annotation as people write it; empty where there is none."""
    if annotation is inspect.Parameter.empty:
        return ""
    return (
        annotation.__name__
        if isinstance(annotation, type) and not getattr(annotation, "__args__", None)
        else str(annotation)
    )


def is_configuration(kind: type) -> bool:
    """Whether a class is a dataclass, a configuration of a library, or called one."""
    if dataclasses.is_dataclass(kind):
        return True
    return any(base.__name__ in ("PretrainedConfig", "PreTrainedConfig", "BaseModel") for base in kind.__mro__) or (
        kind.__name__.lower().endswith(("config", "args", "configuration")) and not issubclass(kind, nn.Module)
    )


def needs_nothing(kind: type) -> bool:
    """Whether a class can be built without arguments."""
    try:
        inspect.signature(kind).bind()
    except (TypeError, ValueError):
        return False
    return True


def known_parameters(kind: Any) -> list[inspect.Parameter] | None:
    """The parameters of a constructor, if it has a signature and takes nothing but those."""
    try:
        every = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return None
    free = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return None if any(item.kind in free for item in every) else list(every)
