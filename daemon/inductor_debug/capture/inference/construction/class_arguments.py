"""Classes as arguments of a constructor that makes its parts of them: `ResNet(block, layers)` is given `BasicBlock`.

Which class of the project is meant is told by what the constructor asks of it: the calls that its own constructor must
take, the class attributes that are read (`block.expansion`), and only then its name. Nothing is called here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from torch import nn

from inductor_debug.capture.inference.construction import annotated, signatures
from inductor_debug.capture.inference.construction.demand import CallForm, Demand
from inductor_debug.capture.runtime import foreign

_OF_TORCH: tuple[tuple[str, Callable[..., nn.Module]], ...] = (
    *(("conv1d", nn.Conv1d), ("conv3d", nn.Conv3d), ("conv", nn.Conv2d)),
    *(("linear", nn.Linear), ("dense", nn.Linear), ("embed", nn.Embedding), ("dropout", nn.Dropout)),
)
"""Layers of torch's by what names have in them."""


def class_for(owner: Any, name: str, demand: Demand, module: ModuleType) -> Callable[..., Any] | None:
    """The class that an argument of `owner` stands for; None where none fits, or several do and none is called so.

    Where it is none of the project's, a function of the file that makes such layers (`default_conv`), or torch's own.

    Args:
        owner: the class that is built, which is never its own part.
        name: the argument.
        demand: what `owner` does with it; where its calls cannot be counted, nothing is known of it.
        module: the file, whose classes may be meant, and those that it imports from the project.
    """
    if not demand.calls:
        return None
    known = (kind for kind in vars(module).values() if foreign.is_a(kind, type) and issubclass(kind, nn.Module))
    own = [kind for kind in dict.fromkeys(known) if annotated.is_of_project(kind) and kind is not owner]
    fitting = [kind for kind in own if _fits(kind, demand)]
    plain = name.replace("_", "").lower()
    called_so = [kind for kind in fitting if plain in kind.__name__.lower() or kind.__name__.lower() in plain]
    telling = bool(demand.fields) or any(call.positional + len(call.named) > 1 for call in demand.calls)
    certain = called_so or (fitting if len(fitting) == 1 and telling else [])
    return next(iter(certain), None) or _made_by(plain, demand, module)


def _made_by(plain: str, demand: Demand, module: ModuleType) -> Callable[..., Any] | None:
    """What makes layers that are called `plain`, as they are made; classes are asked for attributes alone."""
    functions: list[Callable[..., Any]] = list(filter(inspect.isfunction, vars(module).values()))
    functions = [item for item in functions if annotated.is_in_project(item)]
    named = [item for item in functions if item.__name__.replace("_", "").lower().endswith(plain)]
    layers = [layer for word, layer in _OF_TORCH if word in plain]
    fitting = [item for item in (*named, *layers) if all(_takes(item, call) for call in demand.calls)]
    return next(iter(fitting), None) if not demand.fields else None


def _fits(kind: type[nn.Module], demand: Demand) -> bool:
    return all(hasattr(kind, field) for field in demand.fields) and all(_takes(kind, call) for call in demand.calls)


def _takes(kind: Callable[..., Any], call: CallForm) -> bool:
    """Whether a constructor, or a function, can be called so."""
    parameters = signatures.known_parameters(kind)
    if parameters is None:
        return False
    try:
        inspect.Signature(parameters).bind(*[None] * call.positional, **dict.fromkeys(call.named))
    except (TypeError, ValueError):
        return False
    return True
