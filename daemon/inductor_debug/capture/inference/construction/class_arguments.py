"""Classes as arguments of a constructor that makes its parts of them: `ResNet(block, layers)` is given `BasicBlock`.

Which class of the project is meant is told by what the constructor asks of it: the calls that its own constructor must
take, the class attributes that are read (`block.expansion`), and only then its name. Nothing is called here.
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from torch import nn

from inductor_debug.capture.inference.construction import annotated, signatures
from inductor_debug.capture.inference.construction.demand import CallForm, Demand
from inductor_debug.capture.runtime import foreign


def class_for(owner: Any, name: str, demand: Demand, module: ModuleType) -> type[nn.Module] | None:
    """The class that an argument of `owner` stands for; None where none fits, or several do and none is called so.

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
    return next(iter(certain), None)


def _fits(kind: type[nn.Module], demand: Demand) -> bool:
    return all(hasattr(kind, field) for field in demand.fields) and all(_takes(kind, call) for call in demand.calls)


def _takes(kind: type[nn.Module], call: CallForm) -> bool:
    """Whether a constructor can be called so."""
    parameters = signatures.known_parameters(kind)
    if parameters is None:
        return False
    try:
        inspect.Signature(parameters).bind(*[None] * call.positional, **dict.fromkeys(call.named))
    except (TypeError, ValueError):
        return False
    return True
