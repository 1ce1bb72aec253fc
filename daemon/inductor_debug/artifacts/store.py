"""The artifact store: a folder of files that graphs, kernels, statistics and reports are kept in.

    <folder>/store.json             what this is, and the version of its layout
    <folder>/index.jsonl            a line of details for each artifact, only ever appended to
    <folder>/<kind>/<file>-<target>-<stage>-<digest of the content><suffix>

Names carry a digest of the content, so two processes never write different things to one name, and the same graph kept
twice is one file. Files appear whole or not at all. The files are what counts: the index adds titles and targets to
them, and whatever is lost or damaged in it costs no more than those. Nothing here waits for another process.

Keeping something never raises: a full disk, a read-only or foreign folder costs the artifact, and `trouble` says why.
The oldest artifacts go when all together are larger than the limit. Files that do not have such a name are not ours and
are neither counted nor removed; nor is anything in a folder that says it is something else (`foreign`).
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from inductor_debug_schema import ArtifactKind, ArtifactMade, ArtifactReference, Stage

from inductor_debug.artifacts.entries import ArtifactEntry, KnownArtifact, Selection, read_lines
from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.system.processes import is_running

DEFAULT_LIMIT_BYTES = 1 << 30
FORMAT = "inductor-debug artifacts"
SCHEMA = 1
_MARK, _INDEX = "store.json", "index.jsonl"
_OURS = re.compile(r"^[^/\\]*-[0-9a-f]{20}(\.[A-Za-z0-9.]+)?$")
_DRAFT = re.compile(r"^\.[^/\\]*-[0-9a-f]{20}(\.[A-Za-z0-9.]+)?\.(\d+)\.\d+\.draft$")
_ABANDONED_SECONDS = 3600.0
"""After this long a draft belongs to a process that died."""
_DEAD_LINES = 2000
"""The index is written anew when it has so many more lines than there are artifacts."""
_IGNORE = "# Made by inductor-debug.\n*\n"
_draft_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What `clean` removed (or would), and what it could not: paths and reasons."""

    entries: list[ArtifactEntry] = field(default_factory=list)
    bytes: int = 0
    failures: list[str] = field(default_factory=list)


