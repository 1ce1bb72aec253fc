"""Modules and tensors in place of those that a constructor is to be given and nobody wrote down, as its class asks.

Such a module takes whatever it is called with, and gives back its first argument, as often as the call unpacks results:
a layer that keeps the shape. It is spelled in full, so that a directive that names it builds the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.inference.construction.demand import Demand
from inductor_debug.capture.inference.construction.invention import integer
from inductor_debug.capture.inference.specs.argument_names import default_size, specs_for

_WIDTH = re.compile(r"(.*_)?(emb\w*|words?|chars?|token)_?(dim\w*|size|width)")
"""What the width of a table of embeddings is called."""
_MOST_TENSORS = 4
"""Tensors in a list, which are counted by another argument perhaps: more than are used do no harm."""
_FEWEST = 2
"""Modules in a list: one alone would show nothing of how they follow each other."""


_LAYERS: dict[str, Callable[[], nn.Module]] = {
    "torch.nn.Linear(64, 64)": lambda: nn.Linear(64, 64),
    "torch.nn.Conv2d(64, 64, 3, padding=1)": lambda: nn.Conv2d(64, 64, 3, padding=1),
    "torch.nn.BatchNorm2d(64)": lambda: nn.BatchNorm2d(64),
    "torch.nn.BCEWithLogitsLoss()": nn.BCEWithLogitsLoss,
}
"""Layers and a loss by the expressions that make them: what is asked for attributes is most likely one of these."""


@dataclass(frozen=True)
class StandIn:
    """What is given, as text, and how it is made anew."""

    text: str
    make: Callable[[], Any]


def stand_in_for(demand: Demand) -> StandIn | None:
    """What an argument is given of which modules are asked; None where it is not plain that they are.

    A single module that is called with one value, and gives one, needs none: `Identity` does.
    """
    if demand.item is not None:
        return _several(demand)
    if "reduction" in demand.fields and (loss := _layer_with(demand.fields.keys())) is not None:
        return loss
    if "callable" in demand.roles and (demand.results or demand.arguments):
        return _module(demand)
    is_layer = "module" in demand.roles or ("callable" in demand.roles and demand.fields) or demand.has_weights
    return _layer_with(demand.fields.keys()) if is_layer else None


def _layer_with(names: Collection[str]) -> StandIn | None:
    """A layer of torch's that has attributes of these names, and takes what it gives; None where none has."""
    for text, make in _LAYERS.items():
        layer = make()
        if all(getattr(layer, name, None) is not None for name in names):
            return StandIn(text, make)
    return None


def data_for(demand: Demand, known: Mapping[str, Any], alternative: int = 0, name: str = "") -> StandIn | None:
    """The tensor or the array of NumPy that an argument is given; None where neither is asked for.

    What is called like boxes or points (`priors`) has as many numbers in each as those have.
    """
    if demand.is_tensor:
        return tensor_for(demand, known, alternative, name)
    if demand.item is not None and (demand.item.is_tensor or demand.item.fields.keys() == {"device"}):
        one, count = tensor_for(demand.item, {}, alternative), max(demand.count, _MOST_TENSORS)
        return StandIn(f"[{', '.join([one.text] * count)}]", lambda: [one.make() for _ in range(count)])
    if "array" not in demand.roles and "astype" not in demand.fields:
        return None
    if "optional" in demand.roles:
        return StandIn("None", lambda: None)
    table = tensor_for(Demand(["tensor"]), known, alternative)
    return StandIn(f"{table.text}.numpy()", lambda: table.make().numpy())


def tensor_for(demand: Demand, known: Mapping[str, Any], alternative: int = 0, name: str = "") -> StandIn:
    """The tensor that an argument is given: a table of embeddings, else one with as many sizes as it is asked for.

    The table is as wide as an argument before it says. All sizes of others are the first size among the arguments
    before it, which are `known`. Where no rank is told, it is a matrix at first, and a vector in the other
    alternatives.
    """
    widths = (value for name, value in known.items() if _WIDTH.fullmatch(name.lower()) and type(value) is int)
    sizes = [integer("num_embeddings", alternative), next(widths, integer("embedding_dim", alternative))]
    if "tensor" not in demand.roles:
        rank = max(demand.fields["shape"].count if "shape" in demand.fields else 0, 2 - min(alternative, 1))
        sizes = [next((value for value in known.values() if type(value) is int and value > 1), integer("dim"))] * rank
        sizes = next(_rows_called(name), sizes) if alternative == 0 else sizes
    text = f"torch.zeros({', '.join(map(str, sizes))})"
    if "parameter" in demand.roles:
        return StandIn(f"torch.nn.Parameter({text})", lambda: nn.Parameter(torch.zeros(sizes)))
    return StandIn(text, lambda: torch.zeros(sizes))


def _rows_called(name: str) -> Iterator[list[int]]:
    """The sizes of tensors whose rows have a number of items that their name tells."""
    for spec in specs_for(name):
        if len(spec.dims) > 1 and isinstance(spec.dims[-1], int) and spec.dtype.startswith("float"):
            yield [dim if isinstance(dim, int) else default_size(dim, {}) for dim in spec.dims]


def _several(demand: Demand) -> StandIn | None:
    assert demand.item is not None
    inner = _several(demand.item) if demand.item.item is not None else None
    if inner is None and "callable" in demand.item.roles:
        inner = _module(demand.item)
    if inner is None:
        return None
    count = max(demand.count, _FEWEST)
    listed, one = ", ".join([inner.text] * count), inner.make
    if demand.unpacked:
        return StandIn(f"({listed})", lambda: tuple(one() for _ in range(count)))
    return StandIn(f"[{listed}]", lambda: [one() for _ in range(count)])


def _module(demand: Demand) -> StandIn:
    if not demand.results and not demand.arguments:
        return StandIn("torch.nn.Identity()", nn.Identity)
    result = f"({', '.join(['x'] * demand.results)})" if demand.results else "x"
    members = {"forward": f"lambda self, x, *args, **kwargs: {result}"}
    # Its sizes are read as well: `self.max_seq_len = net.max_seq_len`.
    read = (name for name, asked in demand.fields.items() if not asked.fields and "callable" not in asked.roles)
    members |= {name: str(integer(name)) for name in read if not hasattr(nn.Module, name)}
    inside = ", ".join(f"{name!r}: {value}" for name, value in members.items())
    text = f"type('Module', (torch.nn.Module,), {{{inside}}})()"
    return StandIn(text, lambda: eval(text, {"torch": torch, "__name__": nn.__name__}))
