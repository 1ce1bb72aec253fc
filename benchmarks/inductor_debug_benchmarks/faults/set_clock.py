"""A wall clock that somebody sets, for one process: the machine's stays as it is.

Run as a module it is `inductor-debug` under such a clock. How far that is off stands in a file, which is looked at
whenever the time is asked for; files that are written by this clock are stamped by it. Steady clocks stay steady.

    python -m inductor_debug_benchmarks.faults.set_clock OFFSET_FILE serve
"""

from __future__ import annotations

import os
import runpy
import sys
import time
from pathlib import Path

_BILLION = 10**9


class SetClock:
    """The clock of who sets it: how far it is off, in seconds, is kept in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.seconds = 0
        self.set(0)

    def set(self, seconds: int) -> None:
        """Sets the clock so far off."""
        self.seconds = seconds
        beside = self._file.with_suffix(".new")
        beside.write_text(str(seconds), encoding="utf-8")
        beside.replace(self._file)

    def stamp(self, path: Path) -> None:
        """Stamps a file that was written just now by this clock."""
        now = time.time_ns() + self.seconds * _BILLION
        os.utime(path, ns=(now, now))

    def command(self) -> list[str]:
        """What starts a server under this clock."""
        return [sys.executable, "-m", __name__, str(self._file), "serve"]


def main() -> None:
    """Runs `inductor-debug` with the rest of the command line."""
    file = Path(sys.argv[1])
    seconds, nanoseconds = time.time, time.time_ns

    def offset() -> int:
        return int(file.read_text(encoding="utf-8"))

    time.time = lambda: seconds() + offset()
    time.time_ns = lambda: nanoseconds() + offset() * _BILLION
    sys.argv = ["inductor-debug", *sys.argv[2:]]
    runpy.run_module("inductor_debug", run_name="__main__")


if __name__ == "__main__":
    main()
