"""Elements by their place: indices, `select`, `narrow`, `gather`, and dimensions that operations are told by number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inductor_debug_schema import ConflictKind

from inductor_debug.capture.failures.contradictions.call_facts import (
    Conflict,
    Operand,
    Side,
    first,
    no_such_dim,
    not_broadcast,
    rank_below,
    rank_is_not,
)

_INDICES = ("int64", "int32", "int16", "int8", "uint8", "bool")


def getitem(input: Operand, index: Any, *_rest: Any, **_: Any) -> Conflict | None:
    """`x[...]`: not more indices than dimensions, none of them past the end; masks have the sizes they mask."""
    parts = list(index) if isinstance(index, tuple) else [index]
    if any(isinstance(part, (list, str)) for part in parts):
        return None
    taken = sum(_dims_taken(part) for part in parts)
    if taken > input.rank:
        return Conflict(ConflictKind.RANK, Side(input.index, None, input.rank), None, taken)

    def checks() -> Iterator[Conflict | None]:
        dim = 0
        lists: list[Operand] = []
        for part in parts:
            if part is Ellipsis:
                dim += input.rank - taken
            elif isinstance(part, bool) or part is None:
                continue
            elif isinstance(part, int):
                yield _outside(input, dim, part)
                dim += 1
            elif isinstance(part, Operand):
                if part.dtype not in _INDICES:
                    yield Conflict(ConflictKind.DTYPE, part.side(), None, "int64")
                elif part.dtype in ("bool", "uint8"):
                    for place, size in enumerate(part.shape):
                        if size != input.shape[dim + place]:
                            yield Conflict(ConflictKind.SIZE, part.side(place), input.side(dim + place), None)
                else:
                    lists.append(part)
                dim += _dims_taken(part)
            else:
                dim += _dims_taken(part)
        yield not_broadcast(lists)

    return first(checks())


def _dims_taken(part: Any) -> int:
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.rank if isinstance(part, Operand) and part.dtype in ("bool", "uint8") else 1


def _outside(input: Operand, dim: int, index: int) -> Conflict | None:
    size = input.shape[dim]
    return None if -size <= index < size else Conflict(ConflictKind.INDEX, input.side(dim), None, index)


def select(input: Operand, dim: Any, index: Any, **_: Any) -> Conflict | None:
    """`x.select(dim, index)`."""
    conflict = rank_below(input, 1) or no_such_dim(input, dim)
    if conflict is not None or not isinstance(dim, int) or not isinstance(index, int):
        return conflict
    return _outside(input, dim % input.rank, index)


def narrow(input: Operand, dim: Any, start: Any, length: Any, **_: Any) -> Conflict | None:
    """`x.narrow(dim, start, length)` stays inside."""
    conflict = rank_below(input, 1) or no_such_dim(input, dim)
    if conflict is not None or not all(isinstance(value, int) for value in (dim, start, length)):
        return conflict
    size = input.shape[dim]
    begin = start + size if start < 0 else start
    if 0 <= begin <= size and 0 <= length <= size - begin:
        return None
    return Conflict(ConflictKind.INDEX, input.side(dim), None, start + length)


def gather(input: Operand, dim: Any, index: Operand, **_: Any) -> Conflict | None:
    """`x.gather(dim, index)`: the index is nowhere larger than what it reads, but along `dim`."""

    def checks() -> Iterator[Conflict | None]:
        yield no_such_dim(input, dim)
        if index.dtype not in ("int64", "int32"):
            yield Conflict(ConflictKind.DTYPE, index.side(), None, "int64")
        if index.volume:
            yield rank_is_not(index, max(input.rank, 1), input.rank)
            for other in range(min(index.rank, input.rank)):
                if isinstance(dim, int) and other != dim % input.rank and index.shape[other] > input.shape[other]:
                    yield Conflict(ConflictKind.SIZE, index.side(other), input.side(other), None)

    return first(checks())


def index_select(input: Operand, dim: Any, index: Operand, **_: Any) -> Conflict | None:
    """`x.index_select(dim, index)`: a vector of whole numbers."""
    conflict = no_such_dim(input, dim) or rank_is_not(index, 1, 0)
    if conflict is None and index.dtype not in ("int64", "int32"):
        return Conflict(ConflictKind.DTYPE, index.side(), None, "int64")
    return conflict


def dimension(input: Any, dims: Any) -> Conflict | None:
    """Any operation that is told dimensions by number."""
    if not isinstance(input, Operand):
        return None
    return first(no_such_dim(input, dim) for dim in (dims if isinstance(dims, (list, tuple)) else (dims,)))
