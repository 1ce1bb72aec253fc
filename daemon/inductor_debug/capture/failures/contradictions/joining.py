"""Tensors that are joined or meet element by element: `cat`, `stack`, broadcasting, `where`, masks, `expand`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inductor_debug_schema import ConflictKind

from inductor_debug.capture.failures.contradictions.call_facts import (
    Conflict,
    Operand,
    Side,
    first,
    ints,
    no_such_dim,
    not_broadcast,
    not_broadcast_to,
    rank_is_not,
    size_is_not,
    sizes_differ,
)


def cat(tensors: Any, dim: Any = 0, **_: Any) -> Conflict | None:
    """All sizes but one must be equal; empty vectors are left out, as torch does."""
    parts = [part for part in tensors if isinstance(part, Operand) and part.shape != (0,)]

    def checks() -> Iterator[Conflict | None]:
        for part in parts:
            yield rank_is_not(part, parts[0].rank) if part.rank else rank_is_not(part, 1)
        yield no_such_dim(parts[0], dim)
        for part in parts[1:]:
            for other in range(part.rank):
                if isinstance(dim, int) and other != dim % part.rank:
                    yield sizes_differ(parts[0], other, part, other)

    return first(checks()) if parts else None


def stack(tensors: Any, dim: Any = 0, **_: Any) -> Conflict | None:
    """All shapes must be equal."""
    parts = [part for part in tensors if isinstance(part, Operand)]

    def checks() -> Iterator[Conflict | None]:
        yield no_such_dim(parts[0], dim, extra=1)
        for part in parts[1:]:
            yield rank_is_not(part, parts[0].rank)
            for other in range(part.rank):
                yield sizes_differ(parts[0], other, part, other)

    return first(checks()) if parts else None


def pointwise(*arguments: Any, **named: Any) -> Conflict | None:
    """Any operation that takes its tensors element by element and broadcasts them."""
    return not_broadcast([value for value in (*arguments, *named.values()) if isinstance(value, Operand)])


def pointwise_in_place(input: Any, *arguments: Any, **named: Any) -> Conflict | None:
    """The same, written into its first tensor, which cannot grow nor hold numbers of a wider kind."""
    if not isinstance(input, Operand):
        return None
    others = [value for value in (*arguments, *named.values()) if isinstance(value, Operand)]
    grown = [not_broadcast_to(other, input) for other in others]
    return first((*grown, *(_narrowed(other, input) for other in others)))


def _narrowed(other: Operand, into: Operand) -> Conflict | None:
    """That fractions are to be written into whole numbers, or complex numbers into real ones."""
    if other.kind <= into.kind:
        return None
    return Conflict(ConflictKind.DTYPE, other.side(), into.side(), into.dtype)


def where(condition: Any, input: Any = None, other: Any = None, **_: Any) -> Conflict | None:
    """`torch.where` and `Tensor.where`: the condition is bool, and all three are broadcast."""
    return _condition(condition) or pointwise(condition, input, other)


def where_of_tensor(input: Any, condition: Any, other: Any = None, **_: Any) -> Conflict | None:
    """`x.where(condition, other)`."""
    return where(condition, input, other)


def masked_fill(input: Operand, mask: Operand, *_rest: Any, **_: Any) -> Conflict | None:
    """The mask is bool and is broadcast with what it masks."""
    return _condition(mask, byte=False) or not_broadcast((input, mask))


def masked_fill_in_place(input: Operand, mask: Operand, *_rest: Any, **_: Any) -> Conflict | None:
    """The same, written into the tensor."""
    return _condition(mask, byte=False) or not_broadcast_to(mask, input)


def _condition(mask: Any, byte: bool = True) -> Conflict | None:
    if not isinstance(mask, Operand) or mask.dtype == "bool" or (byte and mask.dtype == "uint8"):
        return None
    return Conflict(ConflictKind.DTYPE, mask.side(), None, "bool")


def expand(input: Operand, *sizes: Any, **_: Any) -> Conflict | None:
    """`x.expand(...)`: from the last dimension on each size is kept, or grown from 1."""
    wanted = ints(sizes[0]) if sizes and isinstance(sizes[0], (list, tuple)) else ints(sizes)
    if wanted is None:
        return None
    if len(wanted) < input.rank:
        return Conflict(ConflictKind.RANK, Side(input.index, None, input.rank), None, len(wanted))
    for offset, size in enumerate(reversed(wanted), 1):
        if offset > input.rank:
            if size < 0:
                return Conflict(ConflictKind.RANK, Side(input.index, None, input.rank), None, len(wanted))
        elif size != -1 and input.shape[-offset] not in (1, size):
            return size_is_not(input, -offset, size)
    return None


def expand_as(input: Operand, other: Operand, **_: Any) -> Conflict | None:
    """`x.expand_as(y)`."""
    return not_broadcast_to(input, other)


def same_shape(input: Operand, target: Operand, *_rest: Any, **_: Any) -> Conflict | None:
    """Two tensors of one shape, as `binary_cross_entropy` wants them."""

    def checks() -> Iterator[Conflict | None]:
        yield rank_is_not(target, input.rank)
        for dim in range(input.rank):
            yield sizes_differ(input, dim, target, dim)

    return first(checks())
