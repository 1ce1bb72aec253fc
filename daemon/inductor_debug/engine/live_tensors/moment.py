"""What is alive at one moment of a timeline, and how much memory that is over the whole run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from inductor_debug_schema import TensorTimeline, TimelineStorage, TimelineTensor

from inductor_debug.engine.live_tensors.lookup import Visit

CURVE_STEPS = 120
"""Steps of the memory over a run that are told."""


@dataclass(frozen=True, slots=True)
class Moment:
    """While operation `op` runs or, `between` two, when it has run; -1 is before all of them.

    Operations `first` up to but not including `last` are those of the line; none between two operations.
    """

    op: int
    between: bool
    first: int
    last: int

    def alive(self, began: int, end: int) -> bool:
        """Whether what operation `began` made and what went away when `end` had run is there."""
        return began <= self.op and end > self.op + self.between

    def of_line(self, op: int) -> bool:
        """Whether an operation is one of the line's."""
        return self.first <= op < self.last


def moment_of(timeline: TensorTimeline, visit: Visit) -> Moment:
    """The moment that is shown for a visit: the last operation of its statement, or what comes before the line's."""
    if visit.statement < 0:
        began = timeline.calls[visit.call].first
        return Moment(began - 1, True, began, began)
    statement = timeline.statements[visit.statement]
    if visit.between:
        return Moment(statement.last - 1, True, statement.last, statement.last)
    return Moment(statement.last - 1, False, statement.first, statement.last)


def storage_alive(storage: TimelineStorage, moment: Moment) -> bool:
    """Whether memory is there."""
    return moment.alive(storage.first, storage.end)


def tensor_alive(tensor: TimelineTensor, timeline: TensorTimeline, moment: Moment) -> bool:
    """Whether a tensor is there."""
    return moment.alive(max(tensor.made, timeline.storages[tensor.storage].first), tensor.end)


def memory_over(timeline: TensorTimeline) -> list[int]:
    """The bytes alive while each operation runs."""
    spans = ((max(item.first, 0), min(item.end, timeline.operations), item.bytes) for item in timeline.storages)
    return sums_over(timeline.operations, spans)


def sums_over(operations: int, spans: Iterable[tuple[int, int, int]]) -> list[int]:
    """For each operation the sum of the bytes of those spans that it is in: first, one after the last, bytes."""
    changes = [0] * (operations + 1)
    for first, end, amount in spans:
        changes[first] += amount
        changes[end] -= amount
    return list(accumulate(changes[:-1]))


def curve_of(memory: Sequence[int], most: int = CURVE_STEPS) -> list[int]:
    """The highest memory in each of at most so many steps."""
    steps = min(len(memory), most)
    bounds = [len(memory) * step // steps for step in range(steps + 1)] if steps else [0]
    return [max(memory[start:end]) for start, end in pairwise(bounds)]


def step_of(op: int, operations: int) -> int:
    """The step of the curve in which an operation lies."""
    steps = min(operations, CURVE_STEPS)
    bounds = [operations * step // steps for step in range(1, steps + 1)] if steps else []
    return next((step for step, bound in enumerate(bounds) if max(op, 0) < bound), 0)
