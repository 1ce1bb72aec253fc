"""What Inductor made of a target, as plain tables: post-grad graphs, IR, kernels and listings, tied to the source.

Made of what `inductor_stage` collected, without torch: every kernel is followed to the post-grad nodes that it
computes, those to AOTAutograd's and Dynamo's, and from any of them to an expression. No position is taken from
Inductor's texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from inductor_debug_schema import (
    Graph,
    GraphKind,
    GraphNode,
    Kernel,
    LinePlace,
    Listing,
    Location,
    NodeRole,
    UnfusedKernel,
)

from inductor_debug.capture.graphs.generated_nodes import completed
from inductor_debug.capture.inductor.inductor_ir import IrBlock, IrBuffer, IrStep
from inductor_debug.capture.node_facts.graph_bodies import Bodies, caller_of
from inductor_debug.rules.recording.statistics import KernelCost

_DEFINITION = re.compile(
    r"^(?P<name>\w+) = async_compile\.(?P<builder>\w+)\([^\n]*?r?'''\n(?P<source>.*?)'''", re.DOTALL | re.MULTILINE
)
"""How a wrapper of torch 2.11 to 2.13 defines a kernel."""
_HANDLE = re.compile(r"\[Provenance debug handles\] (?P<call>\S+)")
_LANGUAGES = {"triton": "triton", "cpp": "cpp", "cpp_pybinding": "cpp"}
_MOST_CALL_LINES = 8
BLOCK_END = "\n\n\n"


@dataclass(slots=True)
class LoweredGraph:
    """One graph on its way through Inductor.

    `aot` is AOTAutograd's graph and `post_grad` what Inductor's passes made of it, `origins` says which nodes of the
    first those of the second come from. The rest is empty where lowering failed. `calls` are names of kernels, with a
    colon and the number by which the wrapper's comments mention the call, and the post-grad nodes of each. `unfused`
    says why a step was not fused with one that reads its result, by the names of both; `lines` has for each kernel
    the post-grad nodes that its lines were written for.
    """

    aot: Graph
    post_grad: Graph
    origins: dict[str, list[str]]
    wrapper: str = ""
    calls: list[tuple[str, list[str]]] = field(default_factory=list)
    before_fusion: list[IrBlock] = field(default_factory=list)
    after_fusion: list[IrBlock] = field(default_factory=list)
    steps: list[IrStep] = field(default_factory=list)
    unfused: dict[tuple[str, str], str] = field(default_factory=dict)
    lines: dict[str, dict[str, list[str]]] = field(default_factory=dict)


@dataclass(slots=True)
class InductorTables:
    """What one or more graphs come to, in the order in which a document shows them."""

    graphs: list[Graph] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    costs: list[KernelCost] = field(default_factory=list)

    def add(self, lowered: LoweredGraph, source: Graph) -> None:
        """Appends AOTAutograd's graph, made of `source`, the post-grad graph, its IR, kernels and listings."""
        lowered = _completed(lowered, source)
        places = {node.name: node.place for node in lowered.post_grad.nodes if node.place is not None}
        by_node: dict[str, list[str]] = {}
        for call, names in lowered.calls:
            for name in names:
                kernels = by_node.setdefault(name, [])
                if _name_of(call) not in kernels:
                    kernels.append(_name_of(call))
        nodes = [_with_kernels(node, by_node.get(node.name)) for node in lowered.post_grad.nodes]
        post_grad = Graph(lowered.post_grad.name, GraphKind.POST_GRAD, nodes, lowered.aot.name)
        self.graphs += [lowered.aot, post_grad]
        if lowered.steps:
            self.graphs.append(_ir_graph(lowered, post_grad, places))
        made = _kernels(lowered, places)
        self.kernels += made
        self.costs += _costs(lowered, made)
        self.listings += _listings(lowered, places)


def _name_of(call: str) -> str:
    return call.rpartition(":")[0] or call


