"""The `debug` document: files in which a debugger can stop while a compiled target runs.

It travels from the worker that made the files to whoever writes them into a folder; nothing in it was run there with
values that anybody sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Union

from inductor_debug_schema.positions import Location


class DebugFileKind(str, Enum):
    """What a file is."""

    GRAPH = "graph"
    """A graph as Dynamo captured it, as Python with one statement for each node."""
    GENERATED = "generated"
    """What Inductor wrote for a graph, forward or backward."""
    SESSION = "session"
    """What the debugged run has to know of the run that wrote the files, as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugFile:
    """A file of the folder, by its name there."""

    name: str
    file_kind: DebugFileKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugStop:
    """A line of one of the files at which the value of an expression is there; `line` counts from zero.

    `place` is the expression, None where it is none of the user's; `name` what the file calls the value, "" for a
    kernel, which computes several.
    """

    file: str
    line: int
    name: str
    place: Union[Location, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugDocument:
    """The files of one target; `stops` come in the order in which they are reached. `path` is the user's file.

    `compared` says of which expressions the debugged run also has the compiled value; `notes` what is missing and why.
    Where nothing could be compiled, `problem` says so, and there are no files.
    """

    schema: int
    target: str
    path: str
    debug_files: list[DebugFile]
    stops: list[DebugStop]
    compared: int
    notes: list[str]
    problem: str = ""