class ArtifactStore:
    """The store in one folder, which is made when the first artifact is kept. Safe to use from many processes at once.

    Args:
        folder: its root; need not exist.
        limit_bytes: how much all artifacts may take together.
    """

    def __init__(self, folder: Path, *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.folder = Path(folder)
        self.trouble = ""
        """Why the last `put` kept nothing; "" where it did."""
        self._limit = limit_bytes
        self._room: int | None = None
        self._noted: set[bytes] = set()

    def put(self, made: ArtifactMade, *, source: str = "") -> ArtifactReference | None:
        """Keeps what was made of the file `source`; None where that cannot be, and `trouble` says why. Never raises."""
        self.trouble = ""
        try:
            self._require_ours()
            return self._put(made, source)
        except ArtifactError as error:
            self.trouble = str(error)
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            self.trouble = f"{self.folder}: {reason}"
        return None

    def foreign(self) -> str:
        """Why the folder is no store that this version knows; "" where it is one, or could become one."""
        mark = self.folder / _MARK
        try:
            said = json.loads(mark.read_bytes())
        except OSError:
            return ""
        except (ValueError, RecursionError):
            return f"{mark} is damaged; remove it to use the folder again"
        if not isinstance(said, dict) or said.get("format") != FORMAT:
            return f"{self.folder} is a folder of something else: see {mark}"
        if said.get("schema") != SCHEMA:
            return f"{self.folder} was written by another version of inductor-debug: see {mark}"
        return ""

    def entries(self, selection: Selection | None = None) -> list[ArtifactEntry]:
        """The artifacts that fit, newest first. A folder that is missing, unreadable or foreign has none."""
        if self.foreign():
            return []
        known = self._index()
        found = [_entry(kind, file, known.get((kind.value, file.name))) for kind, file in self._files()]
        chosen = found if selection is None else [entry for entry in found if selection.fits(entry)]
        return sorted(chosen, key=lambda entry: (-entry.created, entry.path))

    def clean(self, selection: Selection | None = None, *, dry_run: bool = False) -> Cleaned:
        """Removes the artifacts that fit, or only says which they are."""
        chosen = self.entries(selection)
        if dry_run or not chosen:
            return Cleaned(chosen, sum(entry.bytes for entry in chosen))
        faults = {entry: _removed(entry.path) for entry in chosen}
        self._room = None
        self._renew_index()
        removed = [entry for entry, fault in faults.items() if not fault]
        return Cleaned(removed, sum(entry.bytes for entry in removed), [fault for fault in faults.values() if fault])

    # Writing.

    def _put(self, made: ArtifactMade, source: str) -> ArtifactReference:
        name = _name_of(made, source)
        path = self.folder / made.kind.value / name
        size = len(made.content)
        if size > self._limit:
            raise ArtifactError(f"{made.title or name} has {size} bytes, more than all artifacts may have together")
        renewed = _renewed(path, made.content)
        if not renewed:
            self._make_room(size)
            _write_whole(path, made.content)
        stage = made.stage.value if made.stage is not None else ""
        line = KnownArtifact(made.kind.value, name, made.media_type, made.title, made.target, source, stage).line()
        if not renewed or line not in self._noted:
            with contextlib.suppress(OSError):  # without the line it is an artifact all the same
                _append(self.folder / _INDEX, line)
                self._noted.add(line)
        return ArtifactReference(made.kind, str(path), size, made.media_type)

    def _require_ours(self) -> None:
        """Makes the folder where there is none.

        Raises:
            ArtifactError: it has another layout than this version knows.
            OSError: it cannot be made or read.
        """
        mark = self.folder / _MARK
        if not mark.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._noted.clear()
            empty = not any(self.folder.iterdir())
            _write_whole(mark, json.dumps({"format": FORMAT, "schema": SCHEMA}).encode() + b"\n")
            if empty:  # else version control of the user's own files there would lose sight of them
                with contextlib.suppress(OSError), open(self.folder / ".gitignore", "x", encoding="utf-8") as file:
                    file.write(_IGNORE)
        elif foreign := self.foreign():
            raise ArtifactError(foreign)

    def _make_room(self, size: int) -> None:
        """Removes the oldest artifacts until `size` more bytes fit.

        When they do not, an eighth of the limit is made free at once. Counts the files again only when an eighth of the
        room that was left is used up: other processes write as well.
        """
        if self._room is not None and size <= self._room:
            self._room -= size
            return
        files = sorted((file for _, file in self._files()), key=lambda file: file.modified)
        total = sum(file.bytes for file in files)
        bound = self._limit if total + size <= self._limit else self._limit * 7 // 8 - size
        for file in files:
            if total <= bound:
                break
            if not _removed(file.path):
                total -= file.bytes
        if bound != self._limit:
            self._renew_index()
        self._sweep_drafts()
        self._room = max(0, (self._limit - total - size) // 8)

    def _sweep_drafts(self) -> None:
        limit = time.time() - _ABANDONED_SECONDS
        for _, file in self._scan():
            draft = _DRAFT.match(file.name)
            if draft and not is_running(int(draft[2])):  # a clock that was set must not cost what is being written
                with contextlib.suppress(OSError):
                    if file.stat().st_mtime < limit:
                        os.unlink(file.path)

    # Reading.

    def _scan(self) -> Iterator[tuple[ArtifactKind, os.DirEntry[str]]]:
        for kind in ArtifactKind:
            with contextlib.suppress(OSError), os.scandir(self.folder / kind.value) as files:
                for file in files:
                    yield kind, file

    def _files(self) -> Iterator[tuple[ArtifactKind, _File]]:
        for kind, file in self._scan():
            if not _OURS.match(file.name):
                continue
            with contextlib.suppress(OSError):
                status = file.stat(follow_symlinks=False)
                if file.is_file(follow_symlinks=False):
                    yield kind, _File(file.name, file.path, status.st_size, status.st_mtime)

    def _index(self) -> dict[tuple[str, str], KnownArtifact]:
        """What the index says, by kind and name; the last line of a name counts."""
        found: dict[tuple[str, str], KnownArtifact] = {}
        for path in (*sorted(self.folder.glob(f"{_INDEX}.*")), self.folder / _INDEX):
            with contextlib.suppress(OSError):
                found.update(((known.kind, known.name), known) for known in read_lines(path.read_bytes()))
        return found

    def _renew_index(self) -> None:
        """Drops the lines of artifacts that are gone, once there are many.

        The index steps aside before it is read, so that others begin a new one meanwhile; what stays is appended to
        that. A process that dies in between leaves a file that is still read.
        """
        with contextlib.suppress(OSError):
            index = self.folder / _INDEX
            live = {(kind.value, file.name) for kind, file in self._files()}
            if index.read_bytes().count(b"\n") - len(live) < _DEAD_LINES:
                return
            self._noted.clear()
            aside = self.folder / f"{_INDEX}.{os.getpid()}.{next(_draft_numbers)}"
            os.rename(index, aside)
            lines = [known.line() for known in self._index().values() if (known.kind, known.name) in live]
            _append(index, b"".join(lines))
            os.unlink(aside)


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    path: str
    bytes: int
    modified: float


def _entry(kind: ArtifactKind, file: _File, known: KnownArtifact | None) -> ArtifactEntry:
    if known is None:
        return ArtifactEntry(kind, file.path, file.bytes, file.modified)
    stage = _STAGES.get(known.stage)
    details = (known.media_type, known.title, known.target, known.source, stage)
    return ArtifactEntry(kind, file.path, file.bytes, file.modified, *details)


_STAGES = {stage.value: stage for stage in Stage}


def _name_of(made: ArtifactMade, source: str) -> str:
    """A name that a person can read and that only this content has."""
    words = [Path(source).stem, made.target, made.stage.value if made.stage is not None else "", made.title]
    slugs = [slug for word in words if (slug := re.sub(r"[^A-Za-z0-9_]+", "_", word).strip("_")[:40])]
    suffix = made.suffix if re.fullmatch(r"(\.[A-Za-z0-9]+)+", made.suffix) else ""
    digest = hashlib.blake2b(digest_size=10)
    for part in (source.encode("utf-8", "surrogateescape"), made.target.encode("utf-8", "replace"), made.content):
        digest.update(len(part).to_bytes(8, "little") + part)
    return f"{'-'.join(slugs) or 'artifact'}-{digest.hexdigest()}{suffix}"


def _renewed(path: Path, content: bytes) -> bool:
    """Makes a file young again that has this very content; False where there is none, or a damaged one."""
    try:
        with open(path, "rb") as file:
            if file.read(len(content) + 1) != content:
                return False
        os.utime(path)
    except FileNotFoundError:  # perhaps just now: another process makes room as well
        return False
    return True


def _removed(path: str) -> str:
    """Removes a file; "" or why that cannot be."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    return ""


def _write_whole(path: Path, content: bytes) -> None:
    """Readers see the whole file or none.

    Raises:
        OSError: it cannot be written; nothing of it stays.
    """
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{next(_draft_numbers)}.draft")
    try:
        with open(draft, "xb") as file:
            file.write(content)
        os.replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def _append(path: Path, lines: bytes) -> None:
    """One write to the end of the file, which others may be writing to as well."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, lines)
    finally:
        os.close(descriptor)
