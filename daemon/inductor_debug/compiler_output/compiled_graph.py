"""What one compile of one graph left, wherever it was found: texts and mappings, as they were read.

A folder of `TORCH_COMPILE_DEBUG` and the entries of a structured trace are both told in these terms, so that the rest
need not know where they come from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from inductor_debug_schema import GraphKind

from inductor_debug.compiler_output.files.ir_text import IrNode
from inductor_debug.compiler_output.files.node_mappings import NodeMappings, StackFrame
from inductor_debug.compiler_output.files.readable_graphs import ReadableGraph
from inductor_debug.compiler_output.files.super_dsc import SuperDsc
from inductor_debug.compiler_output.files.wrapper_text import Wrapper

_BUNDLE_FOLDER = re.compile(r"^(?P<kernel>sdsc_\w+?)(_[a-z0-9_]{8})?$")
"""torch-spyre makes a temporary folder for each kernel, named after it."""


@dataclass
class IrListing:
    """The text of an IR, and the nodes in it."""

    text: str
    nodes: list[IrNode]


@dataclass
class CompiledGraph:
    """One graph that Inductor lowered. What was not written, or not understood, is None or empty.

    `name` is unique within its compile; `kind` is forward or backward.
    """

    name: str
    kind: GraphKind = GraphKind.FORWARD
    aot: ReadableGraph | None = None
    """The graph that AOTAutograd made."""
    lowered: ReadableGraph | None = None
    """The graph after Inductor's passes."""
    before_fusion: IrListing | None = None
    after_fusion: IrListing | None = None
    wrapper: Wrapper | None = None
    mappings: NodeMappings = field(default_factory=NodeMappings)
    stacks: dict[str, list[list[StackFrame]]] = field(default_factory=dict)
    """For a kernel's `name:number` the stacks that its nodes come from, innermost frames last."""
    device_files: dict[str, SuperDsc] = field(default_factory=dict)
    """SuperDSC files by their paths."""

    @property
    def lowered_name(self) -> str:
        """The name that the graph after Inductor's passes has in documents; "" where there is none."""
        return f"{self.name}.post_grad" if self.lowered is not None else self.name if self.aot is not None else ""

    @property
    def only_device_files(self) -> bool:
        """Whether nothing but kernel files was found."""
        texts = (self.aot, self.lowered, self.before_fusion, self.after_fusion, self.wrapper)
        return bool(self.device_files) and not any(text is not None for text in texts)


def kernel_of_file(path: str) -> str:
    """The kernel whose bundle a kernel file lies in, by the name of its folder; "" where it lies in no bundle."""
    match = _BUNDLE_FOLDER.match(path.rpartition("/")[0].rpartition("/")[2])
    return match["kernel"] if match is not None else ""


@dataclass
class Compile:
    """One frame, compiled once: its graph before AOTAutograd where that was written, and all graphs made of it.

    `name` is what its compiler calls it, `where` the folder or log that it lies in, which tells it from others of that
    name; `torch` is the version, "" where nobody says.
    """

    name: str
    where: str = ""
    captured: ReadableGraph | None = None
    graphs: list[CompiledGraph] = field(default_factory=list)
    torch: str = ""
    notes: list[str] = field(default_factory=list)
