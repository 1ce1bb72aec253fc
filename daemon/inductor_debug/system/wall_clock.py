"""Readings of the clock that files are stamped with, and whether that clock was set since.

A file that was changed while something ran is known by its time of modification, as long as the clock runs evenly: who
sets it back makes what is new look old. The steady clock, which nobody sets, tells. Nothing else here goes by the wall
clock: limits, pauses and figures are steady. Standard library only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

_UNEVEN = 50_000_000
"""Nanoseconds by which the two clocks may differ: a process may have to wait between looking at one and the other."""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """A moment: `wall` is nanoseconds since 1970, `steady` counts from wherever the system began to."""

    wall: int = 0
    steady: int = 0

    @classmethod
    def now(cls) -> ClockReading:
        """This one."""
        return cls(time.time_ns(), time.monotonic_ns())

    def clock_was_set(self) -> bool:
        """Whether somebody has set the wall clock since, or the machine slept: then times of files tell nothing."""
        now = ClockReading.now()
        return abs((now.wall - self.wall) - (now.steady - self.steady)) > _UNEVEN
