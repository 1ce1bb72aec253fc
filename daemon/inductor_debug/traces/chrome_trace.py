"""Reads a Chrome trace (`export_chrome_trace`, `tensorboard_trace_handler`), plain or compressed, event by event.

A trace may be gigabytes of JSON, so it is never held as text: one event after the other is decoded, what is no use is
dropped at once, and there is a bound on how many are kept. The format was read in torch 1.9 to 2.14 (Kineto), which
spell kinds and stacks in two ways.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from sys import intern
from typing import Any, TextIO

MOST_EVENTS = 2_000_000
"""How many events are kept; each takes about 300 bytes."""
_LONGEST_VALUE = 64 << 20
_CHUNK = 1 << 20
_LARGEST = 1 << 63
"""What no time in microseconds and no identifier comes up to."""
_FRAME = re.compile(r"^(?P<path>.+)\((?P<line>\d{1,9})\): (?P<function>.+)$")
_LIBRARIES = (
    "site-packages",
    "dist-packages",
    "/lib/python",
    "<",
    "torch/",
    "importlib/",
    "contextlib.py",
    "torchinductor_",
)
MODULE = "nn.Module: "
"""How the name of a module's event begins."""


class TraceError(Exception):
    """The file is no trace that can be read; the message says why."""


class EventKind(Enum):
    """What an event of a trace stands for."""

    OPERATOR = "operator"
    PYTHON = "python"
    ANNOTATION = "annotation"
    RUNTIME = "runtime"
    """A call into the driver of a device, which may launch something there."""
    KERNEL = "kernel"
    COPY = "copy"


_KINDS = {
    "cpu_op": EventKind.OPERATOR,
    "operator": EventKind.OPERATOR,
    "python_function": EventKind.PYTHON,
    "user_annotation": EventKind.ANNOTATION,
    "runtime": EventKind.RUNTIME,
    "kernel": EventKind.KERNEL,
    "gpu_memcpy": EventKind.COPY,
    "gpu_memset": EventKind.COPY,
    "memcpy": EventKind.COPY,
    "memset": EventKind.COPY,
}
ON_DEVICE = (EventKind.KERNEL, EventKind.COPY)


@dataclass(frozen=True, slots=True)
class SourceFunction:
    """A function that a stack names; `line` counts from one, and is that of its `def` in newer traces."""

    path: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.path}({self.line}): {self.function}"


@dataclass(slots=True)
class TraceEvent:
    """Something that took time, from `start` to `end` in microseconds, on one thread or one stream of a device.

    `sequence` ties an operator to its backward pass, `correlation` a launch to what it launched, and `external` what
    ran on a device to an operator. `stack` are functions of the user's, the innermost first.
    """

    kind: EventKind
    name: str
    start: float
    end: float
    lane: tuple[str, str]
    sequence: int | None = None
    correlation: int | None = None
    external: int | None = None
    stack: tuple[SourceFunction, ...] = ()
    modules: str = ""


@dataclass(slots=True)
class Trace:
    """All events of one file, in the order in which they began."""

    path: str
    events: list[TraceEvent] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    """What the devices call themselves."""


def read_trace(path: str) -> Trace:
    """The trace in the file at `path`.

    Raises:
        TraceError: it cannot be read, is no trace, is damaged, or has more events than `MOST_EVENTS`.
    """
    trace = Trace(path)
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with io.TextIOWrapper(gzip.GzipFile(fileobj=raw) if packed else raw, "utf-8", "replace") as text:
                _read(_Values(text), trace)
    except OSError as error:
        why = error.strerror or str(error)
        raise TraceError(f"{path} cannot be read: {why}") from error
    except (EOFError, zlib.error) as error:
        raise TraceError(f"{path} is damaged: {error}") from error
    except RecursionError as error:
        raise TraceError(f"{path} is no trace: its values lie too deep in each other") from error
    except _NoJsonError as error:
        raise TraceError(f"{path} is no trace of torch.profiler that can be read: {error}") from error
    if not trace.events:
        raise TraceError(f"{path} has no operators and no kernels: it is no trace of torch.profiler, or an empty one")
    trace.events.sort(key=lambda event: (event.start, -event.end))
    return trace


class _NoJsonError(Exception):
    pass


