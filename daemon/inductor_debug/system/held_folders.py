"""Temporary folders that say by themselves whether their owner still lives, so that others can remove what it left.

A process that is killed cannot clean up. Its folders are *held*: it keeps a lock on each, which the kernel lets go of
with the process, whatever ended it; a number of a process could be another's by then, also in another container.
Folders of other users and without a lock are left alone, and so is everything where the system has no such locks.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile

_PREFIX = "inductor-debug-held-"
"""Of folders that are locked as soon as they are seen: no older release made one without a lock."""


class HeldFolder(tempfile.TemporaryDirectory[str]):
    """A folder that removes itself, and that `remove_abandoned` removes once this process has ended without doing so.

    Args:
        purpose: a word of its name, for people who look around in their temporary folder.
        place: where it is to lie, if not in the system's temporary folder.

    Raises:
        OSError: none can be made.
    """

    def __init__(self, purpose: str, place: str | None = None) -> None:
        super().__init__(prefix=f"{_PREFIX}{purpose}-", dir=place, ignore_cleanup_errors=True)
        self._lock = _lock(self.name, wait=True)
        while not os.path.isdir(self.name):  # another process took it for abandoned before it was locked
            self._let_go()
            os.mkdir(self.name, 0o700)
            self._lock = _lock(self.name, wait=True)

    def cleanup(self) -> None:
        """Removes the folder, and then lets go of it."""
        super().cleanup()
        self._let_go()

    def _let_go(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


def remove_abandoned(places: tuple[str, ...] = ()) -> None:
    """Removes this user's folders whose owners have ended, in the system's temporary folder and the `places`."""
    for place in {tempfile.gettempdir(), *places}:
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if entry.name.startswith(_PREFIX):
                    _remove_if_abandoned(entry.path)


def _remove_if_abandoned(folder: str) -> None:
    lock = _lock(folder)
    if lock is None:
        return
    try:
        if os.fstat(lock).st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _lock(folder: str, *, wait: bool = False) -> int | None:
    """A lock on a folder, as a descriptor; None where there is no such folder, no locks, or somebody else's."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
