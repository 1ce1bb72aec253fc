"""The bytes that must cross the border of an accelerator's memory however ops are fused, by the op that needs them.

What is certain rests on four things:

- Products (of matrices, attention, convolutions; forward and backward) are kernels of their own, one after the other.
  Anything else may be computed within them or beside them, twice if need be, and what lies between such ops then
  never is in memory: pointwise ops, copies, reductions and norms are all taken for fusible, generously.
- What comes from outside is in memory when the run begins, and what is left at its end, or was written into tensors
  from outside, is in memory then. Each crosses the border once, whoever reads it again. Of a table in which rows are
  looked up perhaps one row is read.
- What one product makes and another one needs, straight or through fusible ops, leaves the first kernel and enters the
  second, as the smallest tensor on the way or something larger. How much that is at least, is the largest such
  bottleneck over all ways (as in the problem of the widest path). What reaches a product from different products is
  added up where no third could have made both of it. A softmax on the way lets all of it vanish: attention that is
  written out may become one kernel.
- A cache may hold what crosses between kernels, so only what exceeds it counts. Where nobody says how large the cache
  is, nothing between kernels counts.

Where a graph breaks, all that one part of a run makes and another needs is certain as well (`border_crossing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug.rules.costing.border_crossing import ProductCrossings, between_parts
from inductor_debug.rules.costing.op_costs import OpCost, reads_in_part
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.liveness import Measure, holdings_of
from inductor_debug.rules.recording.ops import Op, Recording


@dataclass(slots=True)
class CrossingBytes:
    """What an op reads from memory and writes to it for certain, in bytes."""

    read: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class _Carried:
    """What a storage holds of the results of products.

    Who needs the storage in another kernel has to read at least `needed` bytes, which the product number `maker` made
    or what was made of it. `products` has a bit for each product that had a part in it.
    """

    needed: int
    maker: int
    products: int


def crossing_of(
    recording: Recording, costs: Sequence[OpCost], measure: Measure, cache_bytes: int | None
) -> list[CrossingBytes]:
    """What each op makes cross the border, in the order of the ops.

    Args:
        recording: what ran.
        costs: the cost of each op by itself.
        measure: the bytes of storages on the accelerator.
        cache_bytes: what its largest cache holds; None where nobody says.
    """
    found = [CrossingBytes() for _ in recording.ops]
    outside = _outside(recording, costs, measure, found)
    if cache_bytes is not None:
        _between_products(recording, costs, outside, cache_bytes, found)
    return found


def _outside(recording: Recording, costs: Sequence[OpCost], measure: Measure, found: list[CrossingBytes]) -> set[int]:
    """Adds what comes from outside and what is left; returns the storages that come from outside."""
    read: dict[int, tuple[int, int]] = {}
    written: dict[int, tuple[int, int]] = {}
    for index, (op, cost) in enumerate(zip(recording.ops, costs, strict=True)):
        table = op.inputs[0].storage if op.inputs and reads_in_part(op) else None
        for storage, amount in cost.read.items():
            if storage != table and amount > read.get(storage, (0, 0))[0]:
                read[storage] = (amount, index)
        for storage, amount in cost.written.items():
            if amount > written.get(storage, (0, 0))[0]:
                written[storage] = (amount, index)
    end = len(recording.ops) - 1
    outside: set[int] = set()
    for holding in holdings_of(recording, measure):
        storage = holding.meta.storage
        if holding.maker is None:
            outside.add(storage)
            amount, index = read.get(storage, (0, 0))
            if amount:
                found[index].read += min(amount, holding.bytes)
            amount, index = written.get(storage, (0, 0))
            if amount:
                found[index].written += min(amount, holding.bytes)
        elif holding.last == end and not holding.used:
            found[holding.maker.index].written += holding.bytes
    return outside


def _between_products(
    recording: Recording, costs: Sequence[OpCost], outside: set[int], cache_bytes: int, found: list[CrossingBytes]
) -> None:
    """Adds what crosses between kernels of products, and between the parts of a run that breaks."""
    parts = recording.parts or (0,) * len(recording.ops)
    carried: dict[int, _Carried] = {}
    leaving: dict[int, int] = {}
    seen = ProductCrossings(parts)
    products = 0
    for index, (op, cost) in enumerate(zip(recording.ops, costs, strict=True)):
        if operators.computes_product(op.packet):
            entering = _entering(cost, carried)
            for known, amount in entering:
                leaving[known.maker] = max(leaving.get(known.maker, 0), amount)
            beyond = max(sum(amount for _, amount in entering) - cache_bytes, 0)
            found[index].read += beyond
            seen.enters(index, min(beyond, sum(each for known, each in entering if parts[known.maker] != parts[index])))
            for storage, amount in cost.written.items():
                if storage not in outside:
                    carried[storage] = _Carried(amount, index, 1 << products)
            products += 1
        else:
            _pass_on(op, cost, carried)
        for storage in cost.written:
            if storage in carried:
                seen.makers[parts[index], storage] = carried[storage].maker
    for index, amount in leaving.items():
        seen.leaving[index] = max(amount - cache_bytes, 0)
        found[index].written += seen.leaving[index]
    if recording.parts:
        read, written = between_parts(recording, costs, outside, cache_bytes, seen)
        for crossed in read:
            found[crossed.index].read += crossed.bytes
        for crossed in written:
            found[crossed.index].written += crossed.bytes


def _pass_on(op: Op, cost: OpCost, carried: dict[int, _Carried]) -> None:
    """What the results of an op that is no product hold of what products made."""
    known = [carried[storage] for storage in cost.read if storage in carried]
    if not known or not cost.written:
        return
    vanishes = operators.normalises_exponentials(op.packet) or reads_in_part(op)
    widest = max(known, key=lambda item: item.needed)
    products = 0
    for item in known:
        products |= item.products
    for storage, amount in cost.written.items():
        carried[storage] = _Carried(0 if vanishes else min(amount, widest.needed), widest.maker, products)


def _entering(cost: OpCost, carried: dict[int, _Carried]) -> list[tuple[_Carried, int]]:
    """What a product has to read of earlier ones: largest first, of operands that no product has a part in both of."""
    wanted = [(carried[storage], amount) for storage, amount in cost.read.items() if storage in carried]
    wanted = [(known, min(known.needed, amount)) for known, amount in wanted]
    taken, found = 0, []
    for known, amount in sorted(wanted, key=lambda item: -item[1]):
        if amount and not known.products & taken:
            taken |= known.products
            found.append((known, amount))
    return found
