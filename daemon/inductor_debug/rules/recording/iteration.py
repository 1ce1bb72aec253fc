"""The iteration space of an operation: its loops, and which of them walk along which dimension of its tensors.

Three kinds are told apart, as `stick_flow` does: a product of matrices, a reduction, and an operation that computes
each element of its result by itself. What is read at positions that other tensors give has no loop of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, Size, TensorMeta

Walk = tuple["int | None", ...]
"""For each dimension of a tensor the loop that walks along it; None where its one element is used throughout."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """The loops of one operation, the outermost first.

    Attributes:
        extents: how often each loop runs.
        reduced: the loops that the result does not have.
        inputs: for each input of the operation how the loops walk along it; None where its elements are looked up.
        outputs: the same for each result.
    """

    extents: tuple[Size, ...]
    reduced: frozenset[int]
    inputs: tuple[Walk | None, ...]
    outputs: tuple[Walk | None, ...]


def iteration_of(op: Op) -> Iteration | None:
    """The iteration space of `op`; None where its sizes alone do not tell (convolutions, attention, no result)."""
    if not op.outputs:
        return None
    if operators.multiplies_matrices(op.packet):
        return _product(op)
    if operators.reduces(op.packet):
        return _reduction(op) if op.inputs else None
    return None if operators.convolves(op.packet) else _elementwise(op)


def reduced_dimensions(op: Op, rank: int) -> frozenset[int]:
    """The dimensions that a reduction takes away; all of them where it names none."""
    named = op.arguments.get("dim", op.arguments.get("dims"))
    dims = [named] if isinstance(named, int) else named
    if not isinstance(dims, Sequence) or not dims:
        return frozenset(range(rank))
    return frozenset(dim % rank for dim in dims if isinstance(dim, int)) if rank else frozenset()


def broadcasts_to(operand: TensorMeta, result: TensorMeta) -> bool:
    """Whether the operand fits the result by numpy's rules."""
    if len(operand.shape) > len(result.shape):
        return False
    pairs = zip(reversed(operand.shape), reversed(result.shape), strict=False)
    return all(size in (1, length) for size, length in pairs)


def _product(op: Op) -> Iteration | None:
    """`C[.., m, n] = A[.., m, k] @ B[.., k, n]` has the loops of `C`, and then `k`."""
    places = operators.factor_places(op)
    result = op.outputs[0]
    rank = len(result.shape)
    if places is None or rank < 2:
        return None
    left, right = op.inputs[places[0]], op.inputs[places[1]]
    rows, columns, inner = rank - 2, rank - 1, rank
    walks: list[Walk | None] = [_broadcast(meta, result) for meta in op.inputs]
    for place, meta, last in ((places[0], left, (rows, inner)), (places[1], right, (inner, columns))):
        batch = len(meta.shape) - 2
        walks[place] = (*range(rows - batch, rows), *last)
    extents = (*result.shape, left.shape[-1])
    return Iteration(extents, frozenset({inner}), tuple(walks), _results(op))


def _reduction(op: Op) -> Iteration:
    source = op.inputs[0]
    rank = len(source.shape)
    reduced = reduced_dimensions(op, rank)
    kept = tuple(loop for loop in range(rank) if loop not in reduced)
    with_ones = tuple(None if loop in reduced else loop for loop in range(rank))
    outputs = tuple(with_ones if len(meta.shape) == rank else kept for meta in op.outputs)
    whole = tuple(range(rank))
    inputs = tuple(whole if meta.shape == source.shape else None for meta in op.inputs)
    return Iteration(source.shape, reduced, inputs, outputs)


def _elementwise(op: Op) -> Iteration:
    result = op.outputs[0]
    each = operators.may_broadcast(op.packet) and not operators.looks_up(op.packet)
    inputs = tuple(_broadcast(meta, result) if each else None for meta in op.inputs)
    return Iteration(result.shape, frozenset(), inputs, _results(op))


def _results(op: Op) -> tuple[Walk | None, ...]:
    return tuple(_broadcast(meta, op.outputs[0]) for meta in op.outputs)


def _broadcast(meta: TensorMeta, result: TensorMeta) -> Walk | None:
    if not broadcasts_to(meta, result):
        return None
    missing = len(result.shape) - len(meta.shape)
    return tuple(
        missing + index if size == result.shape[missing + index] else None for index, size in enumerate(meta.shape)
    )
