"""What a backend looks like whose arithmetic can be had one operation at a time.

Emulated accelerators are such backends, and so are adapters that compute single operations. Graphs of theirs are run
node by node; anything else is opaque and is localised by cutting graphs (`localise`).
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch.fx import Node

from inductor_debug.accelerators.number_formats import NumberFormat
from inductor_debug.kerneldiff.execution.node_graphs import plainly

_SMALLEST_UNIT = torch.finfo(torch.float64).eps


class Arithmetic(Protocol):
    """Computes operations as a backend does.

    `unit` is the distance between 1 and the next number of the format that results are stored in.
    """

    name: str
    unit: float

    def compute(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The backend's result for one node, in tensors of the same dtypes that eager gives."""
        ...

    def ideal(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The best result that any backend with the same number format could give."""
        ...


def running_totals(arithmetic: Arithmetic | None) -> NumberFormat | None:
    """The format in which sums are formed, where an arithmetic has the attribute of that name; None for float32."""
    found = getattr(arithmetic, "running_totals", None)
    return found if isinstance(found, NumberFormat) else None


def is_reference(arithmetic: Arithmetic) -> bool:
    """Whether an arithmetic uses the reference's own kernels, so that nothing excuses a difference."""
    return bool(getattr(arithmetic, "is_reference", False))


def received(arithmetic: Arithmetic, value: Any) -> Any:
    """Arguments as the backend has them, where an arithmetic has the method of that name; else as they are."""
    receive = getattr(arithmetic, "received", None)
    return value if receive is None else receive(value)


class Eager:
    """Eager's own arithmetic, as a transparent backend: what comparing a model with itself means."""

    is_reference = True

    def __init__(self, unit: float) -> None:
        self.name, self.unit = "eager", unit

    def compute(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """As eager does."""
        return plainly(node, args, kwargs)

    ideal = compute


def unit_of(dtype: torch.dtype) -> float:
    """The distance between 1 and the next number of `dtype`; 0 for integers, for which nothing is rounded."""
    if dtype.is_complex:
        return torch.finfo(dtype.to_real()).eps
    return torch.finfo(dtype).eps if dtype.is_floating_point else 0.0


def at_least(unit: float) -> float:
    """`unit`, or float64's where there is none."""
    return max(unit, _SMALLEST_UNIT)
