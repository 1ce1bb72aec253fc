"""Faults of accelerators, put into a backend's arithmetic on purpose: what the tool is tested against itself with.

Each is one that real accelerators had. A fault spoils every operation that it can, or those of one source line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node
from torch.utils import _pytree as pytree

from inductor_debug.accelerators.number_formats import BFLOAT16, NumberFormat, number_format
from inductor_debug.accelerators.sticks import STICK_BYTES
from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.kerneldiff.emulation.accumulation import Accumulator, accumulates
from inductor_debug.kerneldiff.emulation.emulation import is_view, written_arguments
from inductor_debug.kerneldiff.emulation.fault_effects import FaultEffect
from inductor_debug.kerneldiff.execution.node_graphs import gives_no_values
from inductor_debug.kerneldiff.execution.operation_arithmetic import (
    Arithmetic,
    is_reference,
    received,
    running_totals,
)
from inductor_debug.kerneldiff.execution.random_numbers import random_state_kept

_TOO_FEW_BITS = 3
_PIECE = 4


class ArithmeticFault(str, Enum):
    """What can go wrong."""

    DROP_LAST_STICK = "drop-last-stick"
    """The last stick of the innermost dimension is lost: of the result, or of what a sum adds up."""
    ZERO_OUTPUT = "zero-output"
    """A fallback never runs and its result is all zeros."""
    DOWNCAST_INT64 = "downcast-int64"
    """64-bit integers keep their lower 32 bits."""
    REDUCTION_ORDER = "reduction-order"
    """Sums are formed from the last element on, four at a time, in a running total of at most 8 significant bits."""
    WRONG_ROUNDING = "wrong-rounding"
    """Results are cut off instead of rounded, three bits too early."""


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault, everywhere or at operations of one source line (counted from zero)."""

    fault: ArithmeticFault
    line: int | None = None

    @property
    def text(self) -> str:
        """As `read_injection` reads it."""
        return self.fault.value if self.line is None else f"{self.fault.value}@{self.line + 1}"


def read_injection(text: str) -> Injection:
    """Reads `FAULT` or `FAULT@LINE`, the line counted from one as editors show it.

    Raises:
        ValueError: there is no such fault, or the line is no number.
    """
    name, at, line = text.partition("@")
    names = [fault.value for fault in ArithmeticFault]
    if name not in names:
        raise ValueError(unknown(name, names, "fault"))
    if at and not (line.isdecimal() and int(line) > 0):
        raise ValueError(f"{text!r} must end in a line number, such as {name}@12")
    return Injection(ArithmeticFault(name), int(line) - 1 if at else None)


