"""What processes use, read from `/proc`; on systems without it nothing is known and nothing is claimed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

_PROC = Path("/proc")


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
        try:
            fields = (_PROC / str(member) / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        ticks += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime: proc_pid_stat(5), fields 14 to 17
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
