"""What code asks for where it raises or asserts, as contradictions between tensors: `assert x.shape == y.shape`.

So what it was computed from can be mended as where torch itself refuses something, also where the tensors are no
arguments of the call any more but parts of those, or were made of them. Nothing is run and no message is read.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

import torch
from inductor_debug_schema import ConflictKind

from inductor_debug.capture.failures.conflicts import Conflict, Side, sizes_of
from inductor_debug.capture.inference.search.operand_watch import RefusedOperands, Sources
from inductor_debug.capture.inference.search.raised_facts import Raised
from inductor_debug.capture.inference.search.refusals import Refusal, Size, asked_of_tensors


def asked_conflict(
    error: BaseException | None, sources_of: Callable[[torch.Tensor], Sources]
) -> RefusedOperands | None:
    """What the condition contradicts under which `error` was raised; None where none is known.

    Args:
        error: what was raised, with its frames.
        sources_of: tells what a tensor was computed from.
    """
    asked, tensors = asked_of_tensors(error)
    shapes = {name: tuple(sizes_of(tensor)) for name, tensor in tensors.items()}
    known = {name: sources for name, tensor in tensors.items() if (sources := sources_of(tensor))}
    found = [item for item in _contradictions(asked, shapes) if known.keys() & set(item[0])]
    if not found:
        return _by_pattern(error, tensors, known)
    # What came of one input alone has hardly been computed for anything else.
    names, conflict = min(found, key=lambda item: min(len(known[name]) for name in item[0] if name in known))
    return RefusedOperands(
        conflict, tuple(known.get(name, frozenset()) for name in names), tuple(len(shapes[name]) for name in names)
    )


def _by_pattern(
    error: BaseException | None, tensors: Mapping[str, torch.Tensor], known: Mapping[str, Sources]
) -> RefusedOperands | None:
    """That a tensor has not as many dimensions as the pattern that it is taken apart by, `"b n (h d) -> b h n d"`."""
    expected = Raised.by(error).expected_dims
    if expected is None or len(tensors) != 1 or len(known) != 1:
        return None
    name, rank = next((name, len(sizes_of(tensor))) for name, tensor in tensors.items())
    conflict = Conflict(ConflictKind.RANK, Side(0, None, rank), None, expected)
    return RefusedOperands(conflict, (known[name],), (rank,)) if rank != expected else None


def _contradictions(
    asked: Refusal, shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[tuple[str, ...], Conflict]]:
    """Which tensors, by name, are to have another rank or size, and what contradicts itself there."""
    for name, rank in asked.ranks.items():
        have = len(shapes.get(name, ()))
        if name in shapes and have != rank:
            yield (name,), Conflict(ConflictKind.RANK, Side(0, None, have), None, rank)
    sides = [(name, dim, size) for name, dim, size in _measured(asked.sizes, shapes) if shapes[name][dim] != size]
    for (one, left, wanted), (other, right, size) in itertools.combinations(sides, 2):
        if one != other and shapes[one][left] == size and shapes[other][right] == wanted:
            yield (one, other), Conflict(ConflictKind.SIZE, Side(0, left, size), Side(1, right, wanted), None)
    for name, dim, size in sides:
        yield (name,), Conflict(ConflictKind.SIZE, Side(0, dim, shapes[name][dim]), None, size)
    for name, dim, factor in _measured(asked.multiples, shapes):
        if shapes[name][dim] % factor:
            yield (name,), Conflict(ConflictKind.DIVISIBILITY, Side(0, dim, shapes[name][dim]), None, factor)


def _measured(asked: Mapping[Size, int], shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, int, int]]:
    """The name of a tensor, one of its dimensions, counted from the first, and the number that is asked of it."""
    for (name, index), number in asked.items():
        rank = len(shapes.get(name, ()))
        if -rank <= index < rank:
            yield name, index % rank, number
