"""Keeps the elements that differ most, while the blocks of two tensors go by.

Elements where one side is not finite come first, in the order in which they were met; the others by absolute error.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from inductor_debug.kerneldiff.metrics.blocks import Block
from inductor_debug.kerneldiff.metrics.metrics import Number


@dataclass(frozen=True, slots=True, order=True)
class WorstCandidate:
    """An element that may be among the worst; `position` is its negated place in the walk, so that ties go by place."""

    error: float
    position: int
    reference: Number
    actual: Number


class Worst:
    """The worst `limit` elements so far."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._heap: list[WorstCandidate] = []

    def wants(self, error: float) -> bool:
        """Whether an element with that error would be among the worst."""
        if self._limit == 0 or not error > 0:
            return False
        return len(self._heap) < self._limit or error > self._heap[0].error

    def take(self, block: Block, errors: Tensor) -> None:
        """Looks for the worst of a block; `errors` are comparable numbers, larger is worse."""
        count = min(self._limit, errors.numel())
        values, indices = torch.topk(errors, count)
        for error, index in zip(values.tolist(), indices.tolist(), strict=True):
            if not self.wants(error):
                break
            self._push(block, index, error)

    def take_nonfinite(self, block: Block, places: Tensor) -> None:
        """Notes elements of a block where exactly one side has a certain NaN or infinity."""
        for index in places[: self._limit].tolist():
            if self.wants(math.inf):
                self._push(block, index, math.inf)

    def _push(self, block: Block, index: int, error: float) -> None:
        found = WorstCandidate(
            error, -(block.start + index), value_at(block.reference, index), value_at(block.actual, index)
        )
        if len(self._heap) < self._limit:
            heapq.heappush(self._heap, found)
        else:
            heapq.heappushpop(self._heap, found)

    def merge(self, other: Worst) -> None:
        """Takes over what another collection found."""
        self._heap = heapq.nlargest(self._limit, self._heap + other._heap)
        heapq.heapify(self._heap)

    def sorted(self) -> list[WorstCandidate]:
        """The worst first."""
        return sorted(self._heap, key=lambda found: (-found.error, -found.position))


def value_at(values: Tensor, index: int) -> Number:
    """One element as a Python number."""
    element = values[index]
    value: Number = element.dequantize().item() if element.is_quantized else element.item()
    return value
