"""What a constructor takes, and whether a class is a configuration: read from signatures, nothing is called."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from torch import nn

from inductor_debug.capture.inference.construction.annotated import is_of_project
from inductor_debug.capture.inference.construction.demand import Demand
from inductor_debug.capture.runtime import foreign

_FREE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def parameters(kind: Any) -> list[inspect.Parameter] | None:
    """The named parameters of a constructor; None where it has no signature."""
    every = _parameters(kind)
    return [item for item in every if item.kind not in _FREE] if every is not None else None


def known_parameters(kind: Any) -> list[inspect.Parameter] | None:
    """The parameters of a constructor, if it has a signature and takes nothing but those."""
    every = _parameters(kind)
    return every if every is not None and not any(item.kind in _FREE for item in every) else None


def takes_more(kind: Any) -> tuple[bool, bool]:
    """Whether a constructor takes any number of arguments by position, and by name, that it has no names for."""
    kinds = {item.kind for item in _parameters(kind) or ()}
    return _FREE[0] in kinds, _FREE[1] in kinds


def others_by_name(kind: Any) -> str:
    """What a constructor calls the arguments that it has no names for, `kwargs`; empty where it takes none."""
    return next((item.name for item in _parameters(kind) or () if item.kind is inspect.Parameter.VAR_KEYWORD), "")


def by_name(kind: Any) -> dict[str, inspect.Parameter]:
    """What a constructor takes by name."""
    positional = inspect.Parameter.POSITIONAL_ONLY
    return {item.name: item for item in parameters(kind) or [] if item.kind is not positional}


def _parameters(kind: Any) -> list[inspect.Parameter] | None:
    found = foreign.parameters(kind)
    if foreign.is_a(kind, type) and found and all(item.kind in _FREE for item in found):
        # A metaclass that hands on what it is given, perhaps: the constructor says more.
        own = foreign.parameters(foreign.attribute(kind, "__init__"))
        return None if own is None else own[1:]
    return found


def spelled(annotation: Any) -> str:
    """An annotation as people write it; empty where there is none."""
    if annotation is inspect.Parameter.empty:
        return ""
    if foreign.is_a(annotation, type) and not foreign.attribute(annotation, "__args__"):
        return foreign.name_of(annotation)
    return annotation if foreign.is_a(annotation, str) else foreign.representation(annotation)


def is_configuration(kind: type) -> bool:
    """Whether a class is a dataclass, a configuration of a library, or called one."""
    if dataclasses.is_dataclass(kind):
        return True
    return any(base.__name__ in ("PretrainedConfig", "PreTrainedConfig", "BaseModel") for base in kind.__mro__) or (
        kind.__name__.lower().endswith(("config", "args", "configuration")) and not issubclass(kind, nn.Module)
    )


def has_fields(kind: Any, demand: Demand) -> bool:
    """Whether a plain class of the project has, on itself or from its constructor, all that is asked for.

    One field alone must be a method.
    """
    if not is_of_project(kind) or issubclass(kind, nn.Module):
        return False
    methods = {name for name, inner in demand.fields.items() if "callable" in inner.roles}
    fields = {*dir(kind), *(item.name for item in known_parameters(kind) or [])}
    return len(demand.fields) + len(methods) > 1 and demand.fields.keys() <= fields


def mangled(name: str, method: Any) -> str:
    """The name of an argument as Python has it: `__config` of a class is `_Model__config` to everybody else."""
    owner = getattr(method, "__qualname__", "").split(".")[-2:][0].lstrip("_")
    return f"_{owner}{name}" if owner and name.startswith("__") and not name.endswith("__") else name