def _completed(lowered: LoweredGraph, source: Graph) -> LoweredGraph:
    """The same with a place for every node, and post-grad nodes that name their origins in AOTAutograd's graph."""
    aot = completed(lowered.aot, source)
    names = {node.name for node in aot.nodes}
    rows = [replace(node, origins=_origins(node.name, lowered, names)) for node in lowered.post_grad.nodes]
    post_grad = completed(Graph(lowered.post_grad.name, GraphKind.POST_GRAD, rows, aot.name), aot)
    bodies = Bodies(node.name for node in rows)
    calls = [(call, bodies.rows(nodes)) for call, nodes in lowered.calls]
    return replace(lowered, aot=aot, post_grad=post_grad, calls=calls)


def _origins(name: str, lowered: LoweredGraph, names: set[str]) -> list[str]:
    """Passes keep most nodes of a body; what they make there comes from the call."""
    caller = caller_of(name)
    return [name] if caller != name and name in names else lowered.origins.get(caller, [])


def _with_kernels(node: GraphNode, kernels: list[str] | None) -> GraphNode:
    return replace(node, kernels=kernels) if kernels else node


def _ir_graph(lowered: LoweredGraph, post_grad: Graph, places: Mapping[str, Location]) -> Graph:
    rows = {node.name: node for node in post_grad.nodes}
    makers: dict[str, str] = {}
    inputs: dict[str, GraphNode] = {}
    nodes: list[GraphNode] = []
    kernels = _kernels_of_steps(lowered)
    for step in lowered.steps:
        for read in step.reads:
            if read not in makers:
                makers[read] = read
                inputs[read] = _ir_input(read, rows.get(read))
        first = _first(step.writes)
        known = [rows[name] for name in step.origins if name in rows]
        modules = Counter(row.module for row in known if row.module)
        nodes.append(
            GraphNode(
                name=step.name,
                op=step.kind,
                inputs=[makers[read] for read in step.reads],
                shape=first.shape if first is not None else None,
                dtype=first.dtype if first is not None else None,
                bytes=_total(step.writes),
                detail=_detail(step),
                place=_most(places.get(name) for name in step.origins),
                module=modules.most_common(1)[0][0] if modules else "",
                origins=[row.name for row in known],
                forward=list(dict.fromkeys(name for row in known for name in row.forward)),
                kernels=kernels.get(step.name, []),
            )
        )
        makers.update((buffer.name, step.name) for buffer in step.writes)
    return Graph(f"{lowered.aot.name}.ir", GraphKind.IR, [*inputs.values(), *nodes], post_grad.name)


def _detail(step: IrStep) -> str:
    """What a scheduler node was fused of, and its loops."""
    if len(step.parts) == 1:
        return f"loops {step.parts[0].loops}" if step.parts[0].loops else ""
    return ", ".join(f"{part.name} {part.loops}".rstrip() for part in step.parts)


def _ir_input(name: str, row: GraphNode | None) -> GraphNode:
    if row is None:
        return GraphNode(name, "constant", NodeRole.CONSTANT)
    return GraphNode(
        name, row.op, row.role, [], row.shape, row.dtype, row.bytes, row.detail, row.place, row.module, origins=[name]
    )


def _first(buffers: tuple[IrBuffer, ...]) -> IrBuffer | None:
    return next((buffer for buffer in buffers if buffer.shape is not None), None) if len(buffers) == 1 else None


def _total(buffers: tuple[IrBuffer, ...]) -> int | None:
    return _sum([buffer.bytes for buffer in buffers])


def _kernels_of_steps(lowered: LoweredGraph) -> dict[str, list[str]]:
    """Which kernel computes which scheduler node: both come in the order of the code, and share FX nodes.

    A kernel of a library names only the node that it computes, and such a scheduler node all that led to it as well. A
    scheduler node that no kernel is called for (a constant, a join) has none. Each call of a kernel for a GPU is one
    scheduler node, which tells the second step of a reduction from the first; the CPU's take several.
    """
    found: dict[str, list[str]] = {}
    defined = {match["name"]: match["builder"] for match in _DEFINITION.finditer(lowered.wrapper)}
    calls = [(_name_of(call), set(names)) for call, names in lowered.calls]
    computing: dict[str, list[int]] = {}
    for index, (_, names) in enumerate(calls):
        for name in names:
            computing.setdefault(name, []).append(index)
    at = 0
    for step in lowered.steps:
        origins = set(step.origins)
        values = {part.value for part in step.parts} & origins
        loops = any(part.ranges is not None for part in step.parts)
        near = sorted({index for name in step.origins for index in computing.get(name, ()) if index >= at})
        for index in near:
            kernel, names = calls[index]
            if (kernel in defined) == loops and (values <= names if values else origins <= names or names <= origins):
                at = index + (defined.get(kernel) == "triton")
                found[step.name] = [kernel]
                break
    return found


