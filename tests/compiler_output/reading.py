"""What tests ask of documents that were imported: the text at a place, nodes and kernels by their names."""

from pathlib import Path

from inductor_debug.compiler_output.importing import ImportedArtifacts, read_artifacts
from inductor_debug.source.source_text import SourceText
from inductor_debug_schema import Graph, GraphDocument, GraphKind, GraphNode, Kernel, Location


def read(path: Path, *roots: Path) -> ImportedArtifacts:
    return read_artifacts(str(path), [str(root) for root in roots])


def text_at(place: Location | None) -> str | None:
    if place is None:
        return None
    source = SourceText.read(place.path)
    assert source is not None
    return source.excerpt(place.range)


def graph_of(document: GraphDocument, kind: GraphKind) -> Graph:
    return next(graph for graph in document.graphs if graph.kind is kind)


def node(document: GraphDocument, name: str, kind: GraphKind = GraphKind.POST_GRAD) -> GraphNode:
    return next(node for node in graph_of(document, kind).nodes if node.name == name)


def kernel(document: GraphDocument, name: str) -> Kernel:
    return next(kernel for kernel in document.kernels if kernel.name == name)
