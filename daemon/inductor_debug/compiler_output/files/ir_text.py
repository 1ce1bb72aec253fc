"""Inductor's scheduler nodes as `ir_pre_fusion.txt` and `ir_post_fusion.txt` list them.

A block a node: its kind, what it reads and writes, and the layouts of the buffers that it makes. Nodes that were fused
are listed once more at the end of the fused one's block. Read against torch 2.11 to 2.13.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from inductor_debug.compiler_output.files.tensor_types import TensorType, layout_type

_BLOCK_END = re.compile(r"\n\n\n+")
_HEAD = re.compile(r"(?P<name>[A-Za-z_]\w*): (?P<kind>\w+)(?:\((?P<parts>[^)]*)\))?$")
_DEPENDENCY = re.compile(r"(?:MemoryDep\(|StarDep\(name=)'(?P<name>[^']+)'")
_LAYOUT = re.compile(r"^[ \t]+(?P<name>\w+)\.layout = (?P<layout>\w+\(.*)$", re.MULTILINE)
_KERNEL = re.compile(r"\.node\.kernel = (?P<kernel>\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class IrNode:
    """A scheduler node: its zero-based line, names of buffers that it reads and makes, the external kernel it calls."""

    name: str
    kind: str
    line: int
    parts: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    writes: dict[str, TensorType | None] = field(default_factory=dict)
    kernel: str = ""


def read_ir(text: str) -> list[IrNode]:
    """The nodes in the order of the text; none where the text is something else."""
    nodes = []
    at = line = 0
    ends = [(match.start(), match.end()) for match in _BLOCK_END.finditer(text)] + [(len(text), len(text))]
    for end, following in ends:
        block = text[at:end]
        head = _HEAD.match(block.partition("\n")[0].strip())
        if head is not None:
            nodes.append(_node(head, block, line))
        line += text.count("\n", at, following)
        at = following
    return nodes


def _node(head: re.Match[str], block: str, line: int) -> IrNode:
    name = head["name"]
    own = block.partition(f"\n{name}.snodes[")[0]
    fields = _fields(name, own)
    reads = [
        match["name"]
        for each in ("unmet_dependencies", "met_dependencies")
        for match in _DEPENDENCY.finditer(fields.get(each, ""))
    ]
    writes: dict[str, TensorType | None] = dict.fromkeys(
        match["name"] for match in _DEPENDENCY.finditer(fields.get("writes", ""))
    )
    for match in _LAYOUT.finditer(fields.get("outputs", "")):
        writes[match["name"]] = layout_type(match["layout"])
    kernel = _KERNEL.search(own)
    parts = [part for part in (head["parts"] or "").split(",") if part]
    return IrNode(
        name, head["kind"], line, parts, list(dict.fromkeys(reads)), writes, kernel["kernel"] if kernel else ""
    )


def _fields(name: str, own: str) -> dict[str, str]:
    """The texts of `name.field = …`."""
    found: dict[str, str] = {}
    for part in own.split(f"\n{name}.")[1:]:
        key, _, value = part.partition("=")
        found[key.strip()] = value
    return found
