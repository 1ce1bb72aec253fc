"""Classes of the project that a constructor's arguments are, or are instances of.

`ResNet(block, layers)` makes its parts of `block` and is given `BasicBlock`; `Pair(encoder, decoder)` is given an
`Encoder`. Which class is meant is told by what the code asks of it (the calls that it must take, the attributes that
are read) and by its name. Nothing is called here.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from torch import nn

from inductor_debug.capture.failures.attributes.known import Attributes
from inductor_debug.capture.inference.construction import annotated, signatures
from inductor_debug.capture.inference.construction.demand import CallForm, Demand
from inductor_debug.capture.runtime import foreign

_OF_TORCH: tuple[tuple[str, Callable[..., nn.Module]], ...] = (
    *(("conv1d", nn.Conv1d), ("conv3d", nn.Conv3d), ("conv", nn.Conv2d)),
    *(("linear", nn.Linear), ("dense", nn.Linear), ("embed", nn.Embedding), ("dropout", nn.Dropout)),
)
"""Layers of torch's by what names have in them."""
_SHORTEST = 4
"""Letters of a name that tells something."""


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
    return _binds(signatures.known_parameters(kind), call)


def _binds(parameters: list[inspect.Parameter] | None, call: CallForm, more: int = 0) -> bool:
    """Whether a call fits parameters, `more` arguments being given by position without being written."""
    if parameters is None:
        return False
    try:
        inspect.Signature(parameters).bind(*[None] * (call.positional + more), **dict.fromkeys(call.named))
    except (TypeError, ValueError):
        return False
    return True


def part_class(owner: Any, name: str, demand: Demand, module: ModuleType) -> type[nn.Module] | None:
    """The class of the file that an argument of `owner` is an instance of; None where none is plainly meant.

    After `ImageEncoder` only what is used as a module is called `encoder`.
    """
    plain = name.replace("_", "").lower()
    own = {
        kind.__name__.lower(): kind
        for kind in vars(module).values()
        if foreign.is_a(kind, type)
        and issubclass(kind, nn.Module)
        and foreign.module_name(kind) == module.__name__
        and kind is not owner
    }
    is_module = bool({"module", "callable"} & set(demand.roles)) or demand.has_weights
    if plain in own or not is_module or demand.texts:
        return own.get(plain)
    asked = list(demand.fields)
    if asked:
        attributes = Attributes(ast.Module([], []), module)
        able = [kind for kind in own.values() if _does(kind, asked, demand, attributes)]
        called_so = [kind for kind in able if kind.__name__.lower().startswith(plain)]
        if len(able) == 1 or called_so:
            return (called_so or able)[0]
    if len(plain) < _SHORTEST:
        return None
    like = [kind for key, kind in own.items() if key.endswith(plain)]
    like += [kind for key, kind in own.items() if plain.endswith(key) and len(key) >= _SHORTEST]
    return like[0] if like else None


def _does(kind: type[nn.Module], asked: list[str], demand: Demand, attributes: Attributes) -> bool:
    """Whether an instance has, of its own, all that is asked for, and can be called as it is."""
    known = attributes.of(kind)
    if known.anything or not all(name in known.names for name in asked):
        return False
    return all(_binds(foreign.parameters(kind.forward), call, 1) for call in demand.calls)
