"""Structured traces, `TORCH_TRACE=folder`: `dedicated_log_torch_trace_*.log`, one file a process.

An entry is a line that begins like a log line and has one JSON object; its payload follows on lines that begin with a
tab. Entries of one compile share `frame_id`, `frame_compile_id`, `attempt` and `rank`; the last attempt is the one that
was kept. Read against torch 2.11 to 2.13.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from inductor_debug_schema import GraphKind

from inductor_debug.compiler_output.compiled_graph import Compile, CompiledGraph, IrListing
from inductor_debug.compiler_output.files.confined_files import ConfinedFile, ConfinedFolder, FileFaultError, read_json
from inductor_debug.compiler_output.files.ir_text import read_ir
from inductor_debug.compiler_output.files.node_mappings import read_kernel_stacks, read_mappings
from inductor_debug.compiler_output.files.readable_graphs import ReadableGraph, read_readable_graph
from inductor_debug.compiler_output.files.wrapper_text import read_wrapper

_ENTRY = re.compile(r"^[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+:\d+\] (?P<envelope>\{.*)$")
_LOG_NAME = re.compile(r"^dedicated_log_torch_trace_.*\.log$")
_MOST_PAYLOAD = 16 << 20
_MOST_KEPT = 256 << 20
_NAMED_WITHIN = 64
"""Characters of an entry within which its first key stands: most entries are not wanted, and need not be parsed."""
_CAPTURED = ("after_pre_grad_graph", "dynamo_output_graph")
"""Graphs before AOTAutograd, the better one first: after passes nodes have the names that mappings use."""
_AOT = {"aot_forward_graph": "forward", "aot_backward_graph": "backward", "aot_inference_graph": "inference"}
_LOWERED = "inductor_post_grad_graph"
_WRAPPER = "inductor_output_code"
_MAPPINGS = "inductor_provenance_tracking_node_mappings"
_STACKS = "inductor_provenance_tracking_kernel_stack_traces"
_IR = {"ir_pre_fusion": "before", "ir_post_fusion": "after"}
_WANTED = {*_CAPTURED, *_AOT, *_IR, _LOWERED, _WRAPPER, _MAPPINGS, _STACKS, "torch_version"}


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    payload: str
    line: int


@dataclass
class _Frame:
    """The entries of one attempt to compile a frame."""

    attempt: int = 0
    entries: list[_Entry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Payload:
    """An entry with what follows it; `name` is that of its first key."""

    name: str
    envelope: dict[str, Any]
    text: str


def payloads(folder: ConfinedFolder, file: ConfinedFile, wanted: frozenset[str]) -> Iterator[Payload]:
    """The entries of a log whose names are wanted; a line that is no entry is left out.

    Raises:
        FileFaultError: the log is too large or cannot be read.
    """
    envelope: dict[str, Any] | None = None
    name, text, size = "", [""], 0
    for line in folder.lines(file):
        if line.startswith("\t"):
            size += len(line)
            if envelope is not None and size <= _MOST_PAYLOAD:
                text.append(line[1:])
            continue
        if envelope is not None:
            yield Payload(name, envelope, "\n".join(text))
        envelope, text, size = None, [], 0
        match = _ENTRY.match(line)
        if match is None or not any(f'"{known}"' in match["envelope"][:_NAMED_WITHIN] for known in wanted):
            continue
        with suppress(FileFaultError):
            said = read_json(match["envelope"])
            name = next(iter(said), "")
            envelope = said if name in wanted else None
    if envelope is not None:
        yield Payload(name, envelope, "\n".join(text))


def is_log(file: ConfinedFile) -> bool:
    """Whether a file has the name of a structured trace."""
    return bool(_LOG_NAME.match(file.name))


class StructuredTrace:
    """Reads one log; what is wrong with it is noted in the folder."""

    def __init__(self, folder: ConfinedFolder, file: ConfinedFile) -> None:
        self._folder = folder
        self._file = file
        self._torch = ""
        self._bad = 0

    def read(self) -> list[Compile]:
        """All compiles in the order of the log."""
        frames: dict[str, _Frame] = {}
        entries = 0
        try:
            for envelope, entry in self._entries():
                entries += 1
                if entry is not None:
                    self._sort_in(frames, envelope, entry)
        except FileFaultError as error:
            self._folder.fault(self._file.path, str(error))
            return []
        if not entries:
            self._folder.fault(self._file.path, "there is no entry of a structured trace in it")
        if self._bad:
            self._folder.fault(self._file.path, f"{self._bad:,} of its entries are damaged")
        return [made for name, frame in frames.items() if (made := self._compile(name, frame)) is not None]

    def _entries(self) -> Iterator[tuple[dict[str, Any], _Entry | None]]:
        """Each entry's envelope, with what it is about where that is wanted."""
        kept = 0
        open_entry: tuple[dict[str, Any], str, int] | None = None
        payload: list[str] = []
        size = 0

        def closed() -> tuple[dict[str, Any], _Entry | None] | None:
            if open_entry is None:
                return None
            envelope, name, line = open_entry
            if name not in _WANTED:
                return envelope, None
            if size > _MOST_PAYLOAD or kept + size > _MOST_KEPT:
                self._folder.fault(self._file.path, f"`{name}` in line {line} is larger than what is read")
                return envelope, None
            return envelope, _Entry(name, "\n".join(payload), line)

        for number, line in enumerate(self._folder.lines(self._file), 1):
            if line.startswith("\t"):
                if open_entry is not None and open_entry[1] in _WANTED:
                    size += len(line)
                    if size <= _MOST_PAYLOAD:
                        payload.append(line[1:])
                continue
            done = closed()
            if done is not None:
                kept += size if done[1] is not None else 0
                yield done
            payload, size = [], 0
            open_entry = self._opened(line, number)
        done = closed()
        if done is not None:
            yield done

    def _opened(self, line: str, number: int) -> tuple[dict[str, Any], str, int] | None:
        match = _ENTRY.match(line)
        if match is None:
            self._bad += bool(line.strip())
            return None
        try:
            envelope = read_json(match["envelope"])
        except FileFaultError:
            self._bad += 1
            return None
        artifact = envelope.get("artifact")
        named = artifact.get("name") if isinstance(artifact, dict) else next(iter(envelope), "")
        return envelope, named if isinstance(named, str) else "", number

    def _sort_in(self, frames: dict[str, _Frame], envelope: dict[str, Any], entry: _Entry) -> None:
        if entry.name == "torch_version":
            self._torch = self._version(entry)
            return
        name = _compile_name(envelope)
        attempt = envelope.get("attempt")
        frame = frames.setdefault(name, _Frame())
        if isinstance(attempt, int) and attempt > frame.attempt:
            frame.attempt, frame.entries = attempt, []
        frame.entries.append(entry)

    def _version(self, entry: _Entry) -> str:
        try:
            said = read_json(entry.payload)
        except FileFaultError:
            return ""
        return str(said.get("pytorch_version", ""))[:60] if isinstance(said, dict) else ""

    def _compile(self, name: str, frame: _Frame) -> Compile | None:
        """What the entries of a frame tell. Each graph's entries end with its mappings, after its code."""
        made = Compile(name, self._file.path, torch=self._torch)
        texts: dict[str, ReadableGraph] = {}
        for entry in frame.entries:
            with self._telling(entry):
                if entry.name in _CAPTURED:
                    if made.captured is None or entry.name == _CAPTURED[0]:
                        made.captured = read_readable_graph(entry.payload)
                elif entry.name in _AOT:
                    texts[_AOT[entry.name]] = read_readable_graph(entry.payload)
                else:
                    last = made.graphs[-1] if made.graphs else None
                    if last is None or entry.name == _LOWERED or (entry.name == _WRAPPER and last.wrapper is not None):
                        made.graphs.append(CompiledGraph(""))
                    self._take(made.graphs[-1], entry)
        return _named(made, texts) if made.graphs or made.captured is not None else None

    @contextmanager
    def _telling(self, entry: _Entry) -> Iterator[None]:
        """What is wrong with an entry costs that entry alone."""
        try:
            yield
        except FileFaultError as error:
            self._folder.fault(self._file.path, f"`{entry.name}` in line {entry.line}: {error}")

    def _take(self, graph: CompiledGraph, entry: _Entry) -> None:
        if entry.name == _LOWERED:
            graph.lowered = read_readable_graph(entry.payload)
        elif entry.name == _WRAPPER:
            graph.wrapper = read_wrapper(entry.payload)
        elif entry.name == _MAPPINGS:
            graph.mappings = read_mappings(read_json(entry.payload))
        elif entry.name == _STACKS:
            graph.stacks = read_kernel_stacks(read_json(entry.payload))
        elif _IR[entry.name] == "before":
            graph.before_fusion = IrListing(entry.payload, read_ir(entry.payload))
        else:
            graph.after_fusion = IrListing(entry.payload, read_ir(entry.payload))