def _kernels(lowered: LoweredGraph, places: Mapping[str, Location]) -> list[Kernel]:
    defined = {match["name"]: match for match in _DEFINITION.finditer(lowered.wrapper)}
    nodes: dict[str, dict[str, None]] = {name: {} for name in defined}
    for call, names in lowered.calls:
        nodes.setdefault(_name_of(call), {}).update(dict.fromkeys(names))
    called, tensors = _call_lines(lowered.wrapper), _tensors_of_kernels(lowered)
    unfused = _unfused(lowered)
    made = []
    for name, computed in nodes.items():
        match = defined.get(name)
        if match is not None:
            language, source = _LANGUAGES.get(match["builder"], "python"), match["source"]
        else:
            language, source = "extern", _extern_source(called.get(name, ()), tensors.get(name, ()))
        expressions = _ordered(places.get(node) for node in computed)
        graph, neighbours = lowered.post_grad.name, unfused.get(name, [])
        lines = _lines_of(source, lowered.lines.get(name, {}), places)
        made.append(Kernel(name, language, source, graph, list(computed), expressions, unfused=neighbours, lines=lines))
    return made


def _lines_of(source: str, nodes: Mapping[str, list[str]], places: Mapping[str, Location]) -> list[LinePlace]:
    """The lines of a kernel that compute values of expressions: one entry for each expression, most nodes first."""
    found = []
    for number, line in enumerate(source.split("\n") if nodes else ()):
        known = _ordered(places.get(name) for name in nodes.get(line.strip(), ()))
        found += [LinePlace(number, place) for place in known]
    return found


def _unfused(lowered: LoweredGraph) -> dict[str, list[UnfusedKernel]]:
    """For each kernel those that read its results, or whose results it reads, and why they are kernels of their own."""
    kernels = _kernels_of_steps(lowered)
    found: dict[str, dict[UnfusedKernel, None]] = {}
    for (maker, reader), why in lowered.unfused.items():
        for writes in kernels.get(maker, ()):
            for reads in kernels.get(reader, ()):
                found.setdefault(writes, {})[UnfusedKernel(reads, True, why)] = None
                found.setdefault(reads, {})[UnfusedKernel(writes, False, why)] = None
    return {name: list(neighbours) for name, neighbours in found.items()}


def _tensors_of_kernels(lowered: LoweredGraph) -> dict[str, list[str]]:
    """What the kernels of libraries read and make, call by call."""
    found: dict[str, list[str]] = {}
    computing = _kernels_of_steps(lowered)
    for step in lowered.steps:
        for name in computing.get(step.name, ()):
            found.setdefault(name, []).extend(_signature(part.tensors) for part in step.parts if part.tensors)
    return found


def _signature(tensors: Sequence[str]) -> str:
    *read, made = tensors
    return f"# {', '.join(read)} -> {made or 'several'}"


def _extern_source(lines: Sequence[str], signatures: Sequence[str]) -> str:
    """The lines that call a kernel of a library, each below what it reads and makes, where that is known of all."""
    if len(lines) != len(signatures):
        return "".join(f"{line}\n" for line in lines)
    return "".join(f"{signature}\n{line}\n" for signature, line in zip(signatures, lines, strict=True))


