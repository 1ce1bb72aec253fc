"""Which kernel computes which node: `inductor_provenance_tracking_node_mappings.json`, and stacks of kernels beside it.

Both are written where Inductor's provenance tracking is on, which `TORCH_COMPILE_DEBUG=1` turns on. A file without a
version is of version 2, as folders have it; traces and torch-spyre say it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from inductor_debug.compiler_output.files.confined_files import FileFaultError

VERSION = 2.0
_NAMES = ("preToPost", "postToPre", "cppCodeToPost", "postToCppCode")
_FRAME = re.compile(r'^\s*File "(?P<path>.+)", line (?P<line>\d{1,8}), in (?P<function>.+)$')
_CARETS = re.compile(r"^\s*[~^]*\^[~^]*\s*$")


@dataclass(frozen=True, slots=True)
class NodeMappings:
    """Names of nodes before AOTAutograd, of nodes that were lowered, and of kernels (`name:number`)."""

    before: dict[str, list[str]] = field(default_factory=dict)
    """For a lowered node, the nodes before AOTAutograd that it comes from."""
    lowered: dict[str, list[str]] = field(default_factory=dict)
    """For a node before AOTAutograd, the lowered nodes."""
    kernels: dict[str, list[str]] = field(default_factory=dict)
    """For a kernel's `name:number`, the lowered nodes that it computes."""
    unknown: list[str] = field(default_factory=list)
    """Fields that this version does not know."""


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A frame of a traceback: zero-based line, and the column (in characters) where its carets begin, None without."""

    path: str
    line: int
    function: str
    code: str
    column: int | None = None


def read_mappings(said: Any) -> NodeMappings:
    """Reads the mappings.

    Raises:
        FileFaultError: they are of another version, or not of this form.
    """
    if not isinstance(said, dict):
        raise FileFaultError("it is no object")
    version = said.get("version", VERSION)
    if version != VERSION:
        raise FileFaultError(f"it is of version {str(version)[:40]}; version 2 can be read")
    if not any(name in said for name in (*_NAMES, "version")):
        raise FileFaultError("none of its fields is known")
    maps = {name: name_map(said.get(name, {}), name) for name in _NAMES}
    unknown = sorted(key for key in said if key not in (*_NAMES, "version"))
    return NodeMappings(maps["postToPre"], maps["preToPost"], maps["cppCodeToPost"], unknown)


def name_map(said: Any, where: str) -> dict[str, list[str]]:
    """A map from names to lists of names.

    Raises:
        FileFaultError: it is none; the message says `where`.
    """
    if not isinstance(said, dict):
        raise FileFaultError(f"`{where}` is no object")
    for key, names in said.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FileFaultError(f"`{where}.{key[:80]}` is no list of names")
    return said


def read_kernel_stacks(said: Any) -> dict[str, list[list[StackFrame]]]:
    """For each kernel's `name:number` the stacks that its nodes come from, the innermost frame of each last.

    Raises:
        FileFaultError: they are not of this form.
    """
    stacks = {name: [frames_of(text) for text in texts] for name, texts in name_map(said, "stacks").items()}
    return {name: [stack for stack in found if stack] for name, found in stacks.items()}


def frames_of(traceback: str) -> list[StackFrame]:
    """The frames of a traceback's text, the innermost last."""
    lines = traceback.split("\n")
    found = []
    for number, line in enumerate(lines):
        match = _FRAME.match(line)
        if match is None:
            continue
        code = lines[number + 1] if number + 1 < len(lines) else ""
        under = lines[number + 2] if number + 2 < len(lines) else ""
        column = None
        if _CARETS.match(under):
            column = len(under) - len(under.lstrip()) - (len(code) - len(code.lstrip()))
        found.append(StackFrame(match["path"], max(int(match["line"]) - 1, 0), match["function"], code.strip(), column))
    return found
