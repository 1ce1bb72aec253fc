"""Folders that `TORCH_COMPILE_DEBUG=1` leaves: one for each graph, `torchinductor/model__0_forward_1.0`.

Graphs of one compile belong together; AOTAutograd numbers them (`model__0`), and every process has its own run folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from inductor_debug_schema import GraphKind

from inductor_debug.compiler_output.compiled_graph import Compile, CompiledGraph, IrListing, kernel_of_file
from inductor_debug.compiler_output.files.confined_files import ConfinedFile, ConfinedFolder, FileFaultError, read_json
from inductor_debug.compiler_output.files.ir_text import read_ir
from inductor_debug.compiler_output.files.node_mappings import read_kernel_stacks, read_mappings
from inductor_debug.compiler_output.files.readable_graphs import read_readable_graph
from inductor_debug.compiler_output.files.super_dsc import read_super_dsc
from inductor_debug.compiler_output.files.wrapper_text import read_wrapper

_GRAPH_FOLDER = re.compile(r"^(?P<model>.*?__(?P<number>\d+))_(?P<kind>forward|backward|inference)_\d+\.\d+$")
_SUPER_DSC = re.compile(r"^sdsc_\d+(_\w+)?\.json$")
_TORCH = re.compile(r"^# torch version: (?P<version>\S{1,60})$", re.MULTILINE)


class DebugFolders:
    """Reads all graphs of a folder. Files that are none of a graph's are left to others."""

    def __init__(self, folder: ConfinedFolder) -> None:
        self._folder = folder
        self._graphs: dict[str, CompiledGraph] = {}
        self._compiles: dict[str, Compile] = {}
        self._versions: dict[str, str] = {}
        self.taken: set[str] = set()
        """Paths of the files that belong to graphs, whether they were understood or not."""

    def read(self) -> list[Compile]:
        """All compiles, in the order of their folders."""
        for file in self._folder.files:
            reader = _READERS.get(file.name)
            if reader is not None:
                self._take(file, reader)
            elif _SUPER_DSC.match(file.name):
                self._take(file, _device_file)
        self._move_bundles()
        for where, graph in self._graphs.items():
            self._compile_of(where).graphs.append(graph)
        for compiled in self._compiles.values():
            compiled.graphs.sort(key=lambda graph: graph.kind is GraphKind.BACKWARD)
        return [compiled for compiled in self._compiles.values() if compiled.graphs]

    def _take(self, file: ConfinedFile, reader: Callable[[CompiledGraph, str, ConfinedFile], None]) -> None:
        self.taken.add(file.path)
        try:
            text = self._folder.text(file)
            reader(self._graph_of(file), text, file)
        except FileFaultError as error:
            self._folder.fault(file.path, str(error))
        version = _TORCH.search(text) if file.name == "fx_graph_runnable.py" else None
        if version is not None:
            self._versions[file.folder] = version["version"]

    def _graph_of(self, file: ConfinedFile) -> CompiledGraph:
        """The graph of a file's folder."""
        where = file.folder
        if where not in self._graphs:
            match = _GRAPH_FOLDER.match(where.rpartition("/")[2])
            backward = match is not None and match["kind"] == "backward"
            name = f"{match['number']}.{match['kind']}" if match is not None else where.rpartition("/")[2] or "graph"
            self._graphs[where] = CompiledGraph(name, GraphKind.BACKWARD if backward else GraphKind.FORWARD)
        return self._graphs[where]

    def _move_bundles(self) -> None:
        """Kernel files in a bundle's folder belong to the graph whose wrapper defines the kernel, if one alone does."""
        for where, graph in list(self._graphs.items()):
            if not graph.only_device_files:
                continue
            kernel = kernel_of_file(next(iter(graph.device_files)))
            above = self._graphs.get(where.rpartition("/")[0])
            owners = [
                each for each in self._graphs.values() if each.wrapper is not None and kernel in each.wrapper.kernels
            ]
            owner = above if above in owners else owners[0] if len(owners) == 1 else None
            if owner is not None:
                owner.device_files.update(graph.device_files)
                del self._graphs[where]

    def _compile_of(self, where: str) -> Compile:
        parent, _, name = where.rpartition("/")
        match = _GRAPH_FOLDER.match(name)
        key = f"{parent}/{match['model']}" if match is not None else where
        if key not in self._compiles:
            self._compiles[key] = Compile(key.rpartition("/")[2] or self._folder.root.name, parent)
        found = self._compiles[key]
        found.torch = found.torch or self._versions.get(where, "")
        return found


def _aot(graph: CompiledGraph, text: str, file: ConfinedFile) -> None:
    graph.aot = read_readable_graph(text)


def _lowered(graph: CompiledGraph, text: str, file: ConfinedFile) -> None:
    graph.lowered = read_readable_graph(text)


def _ir(text: str) -> IrListing:
    nodes = read_ir(text)
    if not nodes and text.strip():
        raise FileFaultError("there is no scheduler node in it")
    return IrListing(text, nodes)


def _before_fusion(graph: CompiledGraph, text: str, file: ConfinedFile) -> None:
    graph.before_fusion = _ir(text)


def _after_fusion(graph: CompiledGraph, text: str, file: ConfinedFile) -> None:
    graph.after_fusion = _ir(text)


def _wrapper(graph: CompiledGraph, text: str, file: ConfinedFile) -> None:
    graph.wrapper = read_wrapper(text)


def _mappings(graph: CompiledGraph, text: str, file: ConfinedFile) -> None:
    graph.mappings = read_mappings(read_json(text))
    if graph.mappings.unknown:
        raise FileFaultError(
            f"it was read, but for fields that this version does not know: {', '.join(graph.mappings.unknown)}"
        )


def _stacks(graph: CompiledGraph, text: str, file: ConfinedFile) -> None:
    graph.stacks = read_kernel_stacks(read_json(text))


def _device_file(graph: CompiledGraph, text: str, file: ConfinedFile) -> None:
    graph.device_files[file.path] = read_super_dsc(read_json(text))


def _nothing(graph: CompiledGraph, text: str, file: ConfinedFile) -> None:
    """A file whose text says nothing that the others do not."""


_READERS: dict[str, Callable[[CompiledGraph, str, ConfinedFile], Any]] = {
    "fx_graph_readable.py": _aot,
    "fx_graph_transformed.py": _lowered,
    "fx_graph_runnable.py": _nothing,
    "ir_pre_fusion.txt": _before_fusion,
    "ir_post_fusion.txt": _after_fusion,
    "output_code.py": _wrapper,
    "inductor_provenance_tracking_node_mappings.json": _mappings,
    "inductor_provenance_tracking_kernel_stack_traces.json": _stacks,
}
"""What each file of a graph's folder is read by."""
