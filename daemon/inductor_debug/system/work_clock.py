"""A clock that stands still while a process could run and gets no core, because others have them all.

Limits of time are there for what hangs or runs away, not for machines that are busy. What sleeps, waits for a lock or
for a disk counts; only time in the kernel's run queue does not (`/proc/PID/schedstat`, Linux; its documentation is
`Documentation/scheduler/sched-stats.rst`). Elsewhere this is a wall clock. Standard library only; it reads, and never
signals anything.
"""

from __future__ import annotations

import time

from inductor_debug.system import processes

LOOK_SECONDS = 0.5
"""How often whoever waits by this clock looks at it."""


class WorkClock:
    """Seconds of work of a process and all below it, from now on.

    Args:
        pid: the process; None for a wall clock.
    """

    def __init__(self, pid: int | None) -> None:
        self._pid = pid
        self._started = self._looked = time.monotonic()
        self._queued = self._waits()
        self._lost = 0.0

    def seconds(self) -> float:
        """Seconds since the clock was made, without those for which all that wanted to run had to wait."""
        now = time.monotonic()
        queued = self._waits()
        waited = max((seconds - self._queued.get(pid, 0.0) for pid, seconds in queued.items()), default=0.0)
        # Several that wait at the same time wait no longer for it.
        self._lost += min(max(waited, 0.0), now - self._looked)
        self._looked, self._queued = now, queued
        return now - self._started - self._lost

    def _waits(self) -> dict[int, float]:
        if self._pid is None:
            return {}
        members = (self._pid, *processes.descendants(self._pid))
        return {pid: seconds for pid in members if (seconds := processes.queued_seconds(pid)) is not None}
