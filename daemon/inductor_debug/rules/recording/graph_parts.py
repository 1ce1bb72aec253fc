"""A run as it would be with fewer graph breaks: what lies on their two sides becomes one graph.

The same operations run, so that nothing has to be captured anew. What the code at a break does besides (printing, for
example) is in no recording, and so is left as it was.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from inductor_debug_schema import Location

from inductor_debug.rules.recording.ops import Recording


def joined(recording: Recording, removed: Collection[Location]) -> Recording:
    """The recording without the graph breaks at some places.

    A border that several breaks make goes where all of them are removed.
    """
    known = frozenset(removed)
    home = {part: part for part in recording.parts}

    def find(part: int) -> int:
        while home[part] != part:
            home[part] = part = home[home[part]]
        return part

    for border in recording.borders:
        if border.causes and border.causes <= known:
            first, second = find(border.first), find(border.second)
            home[max(first, second)] = min(first, second)
    parts = tuple(map(find, recording.parts))
    if len(set(parts)) <= 1:
        return replace(recording, parts=(), borders=())
    kept = (replace(border, first=find(border.first), second=find(border.second)) for border in recording.borders)
    return replace(recording, parts=parts, borders=tuple(border for border in kept if border.first != border.second))