class _Values:
    """The values of a JSON text, read piece by piece."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self._at = file, "", 0
        self._decode = json.JSONDecoder(strict=False).raw_decode

    def next(self) -> str:
        """The character that comes next, blanks left out; "" at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in " \t\r\n\ufeff":
                    return self._text[self._at]
                self._at += 1
            if not self._more(_CHUNK):
                return ""

    def take(self, characters: str) -> str:
        """Steps over one of `characters`, which has to come next, and gives it."""
        found = self.next()
        if not found or found not in characters:
            what = f"a {found!r}" if found else "its end"
            raise _NoJsonError(f"where one of {' '.join(characters)} has to come, there is {what}")
        self._at += 1
        return found

    def value(self) -> Any:
        """The whole value that comes next."""
        self.next()
        size = _CHUNK
        while True:
            try:
                found, end = self._decode(self._text, self._at)
            except ValueError as error:
                if len(self._text) - self._at > _LONGEST_VALUE:
                    raise _NoJsonError(f"one value is longer than {_LONGEST_VALUE >> 20} MiB, or damaged") from error
                if not self._more(size):
                    raise _NoJsonError(f"it is damaged, or ends too early ({error})") from error
                size *= 2
                continue
            if end == len(self._text) and self._more(_CHUNK):  # a number may go on
                continue
            self._at = end
            return found

    def fields(self) -> Iterator[str]:
        """The keys of the object that comes next; who iterates reads each value."""
        yield from self._items("{", "}", self._key)

    def elements(self) -> Iterator[Any]:
        """The elements of the array that comes next."""
        yield from self._items("[", "]", self.value)

    def _items(self, opening: str, closing: str, item: Callable[[], Any]) -> Iterator[Any]:
        self.take(opening)
        if self.next() == closing:
            self.take(closing)
            return
        while True:
            yield item()
            if self.take("," + closing) == closing:
                return

    def _key(self) -> str:
        key = self.value()
        self.take(":")
        return str(key)

    def _more(self, size: int) -> bool:
        chunk = self._file.read(size)
        self._text, self._at = self._text[self._at :] + chunk, 0
        return bool(chunk)


def _read(values: _Values, trace: Trace) -> None:
    if values.next() == "[":
        _keep(values, trace)
        return
    for key in values.fields():
        if key == "traceEvents":
            _keep(values, trace)
        else:
            said = values.value()
            if key == "deviceProperties" and isinstance(said, list):
                trace.devices = [
                    str(device["name"]) for device in said if isinstance(device, dict) and "name" in device
                ]


def _keep(values: _Values, trace: Trace) -> None:
    lanes: dict[tuple[str, str], tuple[str, str]] = {}
    for said in values.elements():
        event = _event(said) if isinstance(said, dict) else None
        if event is not None:
            event.lane = lanes.setdefault(event.lane, event.lane)
            trace.events.append(event)
            if len(trace.events) > MOST_EVENTS:
                raise TraceError(
                    f"{trace.path} has more than {MOST_EVENTS:,} events, which is more than is read: record fewer "
                    "steps (torch.profiler.schedule)"
                )


def _event(said: dict[str, Any]) -> TraceEvent | None:
    """The event, where it is of a kind that is of use and took time."""
    kind, start, duration = _kind(said.get("cat")), _time(said.get("ts")), _time(said.get("dur"))
    name = said.get("name")
    if kind is None or said.get("ph") != "X" or not isinstance(name, str):
        return None
    if start is None or duration is None:
        return None
    if kind is EventKind.PYTHON and not (name.startswith(MODULE) or own_function(name)):
        return None
    given = said.get("args")
    arguments = given if isinstance(given, dict) else {}
    return TraceEvent(
        kind,
        intern(name),
        start,
        start + max(duration, 0.0),
        (str(said.get("pid")), str(said.get("tid"))),
        _number(arguments, "Sequence number", "sequence number", "fwd sequence number"),
        _number(arguments, "correlation"),
        _number(arguments, "External id", "external id", "External Id"),
        _stack(arguments.get("Call stack")),
        intern(str(arguments.get("Module Hierarchy") or "")),
    )


def _kind(category: object) -> EventKind | None:
    if not isinstance(category, str):
        return None
    known = category.lower()
    if known.endswith(("_runtime", "_driver")):
        return EventKind.RUNTIME
    return _KINDS.get(known)


def _time(said: object) -> float | None:
    """A time that can be reckoned with: JSON has infinities, what is no number, and integers of any length, too."""
    return float(said) if isinstance(said, (int, float)) and -_LARGEST < said < _LARGEST else None


def _number(arguments: dict[str, Any], *names: str) -> int | None:
    for name in names:
        found = arguments.get(name)
        if isinstance(found, str) and found.isdecimal() and len(found) < len(str(_LARGEST)):
            found = int(found)
        if isinstance(found, int) and 0 <= found < _LARGEST:
            return found
    return None


def _stack(said: object) -> tuple[SourceFunction, ...]:
    if not isinstance(said, str):
        return ()
    return tuple(found for found in map(own_function, said.split(";")) if found is not None)


def own_function(name: str) -> SourceFunction | None:
    """The function that a frame of a stack names, where it is no library's."""
    match = _FRAME.match(name.strip())
    if match is None or any(part in match["path"] for part in _LIBRARIES):
        return None
    return SourceFunction(intern(match["path"]), int(match["line"]), intern(match["function"]))
