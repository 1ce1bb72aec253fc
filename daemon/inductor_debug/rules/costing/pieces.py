"""Which views of one storage are known to have no element in common.

A view is told by the cuts that made it of the whole: a `split`, `unbind`, `select` or `slice` takes a range of a
dimension of another view; every other view is taken to show all that the view it was made of shows. Two views are
apart where the first cuts in which they differ took ranges of one dimension that do not meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import at_least


@dataclass(frozen=True, slots=True)
class _Cut:
    """The elements from `start` up to `end` along a dimension of the tensor number `source`."""

    source: int
    dimension: int
    start: int
    end: int


_Cuts = tuple[_Cut, ...]


class Pieces:
    """The cuts that made each tensor, learned from the views of a run in their order."""

    def __init__(self) -> None:
        self._cuts: dict[int, _Cuts] = {}

    def view(self, op: Op) -> None:
        """Takes note of an op that makes views of its first operand."""
        if not op.inputs:
            return
        source = op.inputs[0]
        known = self._cuts.get(source.value, ())
        made = list(_ranges(op, source))
        for number, meta in enumerate(op.outputs):
            cut = (_Cut(source.value, *made[number]),) if number < len(made) else ()
            self._cuts[meta.value] = known + cut

    def together(self, parts: Sequence[tuple[TensorMeta, int]]) -> int:
        """The bytes that views of one storage, each with its own bytes, certainly have together."""
        if len(parts) == 1:
            return parts[0][1]
        kept: list[_Cuts] = []
        total = 0
        for meta, amount in sorted(parts, key=lambda part: -part[1]):
            cuts = self._cuts.get(meta.value, ())
            if all(_apart(cuts, other) for other in kept):
                kept.append(cuts)
                total += amount
        return total


def _apart(one: _Cuts, other: _Cuts) -> bool:
    for first, second in zip(one, other, strict=False):
        if first != second:
            same = (first.source, first.dimension) == (second.source, second.dimension)
            return same and (first.end <= second.start or second.end <= first.start)
    return False


def _ranges(op: Op, source: TensorMeta) -> Iterator[tuple[int, int, int]]:
    """Dimension, start and end of what each result shows; nothing of views that cut nothing off."""
    bare, dimension = operators.name(op.packet), op.arguments.get("dim", 0)
    if not isinstance(dimension, int) or not -len(source.shape) <= dimension < len(source.shape):
        return
    dimension %= len(source.shape)
    size = at_least(source.shape[dimension])
    if bare == "slice":
        start, end = (op.arguments.get(name) for name in ("start", "end"))
        if start is None or isinstance(start, int):
            yield dimension, _bounded(start or 0, size), _bounded(end if isinstance(end, int) else size, size)
    elif bare in ("select", "unbind"):
        first = op.arguments.get("index", 0) if bare == "select" else 0
        if isinstance(first, int):
            first %= max(size, 1)
            yield from ((dimension, first + number, first + number + 1) for number in range(len(op.outputs)))
    elif bare in ("split", "split_with_sizes", "chunk"):
        start = 0
        for meta in op.outputs:
            end = start + at_least(meta.shape[dimension])
            yield dimension, start, end
            start = end


def _bounded(position: int, size: int) -> int:
    return min(max(position + size if position < 0 else position, 0), size)
