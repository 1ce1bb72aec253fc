"""CUDA memory snapshots (`torch.cuda.memory._dump_snapshot`) as `memory` documents, read without running anything.

A snapshot is a pickle, and a pickle may run code when it is loaded. This reader builds containers, strings and numbers
alone: it refuses whatever names a class or a function, so it neither imports nor calls anything. The format was read in
torch 2.11 to 2.14: the events of the caching allocator by device, each with its stack where those were recorded.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from inductor_debug_schema import Location, Position, Range, TensorPlace
from inductor_debug_schema.answers.memory_document import HeldMemory, KindMemory, MemoryDocument, MemoryPiece

from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.engine.live_tensors.moment import sums_over
from inductor_debug.source.text_lines import split_lines, utf16_length

LARGEST = 1 << 30
"""Bytes of a snapshot that is read."""
SCHEMA = 1
_KIND = "activation"
"""An allocator does not know what memory is for."""
_LIBRARIES = ("site-packages", "dist-packages", "<")
_MOST_HELD = 1000
_MOST_BYTES = 1 << 50
"""What no allocation comes up to; so many of them can be added up that no sum is too large for the wire."""


SUFFIXES = (".pickle", ".pkl")
"""How files of snapshots are called."""


def is_snapshot(path: str) -> bool:
    """Whether the file is meant to be a snapshot, by its name."""
    return path.lower().endswith(SUFFIXES)


class _Unpickler(pickle.Unpickler):
    """Loads no classes and no functions, which is all that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        raise ArtifactError(f"it names {module}.{name}: a snapshot has containers, strings and numbers alone")

    def persistent_load(self, pid: Any) -> Any:
        raise ArtifactError("it refers to something outside of itself")


def read_snapshot(path: str, text_of: Callable[[str], str | None]) -> list[MemoryDocument]:
    """A document for each device whose events were recorded; `text_of` has the texts of source files.

    Raises:
        ArtifactError: the file is no snapshot, is too large, or has anything in it that would run code.
    """
    try:
        if os.path.getsize(path) > LARGEST:
            raise ArtifactError(f"{path} is too large to be read")
        with open(path, "rb") as file:
            content = _loaded(path, file)
    except OSError as error:
        raise ArtifactError(f"{path} cannot be read: {error.strerror}") from error
    try:
        traces = [events for events in content["device_traces"] if events]
        documents = [_document(path, number, events, text_of) for number, events in enumerate(traces)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArtifactError(f"{path} is no memory snapshot of torch's: {error!r}") from error
    if not documents:
        raise ArtifactError(f"{path} has no events: `torch.cuda.memory._record_memory_history()` was not on")
    return documents


def _loaded(path: str, file: BinaryIO) -> Any:
    try:
        return _Unpickler(file).load()
    except ArtifactError as error:
        raise ArtifactError(f"{path} is not read: {error}") from error
    except Exception as error:  # whatever a damaged pickle raises
        raise ArtifactError(f"{path} is no pickle that can be read: {error}") from error


def _document(path: str, device: int, events: list[Any], text_of: Callable[[str], str | None]) -> MemoryDocument:
    places = _Places(text_of)
    spans = sorted(
        _spans([event for event in events if event["action"] in ("alloc", "free_requested")]), key=lambda span: span[0]
    )
    operations = sum(event["action"] in ("alloc", "free_requested") for event in events)
    numbered = [(first, end, size, places.number(frames)) for first, end, size, frames in spans]
    amounts = sums_over(operations, [(first, end, size) for first, end, size, _ in numbered])
    peak = max(range(operations), key=amounts.__getitem__, default=-1)
    at = {first: place for first, _, _, place in numbered}
    alive = sorted((row for row in numbered if row[0] <= peak < row[1]), key=lambda row: -row[2])[:_MOST_HELD]
    return MemoryDocument(
        schema=SCHEMA,
        target=f"{os.path.basename(path)}, device {device}",
        path=path,
        operations=operations,
        peak=peak,
        peak_bytes=amounts[peak] if operations else 0,
        place=places.location(at.get(peak, -1)),
        kinds=[KindMemory(_KIND, amounts)] if operations else [],
        held=[
            HeldMemory(
                kind=_KIND, name="", shape=[size], dtype="uint8", bytes=size, first=first, end=end,
                place=places.location(place),
            )
            for first, end, size, place in alive
        ],
        symbols={},
        places=places.all,
        operation_places=[at.get(operation, -1) for operation in range(operations)],
        pieces=[
            MemoryPiece(
                kind=_KIND, name="", module="", shape=[size], dtype="uint8", bytes=size, first=first,
                let_go=end, end=end, place=place,
            )
            for first, end, size, place in numbered
        ],
    )  # fmt: skip


def _spans(events: list[Any]) -> Iterator[tuple[int, int, int, list[Any]]]:
    """Each allocation that was recorded: its first event, how many there were when it was freed, bytes, and stack."""
    alive: dict[int, tuple[int, int, list[Any]]] = {}
    for number, event in enumerate(events):
        address = _whole(event["addr"], 1 << 64)
        if event["action"] == "alloc":
            alive[address] = (number, _whole(event["size"], _MOST_BYTES), list(event.get("frames") or ()))
        elif address in alive:
            first, size, frames = alive.pop(address)
            yield first, number, size, frames
    for first, size, frames in alive.values():
        yield first, len(events), size, frames


def _whole(said: Any, bound: int) -> int:
    """A whole number from 0 below a bound; a pickle has numbers of any size and kind."""
    if not isinstance(said, int) or not 0 <= said < bound:
        raise ValueError(f"{said!r:.40} is no such number")
    return said


class _Places:
    """The lines that allocated, each once: the innermost one that is no library's."""

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self.all: list[TensorPlace] = []
        self._numbers: dict[tuple[str, int], int] = {}
        self._text_of = text_of
        self._lines: dict[str, list[str]] = {}

    def number(self, frames: list[Any]) -> int:
        for frame in frames:
            path, line = str(frame["filename"]), _whole(frame["line"], 1 << 31)
            if path.endswith(".py") and line > 0 and not any(part in path for part in _LIBRARIES):
                return self._known(path, line - 1)
        return -1

    def location(self, number: int) -> Location | None:
        return Location(self.all[number].path, self.all[number].range) if number >= 0 else None

    def _known(self, path: str, line: int) -> int:
        if (path, line) not in self._numbers:
            if path not in self._lines:
                self._lines[path] = split_lines(self._text_of(path) or "")
            lines = self._lines[path]
            text = lines[line] if line < len(lines) else ""
            start = len(text) - len(text.lstrip())
            span = Range(Position(line, start), Position(line, utf16_length(text.rstrip())))
            self._numbers[path, line] = len(self.all)
            self.all.append(TensorPlace(path, span, text.strip()))
        return self._numbers[path, line]
