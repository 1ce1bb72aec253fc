"""What the inputs of a captured graph are to the model: parameter, buffer or input, and what the user calls them.

Dynamo notes the source of every placeholder (`node.meta["grapharg"]`, torch 2.11 to 2.13), but only until the backend
returns, so a backend asks at once. AOTAutograd notes for each of its placeholders which of Dynamo's it is
(`node.meta["desc"]`, a `PlainAOTInput` with `idx`; names read in torch 2.11 to 2.13). Without either an input is just
an input.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from inductor_debug_schema import Location, NodeRole
from torch.fx import GraphModule, Node

from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.rules.recording.ops import Frame

_KEY = re.compile(r"\[\s*['\"]?([^'\"\]]+)['\"]?\s*\]|\.(\w+)")
_CONTAINERS = {"_modules", "_parameters", "_buffers"}
_ROLES = {
    "parameter": NodeRole.PARAMETER,
    "buffer": NodeRole.BUFFER,
    "input": NodeRole.INPUT,
    "constant": NodeRole.CONSTANT,
}


@dataclass(frozen=True, slots=True)
class GraphArgument:
    """One input of a graph: its role, the user's name for it, and where the user declared it."""

    role: NodeRole
    name: str
    place: Location | None = None


def named_by_source(node: Node) -> tuple[str, str]:
    """Kind ("parameter", "buffer" or "input") and name of a Dynamo placeholder, by the source that Dynamo noted."""
    keys = [quoted or plain for quoted, plain in _KEY.findall(_source_name(node))]
    if "_parameters" in keys or isinstance(node.meta.get("example_value"), torch.nn.Parameter):
        kind = "parameter"
    else:
        kind = "buffer" if "_buffers" in keys else "input"
    names = [key for key in keys if key not in _CONTAINERS]
    # The first key is the local or global variable that holds the model.
    return kind, ".".join(names[1:] if kind != "input" and len(names) > 1 else names) or str(node.target)


def arguments_of_dynamo(graph_module: GraphModule, origins: OriginTable | None = None) -> list[GraphArgument]:
    """The inputs of a graph that a backend was just given, in order.

    Args:
        graph_module: Dynamo's graph.
        origins: knows the target's own tensors, by the names that the user gave them.
    """
    return [_argument(node, origins) for node in graph_module.graph.nodes if node.op == "placeholder"]


def arguments_of_aot(graph_module: GraphModule, given: Sequence[GraphArgument]) -> dict[str, GraphArgument]:
    """Arguments by placeholder for a graph of AOTAutograd's, out of those `given` to the graph that it was made of."""
    found: dict[str, GraphArgument] = {}
    for node in graph_module.graph.nodes:
        if node.op == "placeholder":
            index = plain_index(node)
            if index is not None and index < len(given):
                found[node.name] = given[index]
    return found


def plain_index(node: Node) -> int | None:
    """Which argument of the call the placeholder of an AOTAutograd graph is; None for saved values and tangents."""
    described = node.meta.get("desc")
    index = getattr(described, "idx", None)
    return index if type(described).__name__ == "PlainAOTInput" and isinstance(index, int) else None


def by_placeholder(graph_module: GraphModule, given: Sequence[GraphArgument]) -> dict[str, GraphArgument]:
    """`given`, in order, by the names of the placeholders."""
    names = [node.name for node in graph_module.graph.nodes if node.op == "placeholder"]
    return dict(zip(names, given, strict=False))


def _argument(node: Node, origins: OriginTable | None) -> GraphArgument:
    example = getattr(node.meta.get("grapharg"), "example", None)
    known = origins.known(example) if origins is not None and isinstance(example, torch.Tensor) else None
    if known is not None:
        kind, name, frames = known
        return GraphArgument(_ROLES.get(kind, NodeRole.INPUT), name, _place(frames))
    kind, name = named_by_source(node)
    return GraphArgument(_ROLES[kind], name)


def _place(frames: tuple[Frame, ...]) -> Location | None:
    return next((frame.location for frame in frames if frame.in_project), None)


def _source_name(node: Node) -> str:
    source: Any = getattr(node.meta.get("grapharg"), "source", None)
    name = getattr(source, "name", "")
    return str(name() if callable(name) else name)
