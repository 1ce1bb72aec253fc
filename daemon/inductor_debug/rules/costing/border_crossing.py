"""The bytes that graph breaks make cross the border of an accelerator's memory, by the op that needs them.

What is computed in one graph and used in another leaves the one as a result and comes into the other as an input,
however ops are fused within. Of what passes at once the largest cache may hold as much as fits into it; that much is
taken off. What products make of each other is counted anyway (`crossing`) and may be the very same bytes, so only what
exceeds it comes on top: with fewer breaks there is never more.

A part of a run is a graph with its backward pass (what that saves for itself is no matter of a break), or an op that
runs by itself; a stretch is as much of a part as runs without another one in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from inductor_debug.rules.costing.op_costs import OpCost, reads_in_part
from inductor_debug.rules.recording.ops import Recording


@dataclass(frozen=True, slots=True)
class Crossed:
    """How many bytes of a storage cross, and the index of the op that reads or has written them."""

    bytes: int
    index: int


_Crossings = dict[tuple[int, int], Crossed]
"""By part and storage."""


class ProductCrossings:
    """What crosses between products of a run, each beyond what the cache holds.

    `entering` is, by stretch, what products read of those of other parts; `leaving` what is written of a product, by
    index, for others; `makers` are the products that storages of a part have their content of.
    """

    def __init__(self, parts: Sequence[int]) -> None:
        self.stretches = _stretches(parts)
        self.entering: dict[int, int] = {}
        self.leaving: dict[int, int] = {}
        self.makers: dict[tuple[int, int], int] = {}

    def enters(self, index: int, amount: int) -> None:
        """Takes in that the product number `index` reads `amount` bytes of those of other parts."""
        stretch = self.stretches[index]
        self.entering[stretch] = self.entering.get(stretch, 0) + amount


def _stretches(parts: Sequence[int]) -> list[int]:
    """The number of the stretch that each op is in."""
    numbers: list[int] = []
    for index, part in enumerate(parts):
        numbers.append(numbers[-1] + (part != parts[index - 1]) if index else 0)
    return numbers


def between_parts(
    recording: Recording, costs: Sequence[OpCost], outside: set[int], cache_bytes: int, products: ProductCrossings
) -> tuple[list[Crossed], list[Crossed]]:
    """What parts of a run read of each other and write for each other, on top of what crosses between products.

    Args:
        recording: what ran, in parts.
        costs: the cost of each op by itself.
        outside: the storages that come from outside, whose first reading and whose content at the end count anyway.
        cache_bytes: what the largest cache holds.
        products: what crosses between products.
    """
    read, written = _passed(recording, costs, outside)
    stretches = products.stretches
    entering, leaving = _Allowance(products.entering), _Allowance(products.leaving)
    caches = tuple(_Allowance(dict.fromkeys(stretches, cache_bytes)) for _ in range(2))
    found: tuple[list[Crossed], list[Crossed]] = [], []
    for _, crossed in _in_order(read):
        stretch = stretches[crossed.index]
        more = caches[0].beyond(stretch, crossed.bytes)
        found[0].append(Crossed(entering.beyond(stretch, more), crossed.index))
    for key, crossed in _in_order(written):
        more = leaving.beyond(products.makers.get(key), crossed.bytes)
        found[1].append(Crossed(caches[1].beyond(stretches[crossed.index], more), crossed.index))
    return found


def _passed(recording: Recording, costs: Sequence[OpCost], outside: set[int]) -> tuple[_Crossings, _Crossings]:
    """What parts read that was in memory when they began, and what they write that others read."""
    read: _Crossings = {}
    written: _Crossings = {}
    left: _Crossings = {}
    homes: dict[int, int] = {}
    for index, (op, cost) in enumerate(zip(recording.ops, costs, strict=True)):
        part = recording.parts[index]
        table = op.inputs[0].storage if op.inputs and reads_in_part(op) else None
        for storage, amount in cost.read.items():
            home = homes.setdefault(storage, part)
            if home != part and storage != table:
                _take(read, (part, storage), Crossed(amount, index))
                if storage not in outside and (home, storage) in left:
                    written[home, storage] = left[home, storage]
        for storage, amount in cost.written.items():
            homes[storage] = part
            _take(left, (part, storage), Crossed(amount, index))
    return read, written


def _take(known: _Crossings, key: tuple[int, int], crossed: Crossed) -> None:
    if key not in known or crossed.bytes > known[key].bytes:
        known[key] = crossed


def _in_order(crossings: _Crossings) -> list[tuple[tuple[int, int], Crossed]]:
    return sorted(crossings.items(), key=lambda item: item[1].index)


@dataclass(slots=True)
class _Allowance:
    """Bytes that need not be counted, by what they are about."""

    left: dict[int, int] = field(default_factory=dict)

    def beyond(self, key: int | None, amount: int) -> int:
        """How many of some bytes are to be counted; the others are used up."""
        if key is None:
            return amount
        covered = min(self.left.get(key, 0), amount)
        self.left[key] = self.left.get(key, 0) - covered
        return amount - covered