def _costs(lowered: LoweredGraph, kernels: list[Kernel]) -> list[KernelCost]:
    """What each kernel moves: the sum over the scheduler nodes that it computes, in all of its calls."""
    calls = Counter(_name_of(call) for call, _ in lowered.calls)
    computing = _kernels_of_steps(lowered)
    moved: dict[str, list[IrStep]] = {}
    for step in lowered.steps:
        for name in computing.get(step.name, ()):
            moved.setdefault(name, []).append(step)
    found = []
    for kernel in kernels:
        steps = moved.get(kernel.name, [])
        reads, writes = [step.bytes_read for step in steps], [step.bytes_written for step in steps]
        found.append(
            KernelCost(
                kernel.name,
                kernel.graph,
                kernel.language,
                calls[kernel.name],
                _sum(reads),
                _sum(writes),
                kernel.places[0] if kernel.places else None,
            )
        )
    return found


def _sum(sizes: list[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if known and len(known) == len(sizes) else None


def _call_lines(wrapper: str) -> dict[str, list[str]]:
    """The lines that call each kernel, in the order of the wrapper."""
    found: dict[str, list[str]] = {}
    lines = wrapper.split("\n")
    for number, call in _mentions(lines):
        name = _name_of(call)
        line = next((lines[index] for index in _lines_of_call(lines, number, name)[-1:]), "")
        if f"{name}(" in line or f"{name}." in line:
            found.setdefault(name, []).append(line.strip())
    return found


def _mentions(lines: list[str]) -> Iterable[tuple[int, str]]:
    for number, line in enumerate(lines):
        match = _HANDLE.search(line)
        if match is not None:
            yield number, match["call"]


def _lines_of_call(lines: list[str], number: int, name: str) -> range:
    """The lines from the comment that mentions a call to the call itself."""
    for index in range(number + 1, min(number + _MOST_CALL_LINES, len(lines))):
        if f"{name}(" in lines[index] or f"{name}." in lines[index]:
            return range(number, index + 1)
        if _HANDLE.search(lines[index]):
            break
    return range(number, number + 1)


def _listings(lowered: LoweredGraph, places: Mapping[str, Location]) -> list[Listing]:
    graph = lowered.post_grad.name
    found = []
    for title, blocks in (("IR before fusion", lowered.before_fusion), ("IR after fusion", lowered.after_fusion)):
        if blocks:
            text, lines = _text_of(blocks, places)
            found.append(Listing(title, "text", text, graph, lines))
    if lowered.wrapper:
        found.append(Listing("wrapper", "python", lowered.wrapper, graph, _wrapper_places(lowered, places)))
    return found


def _text_of(blocks: list[IrBlock], places: Mapping[str, Location]) -> tuple[str, list[LinePlace]]:
    """All blocks as one text; the place of a block is at its first line."""
    lines: list[LinePlace] = []
    line = 0
    for block in blocks:
        place = _most(places.get(name) for name in block.origins)
        if place is not None:
            lines.append(LinePlace(line, place))
        line += block.text.count("\n") + len(BLOCK_END)
    return BLOCK_END.join(block.text for block in blocks) + "\n", lines


def _wrapper_places(lowered: LoweredGraph, places: Mapping[str, Location]) -> list[LinePlace]:
    """Where kernels are defined and called."""
    lines = lowered.wrapper.split("\n")
    found: dict[int, Location] = {}
    expressions: dict[str, list[Location]] = {}
    calls = {call: [places[name] for name in names if name in places] for call, names in lowered.calls}
    for call, known in calls.items():
        expressions.setdefault(_name_of(call), []).extend(known)
    for match in _DEFINITION.finditer(lowered.wrapper):
        place = _most(expressions.get(match["name"], ()))
        if place is not None:
            found[lowered.wrapper.count("\n", 0, match.start())] = place
    for number, call in _mentions(lines):
        place = _most(calls.get(call, ()))
        if place is not None:
            found.update(dict.fromkeys(_lines_of_call(lines, number, _name_of(call)), place))
    return [LinePlace(number, found[number]) for number in sorted(found)]


def _ordered(places: Iterable[Location | None]) -> list[Location]:
    return [place for place, _ in Counter(place for place in places if place is not None).most_common()]


def _most(places: Iterable[Location | None]) -> Location | None:
    ordered = _ordered(places)
    return ordered[0] if ordered else None
