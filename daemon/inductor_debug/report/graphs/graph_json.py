"""The `graph` document of CONTRACT, made of a captured one, plus a few additions.

Additions: `path`, `accelerator`, `torch`, `notes`, `modules`, `listings`, `statistics` (`rules.recording.statistics`,
null where there is none), `specs` (what the kernels ask of the accelerator, `DeviceSpecs`); `made_from` of a graph;
`role`, `detail`, `origins` and `forward` of a node; `graph` of a kernel, and `build`
(`KernelBuild`, null where it was not compiled).
"""

from __future__ import annotations

import json
from typing import Any

from inductor_debug_schema import (
    DeviceSpecs,
    Graph,
    GraphDocument,
    GraphNode,
    Kernel,
    KernelSpec,
    Listing,
    Location,
    to_wire,
)
from inductor_debug_schema.answers.statistics_document import StatisticsDocument

from inductor_debug.report.file_names import FileNames

SCHEMA = 1


def graph_json(document: GraphDocument, statistics: StatisticsDocument | None, places: FileNames) -> str:
    """The document as JSON, with a line break at its end."""
    return json.dumps(graph_document(document, statistics, places), indent=1, ensure_ascii=True) + "\n"


def graph_document(document: GraphDocument, statistics: StatisticsDocument | None, places: FileNames) -> dict[str, Any]:
    """The document as plain dicts and lists; paths as reports show them."""
    return {
        "schema": SCHEMA,
        "target": document.target,
        "stage": document.stage.value,
        "path": places.shown(document.path),
        "accelerator": document.accelerator or None,
        "torch": document.torch,
        "graphs": [_graph(graph, places) for graph in document.graphs],
        "kernels": [_kernel(kernel) for kernel in document.kernels],
        "listings": [_listing(listing) for listing in document.listings],
        "modules": document.modules,
        "notes": document.notes,
        "statistics": to_wire(statistics),
        "specs": _specs(document.specs, places) if document.specs is not None else None,
    }


def _graph(graph: Graph, places: FileNames) -> dict[str, Any]:
    nodes = [_node(node, places) for node in graph.nodes]
    return {"name": graph.name, "kind": graph.kind.value, "made_from": graph.made_from, "nodes": nodes}


def _node(node: GraphNode, places: FileNames) -> dict[str, Any]:
    return {
        "name": node.name,
        "op": node.op,
        "role": node.role.value,
        "inputs": node.inputs,
        "shape": node.shape,
        "dtype": node.dtype,
        "bytes": node.bytes,
        "detail": node.detail,
        **_at(node.place, places),
        "module": node.module,
        "seq_nr": node.seq_nr,
        "origins": node.origins,
        "forward": node.forward,
        "kernels": node.kernels,
        "flops": node.flops,
        "written": node.written,
        "seconds": node.seconds,
        "kind": node.kind.value if node.kind is not None else None,
    }


def _kernel(kernel: Kernel) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "language": kernel.language,
        "source": kernel.source,
        "graph": kernel.graph,
        "nodes": kernel.nodes,
        "build": to_wire(kernel.build),
    }


def _listing(listing: Listing) -> dict[str, Any]:
    return {"title": listing.title, "language": listing.language, "graph": listing.graph, "text": listing.text}


def _specs(specs: DeviceSpecs, places: FileNames) -> dict[str, Any]:
    return {**to_wire(specs), "specs": [_spec(spec, places) for spec in specs.specs]}


def _spec(spec: KernelSpec, places: FileNames) -> dict[str, Any]:
    written = {**to_wire(spec), **_at(spec.place, places)}
    del written["place"]
    return written


def _at(place: Location | None, places: FileNames) -> dict[str, Any]:
    return {
        "path": places.shown(place.path) if place is not None else None,
        "range": to_wire(place.range) if place is not None else None,
    }