class FaultyArithmetic:
    """An arithmetic with faults; itself an `arithmetic.Arithmetic`. What is ideal stays as it is.

    `line_of` gives a node's source line, counted from zero, or None where it is not known.
    """

    def __init__(
        self, arithmetic: Arithmetic, injections: Sequence[Injection], line_of: Callable[[Node], int | None]
    ) -> None:
        self.name = arithmetic.name
        self.unit = arithmetic.unit
        self.running_totals = running_totals(arithmetic)
        self.is_reference = is_reference(arithmetic)
        self._arithmetic = arithmetic
        self._injections = tuple(injections)
        self._line_of = line_of
        self.effects = {found.text: FaultEffect() for found in self._injections}
        """By the fault as it is written."""

    def ideal(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """As without faults."""
        return self._arithmetic.ideal(node, args, kwargs)

    def received(self, value: Any) -> Any:
        """As without faults."""
        return received(self._arithmetic, value)

    def compute(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result for one node, spoilt where a fault applies."""
        spared = is_view(node.target) or gives_no_values(node)
        applied = [] if spared else [found for found in self._injections if self._applies(found, node)]
        for found in applied:
            self.effects[found.text].note(node, *self._aside(node, args, kwargs, set(), {found.fault}))
        return self._spoilt(node, args, kwargs, {found.fault for found in applied})

    def _aside(
        self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any], *choices: set[ArithmeticFault]
    ) -> tuple[Any, ...]:
        """The results with each choice of faults; arguments and random numbers stay as they are."""
        made = []
        for faults in choices:
            given = (args, kwargs)
            if written_arguments(node.target, args, kwargs):
                given = pytree.tree_map_only(Tensor, Tensor.clone, given)
            with random_state_kept():
                made.append(self._spoilt(node, *given, faults))
        return tuple(made)

    def _spoilt(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any], faults: set[ArithmeticFault]) -> Any:
        if ArithmeticFault.DOWNCAST_INT64 in faults:
            args, kwargs = pytree.tree_map(_downcast, (args, kwargs))
        adds = accumulates(node.target)
        if ArithmeticFault.DROP_LAST_STICK in faults and adds:
            args = _without_last_stick_added(args, node.target)
        if ArithmeticFault.REDUCTION_ORDER in faults and adds:
            result = _in_wrong_order(node.target, args, kwargs, self.unit)
        else:
            result = self._arithmetic.compute(node, args, kwargs)
        for fault, spoil in self._spoilers(adds):
            if fault in faults:
                result = pytree.tree_map(spoil, result)
        return result

    def _applies(self, found: Injection, node: Node) -> bool:
        return found.line is None or self._line_of(node) == found.line

    def _spoilers(self, adds: bool) -> list[tuple[ArithmeticFault, Callable[[Any], Any]]]:
        unit = self.unit
        spoilers: list[tuple[ArithmeticFault, Callable[[Any], Any]]] = [
            (ArithmeticFault.WRONG_ROUNDING, lambda leaf: _cut(leaf, unit)),
            (ArithmeticFault.DOWNCAST_INT64, _downcast),
            (ArithmeticFault.ZERO_OUTPUT, lambda leaf: torch.zeros_like(leaf) if isinstance(leaf, Tensor) else leaf),
        ]
        return spoilers if adds else [(ArithmeticFault.DROP_LAST_STICK, _without_last_stick), *spoilers]


def _downcast(leaf: Any) -> Any:
    return leaf.to(torch.int32).to(torch.int64) if isinstance(leaf, Tensor) and leaf.dtype is torch.int64 else leaf


def _without_last_stick(leaf: Any) -> Any:
    if not (isinstance(leaf, Tensor) and leaf.dtype.is_floating_point and leaf.dim() and leaf.numel()):
        return leaf
    return _dropped(leaf, leaf.dim() - 1)


def _dropped(values: Tensor, dimension: int) -> Tensor:
    """`values` with zeros in the last stick along `dimension`, which may be a partial one."""
    size = values.shape[dimension]
    per_stick = max(STICK_BYTES // values.element_size(), 1)
    spoilt = values.clone()
    spoilt.narrow(dimension, (size - 1) // per_stick * per_stick, size - (size - 1) // per_stick * per_stick).zero_()
    return spoilt


def _without_last_stick_added(args: tuple[Any, ...], func: Any) -> tuple[Any, ...]:
    """Spoils the operand whose innermost dimension a sum runs along: a matrix product's left one."""
    place = 1 if func in (torch.ops.aten.addmm.default, torch.ops.aten.baddbmm.default) else 0
    return (*args[:place], _without_last_stick(args[place]), *args[place + 1 :])


def _in_wrong_order(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], unit: float) -> Any:
    if not unit:
        return func(*args, **kwargs)
    floats = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    if not all(leaf.dtype.is_floating_point for leaf in floats):
        return func(*args, **kwargs)
    dtype = kwargs.get("dtype") or floats[0].dtype
    wide = pytree.tree_map(lambda leaf: leaf.to(torch.float32) if isinstance(leaf, Tensor) else leaf, (args, kwargs))
    result = Accumulator(_short(unit), _PIECE, backwards=True).compute(func, *wide)
    return pytree.tree_map(lambda leaf: leaf.to(dtype), result)


def _short(unit: float) -> NumberFormat:
    """bfloat16, whose running totals soon go wrong; one bit less than the arithmetic's own where that is coarser."""
    if unit <= BFLOAT16.unit:
        return BFLOAT16
    return number_format(f"e8m{max(round(-math.log2(unit)) - 1, 1)}")


def _cut(leaf: Any, unit: float) -> Any:
    """Results without their last bits, at the precision of `unit` less three bits."""
    if not (unit and isinstance(leaf, Tensor) and leaf.dtype in (torch.float16, torch.bfloat16, torch.float32)):
        return leaf
    kept = max(round(-math.log2(unit)) - _TOO_FEW_BITS, 0)
    bits = leaf.detach().to(torch.float32).view(torch.int32) & (-1 << max(23 - kept, 0))
    return bits.view(torch.float32).to(leaf.dtype)
