"""`graph --format dot`: graphs in the language of Graphviz, one cluster each.

Inputs, parameters and constants are small boxes of their own beside their users, once for each use: one node with a
hundred edges would pull a whole drawing together.
"""

from __future__ import annotations

from collections.abc import Iterator

from inductor_debug_schema import Graph, GraphDocument, GraphNode, NodeRole

from inductor_debug.source.notebooks.reading import place_in_words

_STUBS = frozenset({NodeRole.INPUT, NodeRole.PARAMETER, NodeRole.BUFFER, NodeRole.CONSTANT})


def graph_dot(document: GraphDocument) -> str:
    """All graphs of the document, with a line break at its end."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: GraphDocument) -> Iterator[str]:
    yield f"digraph {_quoted(document.target)} {{"
    yield '  node [shape=box, style=rounded, fontname="sans-serif", fontsize=10];'
    for number, graph in enumerate(document.graphs):
        yield f"  subgraph cluster_{number} {{"
        yield f"    label={_quoted(f'{graph.name} ({graph.kind.value})')};"
        yield from (f"    {line}" for line in _graph(graph, f"{number}/"))
        yield "  }"
    yield "}"


def _graph(graph: Graph, prefix: str) -> Iterator[str]:
    stubs = {node.name: node for node in graph.nodes if node.role in _STUBS}
    used: set[str] = set()
    for node in graph.nodes:
        if node.name in stubs:
            continue
        identity = _quoted(prefix + node.name)
        yield f"{identity} [label={_quoted(_label(node))}, tooltip={_quoted(_tooltip(node))}];"
        for position, name in enumerate(node.inputs):
            if name in stubs:
                used.add(name)
                stub = _quoted(f"{prefix}{node.name}/{position}")
                yield f"{stub} [label={_quoted(stub_label(stubs[name]))}, style=dashed, fontsize=8];"
                yield f"{stub} -> {identity} [style=dashed];"
            else:
                yield f"{_quoted(prefix + name)} -> {identity};"
    for name in stubs.keys() - used:
        yield f"{_quoted(prefix + name)} [label={_quoted(stub_label(stubs[name]))}, style=dashed, fontsize=8];"


def stub_label(node: GraphNode) -> str:
    """What an input or a parameter is called, and its shape."""
    return f"{node.detail or node.name}\n{value_of(node)}".strip()


def value_of(node: GraphNode) -> str:
    """`float32[64, 32]`, or "" where the value is no single tensor."""
    if node.dtype is None or node.shape is None:
        return node.dtype or ""
    return f"{node.dtype}[{', '.join(map(str, node.shape))}]"


def _label(node: GraphNode) -> str:
    return "\n".join(filter(None, [node.name, node.op, value_of(node)]))


def _tooltip(node: GraphNode) -> str:
    if node.place is None:
        return node.module or node.name
    return place_in_words(node.place.path, node.place.path, node.place.range.start.line)


def _quoted(text: str) -> str:
    """A DOT string: quotes and backslashes escaped, line breaks as DOT writes them, control characters as blanks."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(c if c.isprintable() else " " for c in escaped) + '"'
