"""Timelines of tensors as they lie in memory: small, for every text that is typed leaves one and hardly any is read.

A timeline of eighty layers is a hundred thousand objects, as much memory as the rest of the server; packed, they are a
hundredth. Who asks for one asks again soon, so the latest stay unpacked.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterator, Mapping

import msgpack
from inductor_debug_schema import TensorTimeline, from_wire, to_wire

_UNPACKED = 2
"""Timelines that stay as they were read."""


Change = Callable[[TensorTimeline], TensorTimeline]


class PackedTimelines(Mapping[str, TensorTimeline]):
    """The timelines of a run, by target."""

    def __init__(self, changes: tuple[Change, ...] = ()) -> None:
        self._packed: dict[str, bytes] = {}
        self._changes = changes

    def keep(self, target: str, timeline: TensorTimeline) -> None:
        """Takes in the timeline of a target, in place of an earlier one."""
        self._packed[target] = zlib.compress(msgpack.packb(to_wire(timeline)), 1)

    def changed(self, change: Change) -> PackedTimelines:
        """The same timelines after a change, which is made when one is asked for."""
        changed = PackedTimelines((*self._changes, change))
        changed._packed = self._packed
        return changed

    def __getitem__(self, target: str) -> TensorTimeline:
        """Unpacks one; for looking whether there is one, `in` is cheaper."""
        return _unpacked(self._packed[target], self._changes)

    def __contains__(self, target: object) -> bool:
        """Whether the run has left a timeline of the target."""
        return target in self._packed

    def __iter__(self) -> Iterator[str]:
        """The targets."""
        return iter(self._packed)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._packed)


@functools.lru_cache(maxsize=_UNPACKED)
def _unpacked(packed: bytes, changes: tuple[Change, ...]) -> TensorTimeline:
    timeline: TensorTimeline = from_wire(TensorTimeline, msgpack.unpackb(zlib.decompress(packed)))
    for change in changes:
        timeline = change(timeline)
    return timeline
