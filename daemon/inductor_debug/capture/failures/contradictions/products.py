"""Products of matrices: matmul and its kin, `linear`, `einsum`, attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inductor_debug_schema import ConflictKind

from inductor_debug.capture.failures.contradictions.call_facts import (
    Conflict,
    Operand,
    Side,
    dtypes_differ,
    first,
    not_broadcast,
    not_broadcast_to,
    rank_below,
    rank_is_not,
    sizes_differ,
)


def matmul(input: Operand, other: Operand, **_: Any) -> Conflict | None:
    """`a @ b`: the last size of `a` against the last but one of `b`; what is in front is broadcast."""

    def checks() -> Iterator[Conflict | None]:
        yield rank_below(input, 1)
        yield rank_below(other, 1)
        yield dtypes_differ((input, other))
        yield sizes_differ(input, -1, other, -2 if other.rank > 1 else -1)
        if input.rank > 1 and other.rank > 1:
            yield not_broadcast((input, other), skip=2)

    return first(checks())


def _of_rank(left: int, right: int, *, batch: bool = False) -> Any:
    """The check of a product whose operands have fixed ranks; with `batch` the first sizes must be equal."""

    def check(input: Operand, other: Operand, **_: Any) -> Conflict | None:
        def checks() -> Iterator[Conflict | None]:
            yield rank_is_not(input, left)
            yield rank_is_not(other, right)
            yield dtypes_differ((input, other))
            if batch:
                yield sizes_differ(input, 0, other, 0)
            yield sizes_differ(input, -1, other, -2 if right > 1 else -1)

        return first(checks())

    return check


mm, bmm, mv, dot = _of_rank(2, 2), _of_rank(3, 3, batch=True), _of_rank(2, 1), _of_rank(1, 1)


def _added(multiply: Any) -> Any:
    """The check of a product to which `input` is added (`addmm` and its kin)."""

    def check(input: Operand, mat1: Operand, mat2: Operand, **_: Any) -> Conflict | None:
        left, right = mat1, mat2
        conflict: Conflict | None = multiply(left, right)
        if conflict is not None:
            return conflict
        rows = left.shape[:-1] if right.rank > 1 else left.shape[:1]
        made = Operand(left.index, (*rows, *right.shape[-1:]) if right.rank > 1 else rows, left.dtype, left.device)
        conflict = not_broadcast_to(input, made)
        if conflict is not None and conflict.right is not None:
            # The last size of the product is the right operand's, the ones before are the left one's.
            last = right.rank > 1 and conflict.right.dim == made.rank - 1
            conflict = Conflict(conflict.kind, conflict.left, right.side(-1) if last else conflict.right, None)
        return conflict or dtypes_differ((left, right, input))

    return check


addmm, baddbmm, addmv = _added(mm), _added(bmm), _added(mv)


def linear(input: Operand, weight: Operand, bias: Operand | None = None, **_: Any) -> Conflict | None:
    """`F.linear`: the last size of the input against the features that the weight takes."""

    def checks() -> Iterator[Conflict | None]:
        yield rank_below(input, 1)
        # An input of more than two dimensions that is no block of memory is multiplied first, and the bias added.
        added = bias is None or (input.rank > 2 and not input.is_contiguous)
        yield rank_is_not(weight, 2, *((1,) if added else ()))
        yield sizes_differ(input, -1, weight, -1)
        yield dtypes_differ((input, weight, None if added else bias))
        if bias is not None and weight.rank == 2 and bias.shape not in ((), (1,)):
            yield sizes_differ(bias, -1, weight, 0)

    return first(checks())


def bilinear(left: Operand, right: Operand, weight: Operand, bias: Operand | None = None, **_: Any) -> Conflict | None:
    """`F.bilinear`: two inputs against a weight [out, left, right]."""

    def checks() -> Iterator[Conflict | None]:
        yield rank_is_not(weight, 3)
        yield rank_is_not(right, left.rank)
        yield sizes_differ(left, -1, weight, 1)
        yield sizes_differ(right, -1, weight, 2)
        for dim in range(left.rank - 1):
            yield sizes_differ(left, dim, right, dim)
        yield dtypes_differ((left, right, weight, bias))

    return first(checks())


def einsum(equation: object, *operands: Any, **_: Any) -> Conflict | None:
    """`torch.einsum`: every letter has one size (or 1)."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    if not isinstance(equation, str) or not all(isinstance(operand, Operand) for operand in given):
        return None
    left, arrow, result = equation.replace(" ", "").partition("->")
    subscripts = left.split(",")
    if len(subscripts) != len(given):
        return None

    def checks() -> Iterator[Conflict | None]:
        sizes: dict[str, tuple[Operand, int]] = {}
        for names, operand in zip(subscripts, given, strict=True):
            before, dots, after = names.partition("...")
            named = len(before) + len(after)
            yield rank_below(operand, named) if dots else rank_is_not(operand, named)
            places = [*enumerate(before), *((operand.rank - len(after) + i, name) for i, name in enumerate(after))]
            for dim, name in places:
                known = sizes.get(name)
                if known is None or known[0].shape[known[1]] == 1:
                    sizes[name] = operand, dim
                elif operand.shape[dim] != 1:
                    yield sizes_differ(*known, operand, dim)
        if arrow and any(left.count(name) > 1 and name not in result for name in sizes):
            yield dtypes_differ(given)

    return first(checks())


def scaled_dot_product_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    attn_mask: Operand | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    **_: Any,
) -> Conflict | None:
    """Attention: features of query and key, lengths of key and value, batches, and the mask over [L, S]."""

    def checks() -> Iterator[Conflict | None]:
        for operand in (query, key, value):
            yield rank_below(operand, 2)
        yield dtypes_differ((query, key, value))
        yield sizes_differ(query, -1, key, -1)
        yield sizes_differ(key, -2, value, -2)
        if not enable_gqa:
            yield not_broadcast((query, key, value), skip=2)
        if attn_mask is not None:
            if attn_mask.dtype not in ("bool", query.dtype, "float32"):
                yield Conflict(ConflictKind.DTYPE, attn_mask.side(), query.side(), query.dtype)
            yield rank_below(attn_mask, 1)
            for offset, other in ((1, key), (2, query)):
                if attn_mask.rank >= offset and attn_mask.shape[-offset] != 1:
                    yield sizes_differ(attn_mask, -offset, other, -2)
            if attn_mask.rank > 2:
                yield not_broadcast((attn_mask, query), skip=2)

    return first(checks())


def outer(input: Operand, vec2: Operand, **_: Any) -> Conflict | None:
    """`torch.outer`: two vectors."""
    return rank_is_not(input, 1) or rank_is_not(vec2, 1)


def tensordot(input: Operand, other: Operand, dims: Any = 2, **_: Any) -> Conflict | None:
    """`torch.tensordot`: the dimensions that are summed over, pair by pair."""
    if isinstance(dims, int):
        if dims < 0 or dims > min(input.rank, other.rank):
            short = min((input, other), key=lambda operand: operand.rank)
            return Conflict(ConflictKind.RANK, Side(short.index, None, short.rank), None, dims)
        pairs = [(input.rank - dims + index, index) for index in range(dims)]
    elif isinstance(dims, (list, tuple)) and len(dims) == 2 and all(isinstance(side, (list, tuple)) for side in dims):
        pairs = list(zip(*dims, strict=False))
    else:
        return None
    unequal = (sizes_differ(input, i, other, j) for i, j in pairs if 1 not in (input.shape[i], other.shape[j]))
    return first(unequal) or dtypes_differ((input, other))
