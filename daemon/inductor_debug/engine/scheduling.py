"""How long an analysis waits for the typing to pause.

The first change after a quiet time starts at once. Within a burst every change starts anew what the one before began,
so each waits a little, the longer the more a run costs. What an unfinished statement breaks is nobody's mistake yet, so
new errors wait for the typing to pause. Pure arithmetic on a clock; it starts and cancels nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

QUIET_SECONDS = 0.5
"""So long without a change, and the typing has paused: the next change is not part of a burst."""
SHORTEST_DELAY = 0.03
LONGEST_DELAY = 0.5
SHARE_OF_RUN = 0.25
"""The delay within a burst, as a share of the time from start to first findings."""


@dataclass
class Debounce:
    """One document's typing. `first_findings` is how long the last run took to its first findings, in seconds."""

    clock: Callable[[], float] = time.monotonic
    first_findings: float = 0.0
    _last_change: float = float("-inf")

    def delay(self) -> float:
        """Notes a change and says how many seconds its analysis should wait."""
        now = self.clock()
        quiet = now - self._last_change
        self._last_change = now
        if quiet >= QUIET_SECONDS:
            return 0.0
        return min(max(SHARE_OF_RUN * self.first_findings, SHORTEST_DELAY), LONGEST_DELAY)

    def quiet_in(self) -> float:
        """In how many seconds the typing will have paused, if nothing more is typed; 0.0 where it has."""
        return max(0.0, self._last_change + QUIET_SECONDS - self.clock())
