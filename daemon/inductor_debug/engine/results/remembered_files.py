"""A folder with one JSON file for each thing that something is remembered of: a source file, a text of one.

What cannot be written is only forgotten earlier; what cannot be read is forgotten. It knows nothing of what it holds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Place = tuple[str, str, str]
"""Interpreter, project root and absolute path."""


class RememberedFiles:
    """Reads and writes the documents.

    Args:
        folder: where they are; without one nothing is kept.
        capacity: how many there are at most; those that were written first go first.
    """

    def __init__(self, folder: Path | None, capacity: int) -> None:
        self._folder, self._capacity = folder, capacity

    def read(self, place: tuple[str, ...]) -> Any:
        """The document of a place, or of another key; None where there is none that can be read."""
        if self._folder is None:
            return None
        try:
            return json.loads(self._file(self._folder, place).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def write(self, place: tuple[str, ...], document: object) -> None:
        """Keeps a document in the place of an earlier one."""
        if self._folder is None:
            return
        file = self._file(self._folder, place)
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                self._make_room(self._folder)
            beside = file.with_suffix(f".{os.getpid()}")
            try:
                beside.write_text(json.dumps(document), encoding="utf-8")
                beside.replace(file)
            except OSError:  # a full disk keeps half of it
                beside.unlink(missing_ok=True)

    def remove(self, place: tuple[str, ...]) -> None:
        """Forgets a place."""
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._file(self._folder, place).unlink(missing_ok=True)

    def _make_room(self, folder: Path) -> None:
        files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
        for file in files[: max(0, len(files) - self._capacity + 1)]:
            file.unlink(missing_ok=True)

    @staticmethod
    def _file(folder: Path, place: tuple[str, ...]) -> Path:
        digest = hashlib.blake2b("\0".join(place).encode("utf-8", "surrogatepass"), digest_size=16)
        return folder / f"{digest.hexdigest()}.json"


class RecentFiles(Generic[T]):
    """What is remembered of the source files that were used last: in memory, and in a folder where there is one.

    Args:
        folder: for what is to outlive the daemon.
        capacity: of how many files something is kept, in memory and in the folder; the least recently used go first.
        read: makes what is kept in memory of a document, which may have been written by anybody, or be None.
    """

    def __init__(self, folder: Path | None, capacity: int, read: Callable[[Any], T]) -> None:
        self._written = RememberedFiles(folder, capacity)
        self._capacity, self._read = capacity, read
        self._held: OrderedDict[Place, T] = OrderedDict()

    def __iter__(self) -> Iterator[Place]:
        """The files of which something is in memory, the least recently used first."""
        return iter(list(self._held))

    def of(self, place: Place) -> T:
        """What is remembered of a file."""
        if place not in self._held:
            self._held[place] = self._read(self._written.read(place))
        self._held.move_to_end(place)
        return self._held[place]

    def to_change(self, place: Place) -> T:
        """What is remembered of a file to which something is to be added; others make room for it."""
        held = self.of(place)
        while len(self._held) > self._capacity:
            self._held.popitem(last=False)
        return held

    def write(self, place: Place, document: object) -> None:
        """Writes down what outlives the daemon of a file."""
        self._written.write(place, document)

    def forget(self, path: str | None = None) -> None:
        """Forgets one file, or all that are in memory, for good."""
        for place in [place for place in self if path in (None, place[2])]:
            del self._held[place]
            self._written.remove(place)
