"""Which files have changed on disk, told once per change and all at once per burst.

An editor tells of one save twice (as a save and as a changed file), and a `git checkout` of hundreds of files one by
one. Nothing is polled: only what somebody tells of is looked at.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterable

BURST_SECONDS = 0.05
"""Changes closer together than this are one burst."""
LONGEST_BURST_SECONDS = 0.5


class FileWatch:
    """Gathers changed paths and hands them to `changed`, which also learns whether files came or went."""

    def __init__(self, changed: Callable[[set[str], bool], None]) -> None:
        self._changed = changed
        self._stamps: dict[str, tuple[int, int] | None] = {}
        self._pending: set[str] = set()
        self._new = False
        self._last = 0.0
        self._task: asyncio.Task[None] | None = None

    def notice(self, paths: Iterable[str], created: Collection[str] = ()) -> None:
        """Files may have changed; those that are as they were when last noticed are left out."""
        for path in paths:
            stamp = stamp_of(path)
            if path in self._stamps and self._stamps[path] == stamp:
                continue
            was_gone = path in self._stamps and self._stamps[path] is None
            self._new = self._new or stamp is None or was_gone or path in created
            self._stamps[path] = stamp
            self._pending.add(path)
        if not self._pending:
            return
        self._last = asyncio.get_running_loop().time()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._wait())

    def remember(self, path: str) -> None:
        """A file has changed, and who has to know does: whoever tells of it again tells no news."""
        self._stamps[path] = stamp_of(path)

    async def settled(self) -> None:
        """Waits until everything noticed has been handed on."""
        if self._task is not None:
            await asyncio.wait([self._task])

    def close(self) -> None:
        """Forgets what is pending."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._pending.clear()

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while (quiet := loop.time() - self._last) < BURST_SECONDS and loop.time() - begun < LONGEST_BURST_SECONDS:
            await asyncio.sleep(BURST_SECONDS - quiet)
        paths, new = self._pending, self._new
        self._pending, self._new, self._task = set(), False, None
        self._changed(paths, new)


def stamp_of(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """What changes when a file is written; None where it cannot be read."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size
