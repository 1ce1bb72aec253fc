"""Layers: norms, embeddings, losses, recurrent networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inductor_debug_schema import ConflictKind

from inductor_debug.capture.failures.contradictions.call_facts import (
    Conflict,
    Operand,
    dtypes_differ,
    first,
    ints,
    not_divisible,
    rank_below,
    rank_is_not,
    size_is_not,
    sizes_differ,
)

_INDICES = ("int64", "int32")
_HALVES = ("float16", "bfloat16")


def layer_norm(
    input: Operand, normalized_shape: Any, weight: Any = None, bias: Any = None, *_rest: Any, **_: Any
) -> Conflict | None:
    """The last sizes are those that are normalised over, and the dtypes are alike."""
    return rms_norm(input, normalized_shape, weight, bias) or _unlike(input, weight, bias)


def rms_norm(
    input: Operand, normalized_shape: Any, weight: Any = None, bias: Any = None, *_rest: Any, **_: Any
) -> Conflict | None:
    """The last sizes are those that are normalised over."""
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else ints(normalized_shape)
    if shape is None:
        return None
    affine = weight if isinstance(weight, Operand) else bias if isinstance(bias, Operand) else None

    def checks() -> Iterator[Conflict | None]:
        yield rank_below(input, len(shape))
        for offset in range(1, len(shape) + 1):
            if affine is not None and affine.rank >= offset and affine.shape[-offset] == shape[-offset]:
                yield sizes_differ(input, -offset, affine, -offset)
            else:
                yield size_is_not(input, -offset, shape[-offset])
        for part in (weight, bias):
            if isinstance(part, Operand):
                yield rank_is_not(part, len(shape))
                for dim, size in enumerate(shape):
                    yield size_is_not(part, dim, size)

    return first(checks())


def group_norm(
    input: Operand, num_groups: Any, weight: Any = None, bias: Any = None, *_rest: Any, **_: Any
) -> Conflict | None:
    """The channels are a multiple of the groups, and those of the weights."""

    def checks() -> Iterator[Conflict | None]:
        yield rank_below(input, 2)
        for part in (weight, bias):
            if isinstance(part, Operand):
                yield rank_is_not(part, 1)
                yield sizes_differ(input, 1, part, 0)
        yield not_divisible(input, 1, num_groups) if isinstance(num_groups, int) else None
        yield _unlike(input, weight, bias)

    return first(checks())


def batch_norm(input: Operand, *parts: Any, **named: Any) -> Conflict | None:
    """`batch_norm` and `instance_norm`: every statistic has one number a channel."""

    def checks() -> Iterator[Conflict | None]:
        yield rank_below(input, 2)
        for part in (*parts, *named.values()):
            if isinstance(part, Operand):
                yield sizes_differ(input, 1, part, 0) if part.rank else None
        yield _unlike(input, *parts, *named.values())

    return first(checks())


def _unlike(input: Operand, *parts: Any) -> Conflict | None:
    """Norms take half precision with float32 weights; else all dtypes are the same."""
    operands = [part for part in parts if isinstance(part, Operand)]
    if input.dtype in _HALVES and all(part.dtype == "float32" for part in operands):
        return None
    return dtypes_differ([input, *operands])


def embedding(input: Operand, weight: Operand, *_rest: Any, **_: Any) -> Conflict | None:
    """`F.embedding`: indices are whole numbers, the table is a matrix."""
    return rank_is_not(weight, 2) or _indices(input)


def embedding_of_table(weight: Operand, indices: Operand, *_rest: Any, **_: Any) -> Conflict | None:
    """`aten.embedding`, which takes the table first."""
    return embedding(indices, weight)


def _indices(operand: Operand) -> Conflict | None:
    if operand.dtype in _INDICES:
        return None
    return Conflict(ConflictKind.DTYPE, operand.side(), None, "int64")


def nll_loss(input: Operand, target: Operand, weight: Any = None, *_rest: Any, **_: Any) -> Conflict | None:
    """Class numbers for every place of the input but its classes."""
    classes = 1 if input.rank > 1 else 0

    def checks() -> Iterator[Conflict | None]:
        yield rank_below(input, 1)
        if input.rank == 1 and target.rank == 1:
            yield size_is_not(target, 0, 1)
        else:
            yield rank_is_not(target, input.rank - 1)
        others = [dim for dim in range(input.rank) if dim != classes] if classes else []
        for mine, theirs in zip(others, range(target.rank), strict=False):
            yield sizes_differ(input, mine, target, theirs)
        if isinstance(weight, Operand):
            yield sizes_differ(weight, 0, input, classes) if weight.rank else None
        if target.dtype not in ("int64", "uint8"):
            yield Conflict(ConflictKind.DTYPE, target.side(), None, "int64")

    return first(checks())


def cross_entropy(input: Operand, target: Operand, weight: Any = None, *rest: Any, **named: Any) -> Conflict | None:
    """Class numbers, or probabilities of the input's own shape."""
    if target.shape == input.shape and target.rank:
        if target.is_floating:
            return None
        return Conflict(ConflictKind.DTYPE, target.side(), None, input.dtype)
    return nll_loss(input, target, weight)


def multi_head_attention(
    query: Operand, key: Operand, value: Operand, embed_dim: int, *_: Any, **__: Any
) -> Conflict | None:
    """`F.multi_head_attention_forward`, which `nn.MultiheadAttention` calls."""
    return rank_is_not(query, 3, 2) or size_is_not(query, -1, embed_dim)


def recurrent(
    input_size: int, layers: int, features: tuple[int, ...], dtype: str, batch: int, input: Operand, state: Any
) -> Conflict | None:
    """A layer that runs over a sequence, with a batch or without.

    Args:
        input_size: features that it takes.
        layers: how many states it keeps, one for each layer and direction.
        features: of its first states, one number for each tensor of these.
        dtype: of its weights.
        batch: which dimension of a sequence with a batch that is.
        input: the sequence.
        state: the first states: a tensor, or a tuple of as many as there are `features`.
    """
    given = state if isinstance(state, tuple) else (state,)

    def checks() -> Iterator[Conflict | None]:
        yield Conflict(ConflictKind.DTYPE, input.side(), None, dtype) if input.dtype != dtype else None
        yield rank_is_not(input, 3, 2)
        yield size_is_not(input, -1, input_size)
        for tensor, size in zip(given, features, strict=False):
            if isinstance(tensor, Operand):
                yield rank_is_not(tensor, input.rank)
                yield size_is_not(tensor, 0, layers)
                yield size_is_not(tensor, -1, size)
                if input.rank == 3:
                    yield sizes_differ(tensor, 1, input, batch)

    return first(checks())


def affine_grid(theta: Operand, size: Any, *_rest: Any, **_: Any) -> Conflict | None:
    """`F.affine_grid`: a matrix of 2 by 3 for each image, or of 3 by 4 for each volume."""
    shape = ints(size)
    if shape is None or len(shape) not in (4, 5):
        return None
    dims = len(shape) - 2
    return rank_is_not(theta, 3) or size_is_not(theta, 1, dims) or size_is_not(theta, 2, dims + 1)


def recurrent_cell(input_size: int, input: Operand) -> Conflict | None:
    """One step of such a layer."""
    return rank_is_not(input, 2, 1) or size_is_not(input, -1, input_size)
