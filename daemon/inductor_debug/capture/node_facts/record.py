"""Ties the operations of a recording to the nodes that ran them, and those to the rows of tables.

So a row knows its floating-point operations and its kind, and a finding the nodes that introduce what it tells of. A
graph that nothing was recorded of (Dynamo's, where AOTAutograd's was) learns it from the graph that was made of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from inductor_debug_schema import Graph, GraphDocument, GraphNode, Location, Mark, NodeRole, OperationKind
from torch.fx import GraphModule, Node

from inductor_debug.capture.node_facts.graph_bodies import names_in
from inductor_debug.capture.node_facts.kinds import PICKS, heaviest, kind_of
from inductor_debug.rules.captures.substitution import examples_in, exemplified
from inductor_debug.rules.recording.flops import UnknownSizeError, needed_flops_of
from inductor_debug.rules.recording.ops import Op, Recording

Causes = Mapping[tuple[str, Location], Iterable[int]]
"""By rule and place of a finding the indexes of the operations that introduce what it tells of."""


@dataclass(frozen=True, slots=True)
class OpFacts:
    """What is known of a run's operations.

    `causes` are those that findings are about; `seconds` gives the bound of each operation of a recording, None where
    nobody knows how fast the accelerator is.
    """

    causes: Causes = field(default_factory=dict)
    seconds: Callable[[Recording], Sequence[float] | None] = lambda recording: None


@dataclass
class _Work:
    """What a node ran. `flops` and `written` (bytes) are None where nobody knows a size, `seconds` without a speed."""

    flops: int | None = 0
    written: int | None = 0
    seconds: float | None = None
    kinds: set[OperationKind] = field(default_factory=set)


class NodeRecord:
    """What the nodes of one run's graphs did.

    Args:
        recording: the operations.
        nodes: for each of them the node that ran it, None for code outside of graphs.
        facts: what is known of them.
    """

    def __init__(self, recording: Recording, nodes: Sequence[Any], facts: OpFacts) -> None:
        self._nodes = nodes
        self._causes = facts.causes
        self._work: dict[Node, _Work] = {}
        self._rows: dict[Node, tuple[str, str]] = {}
        ran = exemplified(recording)
        self._examples = {} if ran is recording else examples_in(recording)
        for op, node in zip(ran.ops, nodes, strict=True):
            if node is not None:
                _count(self._work.setdefault(node, _Work()), op)
        for node, seconds in zip(nodes, facts.seconds(ran) or (), strict=False):
            if node is not None:
                work = self._work[node]
                work.seconds = (work.seconds or 0.0) + seconds

    def measured(self, graph: Graph, graph_module: GraphModule) -> Graph:
        """The table of `graph_module` with what its nodes did; from then on `marks` knows its rows."""
        work: dict[str, _Work] = {}
        for node, name in names_in(graph_module):
            self._rows[node] = (graph.name, name)
            if node in self._work:
                work[name] = self._work[node]
        return replace(graph, nodes=[_with_work(row, work.get(row.name)) for row in graph.nodes])

    def marks(self) -> list[Mark]:
        """The rows of measured graphs at which findings are to be shown."""
        found: dict[tuple[str, Location, str], dict[str, None]] = {}
        for (rule, place), indexes in self._causes.items():
            for index in sorted(indexes):
                graph, row = self._rows.get(self._nodes[index], ("", ""))
                if row:
                    found.setdefault((rule, place, graph), {})[row] = None
        return [Mark(rule, place, graph, list(rows)) for (rule, place, graph), rows in found.items()]

    def told(self, document: GraphDocument) -> GraphDocument:
        """The document with the marks, in which graphs without work have that of the graph that was made of them."""
        whole = _with_work_of_later(replace(document, marks=self.marks()))
        if not self._examples:
            return whole
        sizes = ", ".join(f"{name} = {value}" for name, value in self._examples.items())
        return replace(whole, notes=[*whole.notes, f"Bytes, FLOPs and times are those of the call that ran: {sizes}."])


def _with_work_of_later(document: GraphDocument) -> GraphDocument:
    done: list[Graph] = []
    for graph in reversed(document.graphs):
        made = next((other for other in done if other.made_from == graph.name and _has_work(other)), None)
        done.insert(0, graph if made is None or _has_work(graph) else _from_later(graph, made))
    return replace(document, graphs=[_with_kinds(graph) for graph in done])


def _count(work: _Work, op: Op) -> None:
    kind = kind_of(op.overload)
    if kind is not None:
        work.kinds.add(kind)
    try:
        work.flops = _sum(work.flops, needed_flops_of(op))
    except (UnknownSizeError, IndexError):
        work.flops = None
    work.written = _sum(work.written, _written(op))


def _written(op: Op) -> int | None:
    """Bytes that an operation writes: those of its results, but for what lies in the memory of its inputs unchanged."""
    taken = {meta.storage for meta in op.inputs}
    elements = 0
    for meta in op.outputs:
        if meta.storage in taken and not op.mutates:
            continue
        sizes = [size for size in meta.shape if isinstance(size, int)]
        if len(sizes) != len(meta.shape):
            return None
        elements += math.prod(sizes) * meta.element_bytes
    return elements


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _has_work(graph: Graph) -> bool:
    return any(node.flops is not None for node in graph.nodes)


def _from_later(graph: Graph, made: Graph) -> Graph:
    """What several rows became is counted for the first of them."""
    work: dict[str, _Work] = {}
    for row in made.nodes:
        if row.role is not NodeRole.OP or not row.origins or row.kind is None:
            continue
        known = work.setdefault(row.origins[0], _Work())
        known.kinds.add(row.kind)
        if row.op not in PICKS:
            known.flops, known.written = _sum(known.flops, row.flops), _sum(known.written, row.written)
            known.seconds = row.seconds if known.seconds is None else known.seconds + (row.seconds or 0.0)
    return replace(graph, nodes=[_with_work(row, work.get(row.name)) for row in graph.nodes])


def _with_kinds(graph: Graph) -> Graph:
    if all(row.kind is not None or row.role is not NodeRole.OP for row in graph.nodes):
        return graph
    return replace(graph, nodes=[_with_work(row, None) for row in graph.nodes])


def _with_work(row: GraphNode, work: _Work | None) -> GraphNode:
    """`dataclasses.replace` is ten times slower, and a graph may have 20,000 nodes."""
    if row.role is not NodeRole.OP:
        return row
    kind = (heaviest(work.kinds) if work is not None else None) or row.kind or kind_of(row.op)
    measured = row if work is None else work
    return GraphNode(
        row.name,
        row.op,
        row.role,
        row.inputs,
        row.shape,
        row.dtype,
        row.bytes,
        row.detail,
        row.place,
        row.module,
        row.seq_nr,
        row.origins,
        row.forward,
        row.kernels,
        measured.flops,
        kind,
        measured.written,
        measured.seconds,
    )
