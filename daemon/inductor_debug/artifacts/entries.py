"""What the store knows of an artifact, and how entries are chosen: plain data, and the lines of the index.

A line of the index is one JSON object. Lines that are no such object are passed over: another version, another
program or a full disk may have left them.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import ArtifactKind, ArtifactReference, Stage

UNKNOWN_MEDIA_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class ArtifactEntry:
    """One artifact. `path` is absolute, `created` in seconds since 1970, `source` the absolute path of the user's file.

    Of a file that the index does not know, `title`, `target`, `source` and `stage` are empty.
    """

    kind: ArtifactKind
    path: str
    bytes: int
    created: float
    media_type: str = UNKNOWN_MEDIA_TYPE
    title: str = ""
    target: str = ""
    source: str = ""
    stage: Stage | None = None

    @property
    def reference(self) -> ArtifactReference:
        """The entry as messages name it."""
        return ArtifactReference(self.kind, self.path, self.bytes, self.media_type)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which entries: those that fit everything that is said. `before` is a moment, in seconds since 1970.

    `source` is an absolute path: of a file, or of a folder that stands for all files below it.
    """

    kinds: tuple[ArtifactKind, ...] = ()
    target: str = ""
    source: str = ""
    stage: Stage | None = None
    before: float | None = None

    def fits(self, entry: ArtifactEntry) -> bool:
        """Whether the entry is meant."""
        return (
            (not self.kinds or entry.kind in self.kinds)
            and (not self.target or entry.target == self.target)
            and (not self.source or self._is_of_source(entry.source))
            and (self.stage is None or entry.stage is self.stage)
            and (self.before is None or entry.created < self.before)
        )

    def _is_of_source(self, source: str) -> bool:
        return source == self.source or source.startswith(self.source.rstrip(os.sep) + os.sep)


@dataclass(frozen=True, slots=True)
class KnownArtifact:
    """What a line of the index says of the file `name` in the folder `kind`."""

    kind: str
    name: str
    media_type: str
    title: str
    target: str
    source: str
    stage: str

    def line(self) -> bytes:
        """The line. Its end comes first, so that a line that was cut off by a full disk spoils no other."""
        said = {field: getattr(self, field) for field in self.__slots__}
        return b"\n" + json.dumps(said, ensure_ascii=True, separators=(",", ":")).encode()


def read_lines(content: bytes) -> Iterator[KnownArtifact]:
    """What the lines of an index say, those left out that say nothing we understand."""
    lines = [line for line in content.split(b"\n") if line]
    for said in _all_at_once(lines) or _one_by_one(lines):
        known = _known(said)
        if known is not None:
            yield known


def _all_at_once(lines: list[bytes]) -> list[Any] | None:
    """A sound index is read in one go, which is several times faster."""
    try:
        said = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, list) else None


def _one_by_one(lines: Iterable[bytes]) -> Iterator[Any]:
    for line in lines:
        with contextlib.suppress(ValueError, RecursionError):
            yield json.loads(line)


def _known(said: Any) -> KnownArtifact | None:
    if not isinstance(said, dict):
        return None
    values = [said.get(field, "") for field in KnownArtifact.__slots__]
    if not all(isinstance(value, str) for value in values):
        return None
    return KnownArtifact(*values)
