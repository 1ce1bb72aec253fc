"""The same elements in another shape: `view`, `reshape`, `unflatten`, `permute`, `split`."""

from __future__ import annotations

from typing import Any

from inductor_debug_schema import ConflictKind

from inductor_debug.capture.failures.contradictions.call_facts import (
    Conflict,
    Operand,
    Side,
    ints,
    no_such_dim,
    not_divisible,
    product,
    rank_below,
    rank_is_not,
    size_is_not,
)


def reshape(input: Operand, *sizes: Any, **named: Any) -> Conflict | None:
    """The number of elements against the product of the sizes, of which one may be -1."""
    wanted = _sizes(sizes, named)
    if wanted is None:
        return None
    return _volume(input.side(), wanted)


def view(input: Operand, *sizes: Any, **named: Any) -> Conflict | None:
    """As `reshape`, without a copy: the dimensions that are joined must lie one after another in memory."""
    wanted = _sizes(sizes, named)
    if wanted is None:
        return None
    conflict = _volume(input.side(), wanted)
    if conflict is not None or input.stride is None:
        return conflict
    unknown = input.volume // product(size for size in wanted if size != -1) if -1 in wanted else 1
    if _viewable(input, tuple(unknown if size == -1 else size for size in wanted)):
        return None
    return Conflict(ConflictKind.LAYOUT, input.side(), None, None)


def reshape_as(input: Operand, other: Operand, **_: Any) -> Conflict | None:
    """The number of elements of two tensors."""
    if input.volume == other.volume:
        return None
    return Conflict(ConflictKind.VOLUME, input.side(), other.side(), None)


def unflatten(input: Operand, dim: Any, sizes: Any, **_: Any) -> Conflict | None:
    """One size against the product of those that it is taken apart to."""
    conflict = no_such_dim(input, dim)
    wanted = ints(sizes)
    if conflict is not None or wanted is None or not input.rank or not isinstance(dim, int):
        return conflict
    return _volume(input.side(dim), wanted)


def permute(input: Operand, *dims: Any, **named: Any) -> Conflict | None:
    """Every dimension once."""
    order = _sizes(dims, named, "dims")
    if order is None:
        return None
    conflict = rank_is_not(input, len(order))
    if conflict is not None:
        return conflict
    seen = set()
    for dim in order:
        conflict = no_such_dim(input, dim)
        if conflict is not None:
            return conflict
        if dim % max(input.rank, 1) in seen:
            return Conflict(ConflictKind.INDEX, Side(input.index, None, input.rank), None, dim)
        seen.add(dim % max(input.rank, 1))
    return None


def t(input: Operand, **_: Any) -> Conflict | None:
    """`x.t()`: at most two dimensions."""
    return rank_is_not(input, 2, 1, 0)


def transpose(input: Operand, dim0: Any, dim1: Any, **_: Any) -> Conflict | None:
    """Both dimensions exist."""
    return no_such_dim(input, dim0) or no_such_dim(input, dim1)


def flatten(input: Operand, start_dim: Any = 0, end_dim: Any = -1, **_: Any) -> Conflict | None:
    """Both dimensions exist."""
    return no_such_dim(input, start_dim) or no_such_dim(input, end_dim)


def unsqueeze(input: Operand, dim: Any, **_: Any) -> Conflict | None:
    """There is one place more than there are dimensions."""
    return no_such_dim(input, dim, extra=1)


def split(input: Operand, split_size: Any, dim: Any = 0, **_: Any) -> Conflict | None:
    """Pieces of given sizes make up the whole."""
    conflict = rank_below(input, 1) or no_such_dim(input, dim)
    sizes = ints(split_size)
    if conflict is not None or sizes is None or not isinstance(dim, int):
        return conflict
    return size_is_not(input, dim, sum(sizes))


def repeat(input: Operand, *sizes: Any, **named: Any) -> Conflict | None:
    """There is a number for each dimension at least."""
    times = _sizes(sizes, named, "repeats")
    if times is None or len(times) >= input.rank:
        return None
    return Conflict(ConflictKind.RANK, Side(input.index, None, input.rank), None, len(times))


def glu(input: Operand, dim: Any = -1, **_: Any) -> Conflict | None:
    """The dimension that is halved is even."""
    conflict = no_such_dim(input, dim)
    return conflict or (not_divisible(input, dim, 2) if input.rank and isinstance(dim, int) else None)


def pixel_shuffle(input: Operand, upscale_factor: Any, **_: Any) -> Conflict | None:
    """The channels are a multiple of the factor's square."""
    if input.rank < 3 or not isinstance(upscale_factor, int):
        return rank_is_not(input, 4, 3) if input.rank < 3 else None
    return not_divisible(input, -3, upscale_factor**2)


def _sizes(given: tuple[Any, ...], named: dict[str, Any], name: str = "shape") -> tuple[int, ...] | None:
    if not given:
        return ints(named.get(name, named.get("size")))
    return ints(given[0]) if len(given) == 1 and isinstance(given[0], (list, tuple)) else ints(given)


def _volume(side: Side, wanted: tuple[int, ...]) -> Conflict | None:
    """A number of elements against sizes; with -1 among them `wanted` is the product of the others."""
    known = product(size for size in wanted if size != -1)
    if wanted.count(-1) > 1 or any(size < -1 for size in wanted):
        return None
    fits = known > 0 and side.size % known == 0 if -1 in wanted else side.size == known
    return None if fits else Conflict(ConflictKind.VOLUME, side, None, known)


def _viewable(input: Operand, sizes: tuple[int, ...]) -> bool:
    """Whether a tensor's memory can be seen in another shape: each new size stays in one run of old ones."""
    assert input.stride is not None
    if input.volume == 0:
        return True
    runs: list[list[int]] = []
    """Volume and stride of dimensions that lie one after another, innermost first."""
    for size, stride in zip(reversed(input.shape), reversed(input.stride), strict=True):
        if size == 1:
            continue
        if runs and runs[-1][0] * runs[-1][1] == stride:
            runs[-1][0] *= size
        else:
            runs.append([size, stride])
    left = 1
    remaining = iter(runs)
    for size in reversed(sizes):
        if size == 1:
            continue
        if left == 1:
            run = next(remaining, None)
            if run is None:
                return False
            left = run[0]
        if left % size:
            return False
        left //= size
    return left == 1
