"""From what one compile left to the document that a capture of ours would be: graphs, kernels, texts with places."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from inductor_debug_schema import (
    DeviceSpecs,
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    Kernel,
    LinePlace,
    Listing,
    Location,
    NodeRole,
    Stage,
)

from inductor_debug.compiler_output.compiled_graph import Compile, CompiledGraph, IrListing
from inductor_debug.compiler_output.files.ir_text import IrNode
from inductor_debug.compiler_output.files.readable_graphs import ReadableGraph, TextNode
from inductor_debug.compiler_output.files.tensor_types import TensorType
from inductor_debug.compiler_output.kernel_ties import KernelTies
from inductor_debug.compiler_output.node_places import KnownOrigins, places_of
from inductor_debug.compiler_output.source_places import SourcePlaces
from inductor_debug.rules.amounts import counted


@dataclass
class _Parts:
    graphs: list[Graph] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ToldPlaces:
    """Places that the compiler told itself: of nodes by their names, and of kernels."""

    nodes: Mapping[str, Location] = field(default_factory=dict)
    kernels: Mapping[str, list[Location]] = field(default_factory=dict)


def document_of(
    compiled: Compile, origin: str, sources: SourcePlaces, told: ToldPlaces, specs: DeviceSpecs | None = None
) -> GraphDocument:
    """The document of one compile.

    Args:
        compiled: what was read.
        origin: the folder or log that it comes from, which stands for the file where no source is here.
        sources: where lines are looked up.
        told: places that need not be looked up.
        specs: what the compiler says that kernels do on the device.
    """
    parts = _Parts(notes=list(compiled.notes))
    captured_places: dict[str, Location] = {}
    captured = ""
    if compiled.captured is not None:
        captured_places = places_of(compiled.captured.nodes, KnownOrigins(captured=True), sources)
        captured = compiled.name
        parts.graphs.append(Graph(captured, GraphKind.FX, _rows(compiled.captured, captured_places, {}, {})))
        _note_unread(compiled.captured, "the captured graph", parts)
    for graph in compiled.graphs:
        _add(graph, captured, captured_places, sources, told, parts)
    return GraphDocument(
        target=compiled.name,
        stage=Stage.INDUCTOR,
        path=_file_of(parts.graphs) or origin,
        digest=_digest(compiled),
        accelerator=specs.accelerator if specs is not None else "",
        torch=compiled.torch,
        graphs=parts.graphs,
        kernels=parts.kernels,
        listings=parts.listings,
        notes=parts.notes,
        specs=specs,
    )


def _add(
    graph: CompiledGraph,
    captured: str,
    captured_places: Mapping[str, Location],
    sources: SourcePlaces,
    told: ToldPlaces,
    parts: _Parts,
) -> None:
    ties = KernelTies(graph)
    mappings = graph.mappings
    origins = KnownOrigins(
        mappings.before, mappings.lowered, captured_places, ties.stacks, graph.kind is GraphKind.BACKWARD
    )
    made_from = captured
    names = {before.name: frozenset(node.name for node in before.nodes) for before in parts.graphs[:1] if captured}
    places: dict[str, Location] = {}
    lowered_name = ""
    for text, kind, suffix in ((graph.aot, graph.kind, ""), (graph.lowered, GraphKind.POST_GRAD, ".post_grad")):
        if text is None:
            continue
        places = places_of(text.nodes, origins, sources)
        places.update((name, told.nodes[name]) for name in told.nodes if name in text.names)
        rows = _rows(
            text,
            places,
            _origins(text, mappings.before, names.get(made_from, frozenset()), same=made_from != captured),
            ties.of_node if kind is GraphKind.POST_GRAD else {},
        )
        parts.graphs.append(Graph(f"{graph.name}{suffix}", kind, rows, made_from))
        names[f"{graph.name}{suffix}"] = text.names
        _note_unread(text, f"graph {graph.name}{suffix}", parts)
        made_from = lowered_name = f"{graph.name}{suffix}"
    ir = graph.after_fusion or graph.before_fusion
    if ir is not None and ir.nodes:
        parts.graphs.append(_ir_graph(f"{graph.name}.ir", ir.nodes, ties, places, told, graph, lowered_name))
    kernels = _kernels(graph, ties, places, told, lowered_name)
    parts.kernels += kernels
    parts.listings += _listings(graph, ties, kernels, lowered_name)
    untied = [name for name in ties.names if not ties.nodes.get(name) and not told.kernels.get(name)]
    if untied and graph.lowered is not None:
        why = "its compiler tracked no provenance" if ties.by_dataflow else "provenance tracking left them out"
        parts.notes.append(
            f"{counted(len(untied), 'kernel')} of {graph.name} cannot be tied to nodes ({why}): {', '.join(untied)}."
        )


def _origins(
    text: ReadableGraph, before: Mapping[str, list[str]], known: frozenset[str], *, same: bool
) -> dict[str, list[str]]:
    """For each node those of the graph before, as far as they are known there.

    Inductor's passes keep the names of what they keep (`same`); what has another name was made by a pass.
    """
    said = {name: [name] for name in text.names} if same else before
    return {name: [each for each in origins if each in known] for name, origins in said.items()}


def _rows(
    text: ReadableGraph,
    places: Mapping[str, Location],
    origins: Mapping[str, list[str]],
    kernels: Mapping[str, list[str]],
) -> list[GraphNode]:
    return [
        _row(node, places.get(node.name), origins.get(node.name, []), kernels.get(node.name, [])) for node in text.nodes
    ]


def _row(node: TextNode, place: Location | None, origins: list[str], kernels: list[str]) -> GraphNode:
    kind = node.type
    return GraphNode(
        node.name,
        node.op,
        node.role,
        node.inputs,
        shape=kind.shape if kind is not None else None,
        dtype=kind.dtype if kind is not None else None,
        bytes=kind.bytes if kind is not None else None,
        detail=node.detail,
        place=place,
        origins=origins,
        kernels=kernels,
    )


def _described(node: GraphNode, kind: TensorType | None) -> GraphNode:
    return node if kind is None else replace(node, shape=kind.shape, dtype=kind.dtype, bytes=kind.bytes)


def _ir_graph(
    name: str,
    nodes: list[IrNode],
    ties: KernelTies,
    places: Mapping[str, Location],
    told: ToldPlaces,
    graph: CompiledGraph,
    made_from: str,
) -> Graph:
    rows = {row.name: row for row in graph.lowered.nodes} if graph.lowered is not None else {}
    makers: dict[str, str] = {}
    inputs: dict[str, GraphNode] = {}
    made: list[GraphNode] = []
    for node in nodes:
        for read in node.reads:
            if read not in makers:
                makers[read] = read
                known = rows.get(read)
                inputs[read] = (
                    replace(_row(known, None, [read], []), inputs=[])
                    if known is not None
                    else GraphNode(read, "constant", NodeRole.CONSTANT)
                )
        kernels = ties.of_step.get(node.name, [])
        origins = list(dict.fromkeys(each for kernel in kernels for each in ties.nodes.get(kernel, ())))
        single = next(iter(node.writes.values())) if len(node.writes) == 1 else None
        of_kernels = [next(iter(told.kernels.get(each, [])), None) for each in kernels]
        row = GraphNode(
            node.name,
            node.kernel or node.kind,
            inputs=[makers[read] for read in node.reads],
            detail=", ".join(node.parts) if len(node.parts) > 1 else "",
            place=_most([*(places.get(each) for each in origins), *of_kernels]),
            origins=origins,
            kernels=kernels,
        )
        made.append(_described(row, single))
        makers.update(dict.fromkeys(node.writes, node.name))
    return Graph(name, GraphKind.IR, [*inputs.values(), *made], made_from)


def _kernels(
    graph: CompiledGraph, ties: KernelTies, places: Mapping[str, Location], told: ToldPlaces, lowered: str
) -> list[Kernel]:
    defined = graph.wrapper.kernels if graph.wrapper is not None else {}
    lines = graph.wrapper.text.split("\n") if graph.wrapper is not None else []
    made = []
    for name in ties.names:
        nodes = ties.nodes.get(name, [])
        kernel = defined.get(name)
        if kernel is not None:
            language, source = kernel.language, kernel.source
        else:
            calls = [call for call in graph.wrapper.calls if call.name == name] if graph.wrapper is not None else []
            language, source = "extern", "".join(f"{lines[call.end_line - 1].strip()}\n" for call in calls)
        expressions = told.kernels.get(name) or _ordered(places.get(node) for node in nodes)
        made.append(Kernel(name, language, source, lowered, nodes, expressions))
    return made


def _listings(graph: CompiledGraph, ties: KernelTies, kernels: list[Kernel], lowered: str) -> list[Listing]:
    made = []
    of_kernel = {kernel.name: next(iter(kernel.places), None) for kernel in kernels}
    for title, ir in (("IR before fusion", graph.before_fusion), ("IR after fusion", graph.after_fusion)):
        if ir is not None:
            made.append(Listing(title, "text", ir.text, lowered, _ir_places(ir, ties, of_kernel)))
    if graph.wrapper is not None:
        marks = [(kernel.line, kernel.line + 1, kernel.name) for kernel in graph.wrapper.kernels.values()]
        marks += [(call.line, call.end_line, call.name) for call in graph.wrapper.calls]
        found = {line: of_kernel.get(name) for start, end, name in marks for line in range(start, end)}
        made.append(Listing("wrapper", "python", graph.wrapper.text, lowered, _line_places(found)))
    return made


def _ir_places(ir: IrListing, ties: KernelTies, of_kernel: Mapping[str, Location | None]) -> list[LinePlace]:
    """Before fusion a node has the kernel of what it writes as well."""
    return _line_places(
        {node.line: _most(of_kernel.get(kernel) for kernel in ties.kernels_of(node)) for node in ir.nodes}
    )


def _line_places(found: Mapping[int, Location | None]) -> list[LinePlace]:
    return [
        LinePlace(line, place) for line, place in sorted(found.items(), key=lambda item: item[0]) if place is not None
    ]


def _note_unread(text: ReadableGraph, what: str, parts: _Parts) -> None:
    if text.unread_lines:
        lines = ", ".join(map(str, text.unread_lines[:5]))
        parts.notes.append(
            f"{counted(len(text.unread_lines), 'line')} of {what} could not be read as Python (line {lines})."
        )


def _ordered(places: Iterable[Location | None]) -> list[Location]:
    return [place for place, _ in Counter(place for place in places if place is not None).most_common()]


def _most(places: Iterable[Location | None]) -> Location | None:
    ordered = _ordered(places)
    return ordered[0] if ordered else None


def _file_of(graphs: list[Graph]) -> str:
    """The source that most nodes come from."""
    files = Counter(node.place.path for graph in graphs for node in graph.nodes if node.place is not None)
    return files.most_common(1)[0][0] if files else ""


def _digest(compiled: Compile) -> str:
    digest = hashlib.sha256(compiled.name.encode("utf-8", "replace"))
    for graph in compiled.graphs:
        if graph.wrapper is not None:
            digest.update(graph.wrapper.text.encode("utf-8", "replace"))
    return digest.hexdigest()[:16]