def _compile_name(envelope: dict[str, Any]) -> str:
    """As torch writes it: `0/1`, `!2/0/1` under compiled autograd; `-` for what belongs to no frame."""
    rank, autograd, frame, compiled = (
        value if isinstance(value := envelope.get(key), int) and not isinstance(value, bool) else None
        for key in ("rank", "compiled_autograd_id", "frame_id", "frame_compile_id")
    )
    of_frame = f"{frame}/{compiled}" if frame is not None else "-"
    shown = f"!{autograd}/{of_frame}" if autograd is not None else of_frame
    return f"rank {rank}: {shown}" if rank is not None else shown


def _named(made: Compile, texts: dict[str, ReadableGraph]) -> Compile:
    """Gives graphs their names: the wrapper of each says which half it is."""
    names: set[str] = set()
    for number, graph in enumerate(made.graphs):
        half = graph.wrapper.id.rpartition("_")[2] if graph.wrapper is not None else ""
        half = half or next(iter(texts), "forward")
        graph.kind = GraphKind.BACKWARD if half == "backward" else GraphKind.FORWARD
        graph.aot = texts.get(half)
        graph.name = f"{made.name}.{half}"
        if graph.name in names:
            graph.name = f"{graph.name}.{number}"
        names.add(graph.name)
    made.graphs.sort(key=lambda graph: graph.kind is GraphKind.BACKWARD)
    return made
