"""A sidecar of Spyre's compiler as a graph, where nothing else of the compile is there: what kernels come from."""

from __future__ import annotations

from inductor_debug_schema import Graph, GraphDocument, GraphKind, GraphNode, Kernel, Location, Stage

from inductor_debug.compiler_output.debug_handles import DebugHandles
from inductor_debug.compiler_output.files.spyre_sidecar import Sidecar, SidecarCompile


def sidecar_document(
    name: str, compiled: SidecarCompile, sidecar: Sidecar, handles: DebugHandles, origin: str
) -> GraphDocument:
    """The document of one compile of a sidecar: handles as nodes, and a node for each kernel that is made of them."""
    nodes: dict[str, GraphNode] = {}
    kernels, steps = [], []
    computed: dict[str, list[str]] = {}
    for kernel in compiled.kernels:
        leaves = sidecar.leaves(kernel.handles)
        for leaf in leaves:
            computed.setdefault(leaf.id, []).append(kernel.name)
            detail = "; ".join([" → ".join(leaf.chain), *leaf.history])
            nodes[leaf.id] = GraphNode(leaf.id, leaf.op or "unknown", detail=detail, place=handles.place_of(leaf.id))
        origins = [leaf.id for leaf in leaves]
        places = handles.places_of(kernel.handles)
        place: Location | None = next(iter(places), None)
        steps.append(
            GraphNode(
                kernel.name, "sdsc", detail=", ".join(kernel.ops), place=place, origins=origins, kernels=[kernel.name]
            )
        )
        kernels.append(Kernel(kernel.name, "python", f"# {kernel.event}\n", f"{name}.handles", origins, places))
    rows = [
        GraphNode(row.name, row.op, detail=row.detail, place=row.place, kernels=computed[key])
        for key, row in nodes.items()
    ]
    graphs = [
        Graph(f"{name}.handles", GraphKind.POST_GRAD, rows),
        Graph(f"{name}.ir", GraphKind.IR, steps, f"{name}.handles"),
    ]
    file = next((row.place.path for row in rows if row.place is not None), origin)
    return GraphDocument(
        name,
        Stage.INDUCTOR,
        file,
        compiled.id[:16],
        "spyre",
        compiled.torch,
        graphs,
        kernels,
        notes=list(compiled.notes),
    )
