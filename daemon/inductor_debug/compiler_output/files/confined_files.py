"""Files of a folder that nobody vouches for: bounded in number, size and depth, and never outside of the folder.

Links are not followed, devices and pipes are not opened, and what cannot be read is noted with the reason. Nothing here
knows what the files mean.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from inductor_debug.rules.amounts import in_bytes

MOST_FILES = 20_000
MOST_DEPTH = 12
MOST_BYTES = 32 << 20
"""Of one file that is read whole."""
MOST_LOG_BYTES = 512 << 20
"""Of one log, which is read line by line."""
MOST_TOTAL_BYTES = 512 << 20
"""Of all files that are read whole."""
MOST_JSON_DEPTH = 64
_NUMBERS = re.compile(r"(\d{1,18})")


class FileFaultError(Exception):
    """A file, or what stands in it, is of no use; the message says why in a few words."""


@dataclass(frozen=True, slots=True, order=True)
class Unread:
    """A file, by its path in the folder, that was not understood, or not in all parts, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class ConfinedFile:
    """A regular file: its path in the folder with slashes, its size, and when it was written (seconds since 1970)."""

    path: str
    bytes: int
    modified: float

    @property
    def name(self) -> str:
        """Its name in its folder."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The path of its folder; "" where that is the root."""
        return self.path.rpartition("/")[0]


@dataclass
class ConfinedFolder:
    """A folder, or the one file that is all there is to read. Faults gather in `unread`."""

    root: Path
    files: list[ConfinedFile] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    _left: int = MOST_TOTAL_BYTES

    @classmethod
    def at(cls, path: str) -> ConfinedFolder:
        """Lists what is there.

        Raises:
            FileFaultError: there is nothing at `path`, or it may not be looked at.
        """
        try:
            root = Path(path).resolve(strict=True)
            status = root.stat()
        except (OSError, RuntimeError, ValueError) as error:
            raise FileFaultError(_reason(error)) from None
        if stat.S_ISREG(status.st_mode):
            return cls(root.parent, [ConfinedFile(root.name, status.st_size, status.st_mtime)])
        if not stat.S_ISDIR(status.st_mode):
            raise FileFaultError("it is neither a folder nor a file")
        if not os.access(root, os.R_OK | os.X_OK):
            raise FileFaultError("permission denied")
        folder = cls(root)
        folder._list()
        folder.files.sort(
            key=lambda file: [
                (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in _NUMBERS.split(file.path)
            ]
        )
        return folder

    def fault(self, path: str, why: str) -> None:
        """Notes what is wrong with a file."""
        self.unread.append(Unread(path, why))

    def text(self, file: ConfinedFile) -> str:
        """The whole file as text; bytes that are no UTF-8 become replacement characters.

        Raises:
            FileFaultError: it is too large, changed into something else, or cannot be read.
        """
        if file.bytes > MOST_BYTES:
            raise FileFaultError(f"it has {in_bytes(file.bytes)}, more than the {in_bytes(MOST_BYTES)} that are read")
        if file.bytes > self._left:
            raise FileFaultError(f"all files together have more than the {in_bytes(MOST_TOTAL_BYTES)} that are read")
        try:
            with self._opened(file) as handle:
                content = handle.read(MOST_BYTES + 1)
        except OSError as error:
            raise FileFaultError(_reason(error)) from None
        if len(content) > MOST_BYTES:
            raise FileFaultError("it grew while it was read")
        self._left -= len(content)
        return content.decode("utf-8", "replace")

    def json(self, file: ConfinedFile) -> Any:
        """The whole file as JSON.

        Raises:
            FileFaultError: as for `text`, or it is no JSON, or is nested too deeply.
        """
        return read_json(self.text(file))

    def lines(self, file: ConfinedFile) -> Iterator[str]:
        """The lines of a log without their ends.

        Raises:
            FileFaultError: it is too large or cannot be read.
        """
        if file.bytes > MOST_LOG_BYTES:
            raise FileFaultError(
                f"it has {in_bytes(file.bytes)}, more than the {in_bytes(MOST_LOG_BYTES)} that are read"
            )
        try:
            with self._opened(file) as handle:
                while line := handle.readline(MOST_BYTES):
                    yield line.decode("utf-8", "replace").rstrip("\r\n")
        except OSError as error:
            raise FileFaultError(_reason(error)) from None

    def _opened(self, file: ConfinedFile) -> BinaryIO:
        """Opened once more without following links: the folder may have changed since it was listed."""
        descriptor = os.open(
            self.root / file.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileFaultError("it is no regular file")
        return os.fdopen(descriptor, "rb")

    def _list(self) -> None:
        pending = [("", 0)]
        while pending:
            folder, depth = pending.pop()
            try:
                entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
            except OSError as error:
                self.fault(folder, _reason(error))
                continue
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if len(self.files) >= MOST_FILES:
                    self.fault(
                        path, f"there are more than {MOST_FILES:,} files; this one and those after it were left out"
                    )
                    return
                self._enter(entry, path, depth, pending)

    def _enter(self, entry: os.DirEntry[str], path: str, depth: int, pending: list[tuple[str, int]]) -> None:
        try:
            if entry.is_symlink():
                self.fault(path, "it is a link, and links are not followed")
            elif entry.is_dir(follow_symlinks=False):
                if depth < MOST_DEPTH:
                    pending.append((path, depth + 1))
                else:
                    self.fault(path, f"it lies more than {MOST_DEPTH} folders deep")
            elif entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                self.files.append(ConfinedFile(path, status.st_size, status.st_mtime))
            else:
                self.fault(path, "it is no regular file")
        except OSError as error:
            self.fault(path, _reason(error))


def read_json(text: str) -> Any:
    """JSON that somebody else wrote.

    Raises:
        FileFaultError: it is none, or is nested deeper than `MOST_JSON_DEPTH`.
    """
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else f"it is no JSON: {error}"
        raise FileFaultError(why) from None
    level = [said]
    for _ in range(MOST_JSON_DEPTH):
        level = [child for value in level for child in _children(value)]
        if not level:
            return said
    raise FileFaultError("it is nested too deeply")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [child for child in value.values() if isinstance(child, (dict, list))]
    return [child for child in value if isinstance(child, (dict, list))] if isinstance(value, list) else []


def _reason(error: BaseException) -> str:
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
