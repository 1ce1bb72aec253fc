"""Files and folders as they were when something was learned from them, to be compared with what they are now.

A file is what stands in it, a folder the names in it, and what is missing is missing. Reads; writes nothing.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass

_LARGE = 1 << 24
"""Bytes from which on a file's content is not read: its size and time of modification speak for it."""
_OF_NO_MEANING = ("__pycache__",)


@dataclass(slots=True)
class Stamp:
    """A path as it was: modification time in nanoseconds, size in bytes, digest of content; "" where it is missing.

    `digest` is a text, so that stamps can be written down.
    """

    path: str
    modified: int
    size: int
    digest: str

    @staticmethod
    def of(path: str) -> Stamp:
        """The path as it is now.

        Raises:
            OSError: it is there and cannot be read.
        """
        status = _status(path)
        if status is None:
            return Stamp(path, 0, 0, "")
        return Stamp(path, status.st_mtime_ns, status.st_size, _digest(path, status))

    def holds(self) -> bool:
        """Whether the path is what it was. Reads it only if it was touched; notes where that changed nothing."""
        try:
            status = _status(self.path)
            if status is None or not self.digest:
                return status is None and not self.digest
            if (status.st_mtime_ns, status.st_size) == (self.modified, self.size):
                return True
            if _digest(self.path, status) != self.digest:
                return False
        except OSError:
            return False
        self.modified, self.size = status.st_mtime_ns, status.st_size
        return True


def stamps_of(paths: Iterable[str], before: int) -> list[Stamp] | None:
    """The stamps of all paths; None if one cannot be read, or changed at `before` (nanoseconds since 1970) or later."""
    try:
        stamps = [Stamp.of(path) for path in paths]
    except OSError:
        return None
    return None if any(stamp.modified >= before for stamp in stamps) else stamps


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _digest(path: str, status: os.stat_result) -> str:
    if stat.S_ISDIR(status.st_mode):
        names = sorted(name for name in os.listdir(path) if name not in _OF_NO_MEANING and not name.startswith("."))
        content = "\0".join(names).encode("utf-8", "surrogateescape")
    elif not stat.S_ISREG(status.st_mode) or status.st_size > _LARGE:
        content = f"{status.st_mtime_ns} {status.st_size}".encode()
    else:
        with open(path, "rb") as file:
            content = file.read()
    return hashlib.blake2b(content, digest_size=16).hexdigest()
