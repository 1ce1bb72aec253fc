"""Walks two tensors of one shape side by side, block by block, without ever copying either whole.

Tensors that lie densely in memory in the same order are walked in that order, whichever it is; any other pair is walked
row by row, and only the block at hand is made contiguous.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from inductor_debug.capture.tensors.memory_spans import memory_order


@dataclass(frozen=True, slots=True)
class Block:
    """Both sides of one block as one-dimensional contiguous tensors; `start` is its place in the walk."""

    start: int
    reference: Tensor
    actual: Tensor


class BlockWalk:
    """The blocks of two tensors of the same shape, and where each element of a block is in the tensors.

    Blocks come on `device`, which is the reference's if none is given.
    """

    def __init__(self, reference: Tensor, actual: Tensor, elements: int, device: torch.device | None = None) -> None:
        self._order = memory_order(reference)
        if memory_order(actual) != self._order or not reference.permute(self._order).is_contiguous():
            self._order = tuple(range(reference.dim()))
        self._reference = reference.permute(self._order)
        self._actual = actual.permute(self._order)
        self._elements = max(elements, 1)
        self._device = device or reference.device

    def __iter__(self) -> Iterator[Block]:
        return self.blocks()

    def blocks(self, share: int = 0, shares: int = 1) -> Iterator[Block]:
        """The blocks; or every `shares`-th of them, from the one numbered `share` on."""
        reference, actual = self._reference, self._actual
        if reference.numel() == 0:
            return
        if reference.is_contiguous() and actual.is_contiguous():
            reference, actual = reference.view(-1), actual.view(-1)
        moved = not reference.device == actual.device == self._device
        for start, place in itertools.islice(_places(reference.shape, self._elements), share, None, shares):
            part, other = _flat(reference[place]), _flat(actual[place])
            yield Block(start, part.to(self._device), other.to(self._device)) if moved else Block(start, part, other)

    def index(self, position: int) -> tuple[int, ...]:
        """The index in the tensors of the element at `position` of the walk."""
        walked: list[int] = []
        for size in reversed(self._reference.shape):
            position, place = divmod(position, size)
            walked.append(place)
        walked.reverse()
        index = [0] * len(walked)
        for place, dimension in zip(walked, self._order, strict=True):
            index[dimension] = place
        return tuple(index)


def _flat(part: Tensor) -> Tensor:
    """One-dimensional, with a conjugation or negation that torch put off carried out.

    No operation is called in vain: each costs a walking thread the interpreter lock.
    """
    if part.dim() != 1:
        part = part.reshape(-1)
    return part.resolve_conj().resolve_neg() if part.is_conj() or part.is_neg() else part


def _places(shape: torch.Size, elements: int) -> Iterator[tuple[int, tuple[int | slice, ...]]]:
    """Index expressions that cut `shape` into parts of at most `elements` elements, in row-major order.

    Each comes with the number of elements before it.
    """
    if not shape:
        yield 0, ()
        return
    split = len(shape) - 1
    while split > 0 and math.prod(shape[split:]) < elements:
        split -= 1
    width = math.prod(shape[split + 1 :])
    rows = max(elements // max(width, 1), 1)
    for number, outer in enumerate(itertools.product(*(range(size) for size in shape[:split]))):
        for row in range(0, shape[split], rows):
            yield (number * shape[split] + row) * width, (*outer, slice(row, row + rows))
