"""Modules and tensors in place of those that a constructor is to be given and nobody wrote down, as its class asks.

Such a module takes whatever it is called with, and gives back its first argument, as often as the call unpacks results:
a layer that keeps the shape. It is spelled in full, so that a directive that names it builds the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.inference.construction.demands import Demand
from inductor_debug.capture.inference.construction.invention import integer

_FEWEST = 2
"""Modules in a list: one alone would show nothing of how they follow each other."""


@dataclass(frozen=True)
class StandIn:
    """What is given, as text, and how it is made anew."""

    text: str
    make: Callable[[], Any]


def stand_in_for(demand: Demand) -> StandIn | None:
    """What an argument is given of which modules are asked, or a tensor; None where it is not plain that they are.

    A tensor is as large as the table of an embedding whose sizes are invented. A single module that is called with one
    value, and gives one, needs none: `Identity` does.
    """
    if "tensor" in demand.roles:
        rows, width = integer("num_embeddings"), integer("embedding_dim")
        return StandIn(f"torch.zeros({rows}, {width})", lambda: torch.zeros(rows, width))
    if demand.item is not None:
        return _several(demand)
    return _module(demand) if "callable" in demand.roles and (demand.results or demand.arguments) else None


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
    forward = f"lambda self, x, *args, **kwargs: {result}"
    text = f"type('Module', (torch.nn.Module,), {{'forward': {forward}}})()"
    return StandIn(text, lambda: eval(text, {"torch": torch, "__name__": nn.__name__}))
