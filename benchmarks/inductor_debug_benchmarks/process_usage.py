"""What processes are and use, read from `/proc`; on systems without it nothing is known and nothing is claimed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_LONGEST_COMMAND = 200


@dataclass(frozen=True, slots=True)
class SeenProcess:
    """A process that was seen once: when it started (in ticks) tells it from a later one of the same number."""

    process_id: int
    started: int

    @classmethod
    def of(cls, process_id: int) -> SeenProcess | None:
        """The process of that number; None where none lives."""
        fields = _status(process_id)
        return cls(process_id, int(fields[19])) if fields else None

    def lives(self) -> bool:
        """Whether it runs; one that nobody has waited for yet does not."""
        fields = _status(self.process_id)
        return bool(fields) and int(fields[19]) == self.started and fields[0] not in ("Z", "X")

    def __str__(self) -> str:
        """Its number, its age and its command line."""
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - self.started / os.sysconf("SC_CLK_TCK")
        command = _command(self.process_id) or "gone since"
        return f"process {self.process_id}, {age:.1f} s old: {command[:_LONGEST_COMMAND]}"


def seen(process_ids: Iterable[int]) -> set[SeenProcess]:
    """Those of the processes that live."""
    return {process for process in map(SeenProcess.of, process_ids) if process is not None and process.lives()}


def naming(word: str) -> list[int]:
    """The processes whose command line has a word in it."""
    found = [int(entry.name) for entry in _PROC.glob("[0-9]*")]
    return [process for process in found if word in _command(process)]


def _command(process_id: int) -> str:
    try:
        words = (_PROC / str(process_id) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return b" ".join(words).decode("utf-8", "replace").strip()


def _status(process_id: int) -> list[str]:
    """The fields of `/proc/PID/stat` from the state on (proc_pid_stat(5), field 3); none where it is gone."""
    try:
        text = (_PROC / str(process_id) / "stat").read_text(encoding="utf-8", errors="replace")
        return text.rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return []


def resident_bytes(process_id: int) -> int | None:
    """Resident memory of one process in bytes, or None where it cannot be read."""
    try:
        pages = int((_PROC / str(process_id) / "statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def descendants(process_id: int) -> list[int]:
    """The process ids of all children, grandchildren and so on that live now."""
    children: dict[int, list[int]] = {}
    for entry in _PROC.glob("[0-9]*/stat"):
        try:
            text = entry.read_text()
        except OSError:
            continue
        parent = int(text.rsplit(")", 1)[1].split()[1])
        children.setdefault(parent, []).append(int(entry.parent.name))
    found: list[int] = []
    waiting = [process_id]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def tree_seconds(process_id: int) -> float:
    """Processor seconds that a process and everything below it that lives, or has been waited for, have used."""
    ticks = 0
    for member in (process_id, *descendants(process_id)):
        ticks += sum(map(int, _status(member)[11:15]))  # utime, stime, cutime, cstime: fields 14 to 17
    return ticks / os.sysconf("SC_CLK_TCK")


async def peak_resident(process_id: int, until: asyncio.Event) -> int:
    """The largest resident size in bytes of any descendant, watched every 100 ms until the event is set."""
    peak = 0
    while not until.is_set():
        for child in descendants(process_id):
            peak = max(peak, resident_bytes(child) or 0)
        try:
            await asyncio.wait_for(until.wait(), 0.1)
        except asyncio.TimeoutError:
            continue
    return peak
