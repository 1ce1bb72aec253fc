"""Where a script throws away what torch has compiled, and what it calls again after that.

Between measurements of different settings that is right; what is the same before and after is compiled anew for
nothing. `torch._dynamo.reset` is replaced meanwhile, and called all the same; nothing is told here.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import torch._dynamo
from inductor_debug_schema import Location

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.runtime.loading import run_user_code


class ResetWatch:
    """Sees the resets of a script.

    Args:
        sources: tells where the calls stand.
    """

    def __init__(self, sources: SourceMap) -> None:
        self._sources = sources
        self._place: Location | None = None
        self._number = 0
        self._after: dict[tuple[Location, tuple[object, ...]], set[int]] = {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watches until it is left."""
        original = torch._dynamo.reset

        def reset() -> None:
            frames = self._sources.stack(sys._getframe(1), run_user_code.__code__)
            self._place = frames[0].location if frames else None
            self._number += 1
            original()

        torch._dynamo.reset = reset
        try:
            yield
        finally:
            torch._dynamo.reset = original

    def called(self, what: tuple[object, ...]) -> None:
        """Takes down that something compiled is called; what is alike is the same."""
        if self._place is not None:
            self._after.setdefault((self._place, what), set()).add(self._number)

    def repeated(self, times: int) -> dict[Location, int]:
        """The places of resets, as many at least, after which the same was called, with how many there were."""
        counts: dict[Location, int] = {}
        for (place, _), numbers in self._after.items():
            if len(numbers) >= times:
                counts[place] = max(counts.get(place, 0), len(numbers))
        return counts
