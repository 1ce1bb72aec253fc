"""A graph document as files: columns for machines, text for people, and each kernel and listing as a source file.

It only makes the contents; the engine decides where they go and whether there is room.
"""

from __future__ import annotations

from collections.abc import Iterator

from inductor_debug_schema import ArtifactKind, ArtifactMade, Graph, GraphDocument, GraphNode, Stage

from inductor_debug.artifacts.graph_columns import encode
from inductor_debug.source.notebooks.reading import place_in_words

GRAPH_MEDIA_TYPE = "application/vnd.inductor-debug.graph+msgpack"
_KINDS = {
    Stage.MOCK: ArtifactKind.FX_GRAPHS,
    Stage.AOT: ArtifactKind.AOT_GRAPHS,
    Stage.INDUCTOR: ArtifactKind.INDUCTOR_IR,
}
_SUFFIXES = {"cpp": ".cpp", "python": ".py", "triton": ".py"}
_MEDIA_TYPES = {".cpp": "text/x-c++", ".py": "text/x-python", ".txt": "text/plain"}


def artifacts_of(document: GraphDocument) -> list[ArtifactMade]:
    """Everything that is worth keeping of `document`; the columnar file with all graphs comes first."""
    kind = _KINDS.get(document.stage, ArtifactKind.FX_GRAPHS)
    made = [
        columns_of(document),
        _made(document, kind, "graphs", ".txt", "text/plain", readable(document).encode()),
    ]
    sources = [(kernel.name, kernel.language, kernel.source) for kernel in document.kernels]
    sources += [(f"{item.graph} {item.title}", item.language, item.text) for item in document.listings]
    for title, language, text in sources:
        if text:
            suffix = _SUFFIXES.get(language, ".txt")
            folder = ArtifactKind.INDUCTOR_IR if suffix == ".txt" else ArtifactKind.INDUCTOR_KERNELS
            made.append(_made(document, folder, title, suffix, _MEDIA_TYPES[suffix], text.encode()))
    return made


def columns_of(document: GraphDocument) -> ArtifactMade:
    """The columnar file with all graphs."""
    kind = _KINDS.get(document.stage, ArtifactKind.FX_GRAPHS)
    return _made(document, kind, "graphs", ".graph", GRAPH_MEDIA_TYPE, encode(document))


def _made(
    document: GraphDocument, kind: ArtifactKind, title: str, suffix: str, media_type: str, content: bytes
) -> ArtifactMade:
    return ArtifactMade(kind, title, suffix, media_type, content, document.target, document.stage)


def readable(document: GraphDocument) -> str:
    """All graphs of the document as text, a line for each node."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: GraphDocument) -> Iterator[str]:
    yield f"# {document.target}, stage {document.stage.value}, torch {document.torch}"
    yield from (f"# {note}" for note in document.notes)
    for graph in document.graphs:
        yield ""
        yield _title(graph)
        yield from (_line(node) for node in graph.nodes)


def _title(graph: Graph) -> str:
    made_from = f", made from graph {graph.made_from}" if graph.made_from else ""
    return f"graph {graph.name} ({graph.kind.value}, {len(graph.nodes)} nodes{made_from}):"


def _line(node: GraphNode) -> str:
    value = node.name
    if node.dtype is not None:
        sizes = ", ".join(map(str, node.shape)) if node.shape is not None else "?"
        value += f": {node.dtype}[{sizes}]"
    arguments = [f"%{name}" for name in node.inputs] + ([node.detail] if node.detail else [])
    comments = [node.role.value] if node.op == "placeholder" else []
    if node.module:
        comments.append(node.module)
    if node.place is not None:
        path, start = node.place.path, node.place.range.start
        comments.append(place_in_words(path, path, start.line, start.character))
    if node.forward:
        comments.append(f"backward of {', '.join(f'%{name}' for name in node.forward)}")
    comment = f"  # {', '.join(comments)}" if comments else ""
    return f"    {value} = {node.op}({', '.join(arguments)}){comment}"
