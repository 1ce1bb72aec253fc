"""`graph --format readable`: a captured graph as text, each run of nodes under the source line that they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inductor_debug_schema import DeviceSpecs, Graph, GraphDocument, GraphNode, Kernel, Location, NodeRole

from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.rules.amounts import counted, in_bytes
from inductor_debug.rules.words.build_words import build_lines
from inductor_debug.rules.words.spec_words import heading, spec_lines
from inductor_debug.rules.words.stage_names import stage_name

_MOST_NODES = 8
"""Names of nodes listed behind a kernel."""


class GraphText:
    """Writes graph documents for people."""

    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places = places
        self._sources = sources
        self._paint = styler.paint

    def text(self, document: GraphDocument) -> str:
        """All graphs and kernels of a document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: GraphDocument) -> Iterator[str]:
        heading = f"{self._places.shown(document.path)}::{document.target}, stage {stage_name(document.stage)}"
        yield self._paint(printable(heading), Role.HEADING)
        yield from (f"note: {printable(note)}" for note in document.notes)
        for graph in document.graphs:
            yield ""
            yield from self._graph(graph)
        if document.kernels:
            yield ""
            yield self._paint(counted(len(document.kernels), "kernel"), Role.PLACE)
            of_all = _problem_of_all(document.kernels)
            if of_all:
                yield printable(f"  {of_all}")
            for kernel in document.kernels:
                yield self._kernel(kernel)
                yield from (printable(line) for line in _unfused(kernel))
                if kernel.build is not None:
                    known = replace(kernel.build, problem="") if of_all else kernel.build
                    yield from (printable(f"    {line}") for line in build_lines(known))
        if document.specs is not None:
            yield ""
            yield from self._specs(document.specs)

    def _graph(self, graph: Graph) -> Iterator[str]:
        made_from = f", made from {graph.made_from}" if graph.made_from else ""
        count = counted(len(graph.nodes), "node")
        yield self._paint(printable(f"graph {graph.name} ({graph.kind.value}, {count}{made_from})"), Role.PLACE)
        last: tuple[str, int] | None = None
        for node in graph.nodes:
            if node.place is not None and node.role is NodeRole.OP:
                line = (node.place.path, node.place.range.start.line)
                if line != last:
                    last = line
                    yield self._source(node.place)
            yield self._node(node)

    def _source(self, place: Location) -> str:
        line = place.range.start.line
        text = (self._sources.of(place.path).line(line) or "").strip()
        where = printable(self._where(place))
        return f"  {self._paint(where, Role.PLACE)}  {self._paint(printable(text), Role.FRAME)}"

    def _where(self, place: Location) -> str:
        return self._places.at(place.path, place.range.start.line)

    def _node(self, node: GraphNode) -> str:
        arguments = ", ".join([*(f"%{name}" for name in node.inputs), *([node.detail] if node.detail else [])])
        text = printable(f"    %{node.name}{_value(node)} = {node.op}({arguments})")
        remarks = [node.role.value] if node.role not in (NodeRole.OP, NodeRole.OUTPUT) else []
        remarks += [node.module] if node.module else []
        remarks += [in_bytes(node.bytes)] if node.bytes is not None and node.role is not NodeRole.OUTPUT else []
        remarks += [f"backward of {', '.join(f'%{name}' for name in node.forward)}"] if node.forward else []
        remarks += [f"in {', '.join(node.kernels)}"] if node.kernels else []
        return text + (self._paint(printable(f"  # {', '.join(remarks)}"), Role.FAINT) if remarks else "")

    def _kernel(self, kernel: Kernel) -> str:
        shown = [f"%{name}" for name in kernel.nodes[:_MOST_NODES]]
        more = len(kernel.nodes) - len(shown)
        nodes = ", ".join([*shown, *([f"{more} more"] if more else [])]) or "no node"
        lines = kernel.source.count("\n")
        extent = f", {counted(lines, 'line')}" if lines else ""
        return printable(f"  {kernel.name} ({kernel.language}{extent}, graph {kernel.graph}): {nodes}")

    def _specs(self, specs: DeviceSpecs) -> Iterator[str]:
        first, *others = heading(specs)
        yield self._paint(printable(first), Role.PLACE)
        yield from map(printable, others)
        for spec, line in spec_lines(specs.specs):
            where = f"  {self._where(spec.place)}" if spec is not None and spec.place is not None else ""
            yield printable(line) + (self._paint(printable(where), Role.FAINT) if where else "")


def _value(node: GraphNode) -> str:
    if node.dtype is None:
        return ""
    return f": {node.dtype}[{', '.join(map(str, node.shape)) if node.shape is not None else '?'}]"


def _problem_of_all(kernels: Sequence[Kernel]) -> str:
    """What keeps each of several kernels from being compiled, where that is one thing; it is told once."""
    problems = [kernel.build.problem for kernel in kernels if kernel.build is not None]
    return problems[0] if len(problems) > 1 and len({*problems}) == 1 else ""


def _unfused(kernel: Kernel) -> Iterator[str]:
    """Kernels that read this one's results, and why they are kernels of their own; each pair is told once."""
    told: dict[str, list[str]] = {}
    for neighbour in kernel.unfused:
        if neighbour.reads:
            told.setdefault(neighbour.why, []).append(neighbour.kernel)
    for why, names in told.items():
        shown = [*names[:_MOST_NODES], *([f"{len(names) - _MOST_NODES} more"] if len(names) > _MOST_NODES else [])]
        yield f"    not fused with {', '.join(shown)}: {why}"
