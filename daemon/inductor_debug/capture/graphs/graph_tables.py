"""Turns captured FX graphs into plain tables (`inductor_debug_schema.graphs`): what the graph view and artifacts show.

Nothing is run: shapes and dtypes are read from the values that tracing left on the nodes (`meta["val"]` after
AOTAutograd, `meta["example_value"]` in Dynamo's graphs), places from the stacks that `dynamo_positions` noted. A node
without any of that becomes a row all the same.

A graph after AOTAutograd names the nodes of Dynamo's graph that its nodes come from. `mark_names` writes those names
where they survive AOTAutograd, Inductor's passes and the copy to the backward: `node.meta["custom"]`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any

import torch
from inductor_debug_schema import Graph, GraphDocument, GraphKind, GraphNode, Location, NodeRole, Stage
from torch._ops import HigherOrderOperator, OpOverload
from torch.fx import GraphModule, Node

from inductor_debug.capture.dynamo.dynamo_positions import NODE_KEY, stack_of_node
from inductor_debug.capture.dynamo.graph_breaks import frames_of
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.graphs.graph_arguments import GraphArgument
from inductor_debug.capture.graphs.graph_homes import homes_of
from inductor_debug.capture.node_facts.graph_bodies import BodyScope, attribute, bodies_of, caller_of, entered, names_in
from inductor_debug.capture.running.modules import NodeModules
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.tensors.node_values import described, detail_of, values_of

_NOTHING = "torch.compile captured no graph of {}."
_ROLES = {
    "placeholder": NodeRole.INPUT,
    "get_attr": NodeRole.CONSTANT,
    "output": NodeRole.OUTPUT,
}


def table_of(
    graph_module: GraphModule,
    *,
    name: str,
    kind: GraphKind,
    sources: SourceMap,
    module_names: dict[int, str] | None,
    made_from: str = "",
    arguments: Mapping[str, GraphArgument] | None = None,
    forward: Graph | None = None,
) -> Graph:
    """The graph as a table, its nodes in the order of the graph.

    Args:
        graph_module: any graph from Dynamo, AOTAutograd or Inductor's passes.
        name: what the graph is called in its document (`0`, `0.backward`).
        kind: which of the compiler's graphs it is.
        sources: turns positions into places.
        module_names: identities of the target's modules to their dotted paths; None where they are not known.
        made_from: the name of Dynamo's graph that it was made of, so that nodes name their origins in it.
        arguments: what placeholders are to the model, by their names (`graph_arguments`).
        forward: for a backward graph the table of its forward graph.
    """
    reader = _Reader(sources, NodeModules(module_names), arguments or {}, bool(made_from))
    nodes = list(reader.rows(graph_module))
    if forward is not None:
        nodes = _tied(nodes, forward)
    return Graph(name, kind, nodes, made_from)


def mark_names(graph_module: GraphModule) -> None:
    """Notes on every computing node of a graph of Dynamo's its own name, for the graphs made of it to repeat.

    Nodes in the body of a higher-order op get the names of their rows, which begin with the call's.
    """
    for node, name in names_in(graph_module):
        _mark(node, name)


def _mark(node: Node, name: str) -> None:
    node.meta["custom"] = {**node.meta.get("custom", {}), NODE_KEY: name}


def origins_of(node: Node) -> list[str]:
    """The nodes of Dynamo's graph that `node` comes from: by the mark, else by what torch remembers itself."""
    marked = (node.meta.get("custom") or {}).get(NODE_KEY)
    if isinstance(marked, str):
        return [marked]
    return list(dict.fromkeys(_first_name(source) for source in node.meta.get("from_node") or ()))


def _first_name(source: Any) -> str:
    """The node at the beginning of a chain of `NodeSource`s (torch 2.11 to 2.13)."""
    while getattr(source, "from_node", None):
        source = source.from_node[-1]
    return str(getattr(source, "name", ""))


def op_name(node: Node, root: GraphModule) -> str:
    """The ATen overload, or the dotted name of what is called: `torch.nn.functional.gelu`, `Tensor.view`."""
    target = node.target
    if node.op in ("placeholder", "output", "get_attr"):
        return node.op
    if node.op == "call_method":
        return f"Tensor.{target}"
    if node.op == "call_module":
        return type(attribute(root, str(target))).__name__
    if isinstance(target, HigherOrderOperator):
        return f"higher_order.{target}"
    if isinstance(target, OpOverload):
        return str(target)
    module = getattr(target, "__module__", None) or "torch"
    called = getattr(target, "__qualname__", None) or getattr(target, "__name__", None) or str(target)
    # Builtins say which private class or module holds them.
    return f"{module.removeprefix('_')}.{called.rpartition('_VariableFunctionsClass.')[2]}"


class _Reader:
    def __init__(
        self, sources: SourceMap, modules: NodeModules, arguments: Mapping[str, GraphArgument], has_origins: bool
    ) -> None:
        self._sources = sources
        self._modules = modules
        self._arguments = arguments
        self._has_origins = has_origins

    def rows(self, graph_module: GraphModule) -> Iterator[GraphNode]:
        """The rows of a graph, those of a body before its call's."""
        homes = homes_of(graph_module.graph, self._modules)
        for node in graph_module.graph.nodes:
            results = yield from self._bodies(node, graph_module, BodyScope(), homes)
            row = self._row(node, graph_module, homes)
            row.inputs.extend(results)
            yield row

    def _bodies(
        self, call: Node, root: GraphModule, scope: BodyScope, homes: Mapping[Node, str]
    ) -> Generator[GraphNode, None, list[str]]:
        """The rows of the bodies that `call` calls; returns the rows that they give."""
        results: list[str] = []
        for name, body in bodies_of(call, root):
            inner = entered(scope, call, scope.home(homes.get(call, "")), name, body)
            yield from self._body(body, inner, self._place(call))
            results += inner.results
        return results

    def _body(self, body: GraphModule, scope: BodyScope, place: Location | None) -> Iterator[GraphNode]:
        homes = homes_of(body.graph, self._modules)
        for node in body.graph.nodes:
            results = yield from self._bodies(node, body, scope, homes)
            if node.op == "output":
                scope.results = [scope.row(name) for name in _inputs(node)]
            elif node.name not in scope.names:
                shape, dtype, size = described(self._values(node, body))
                yield GraphNode(
                    name=scope.row(node),
                    op=op_name(node, body),
                    role=NodeRole.CONSTANT if node.op == "get_attr" else NodeRole.OP,
                    inputs=[*(scope.row(name) for name in _inputs(node)), *results],
                    shape=shape,
                    dtype=dtype,
                    bytes=size,
                    detail=str(node.target) if node.op == "get_attr" else detail_of(node),
                    place=self._place(node) or place,
                    module=scope.home(homes.get(node, "")),
                    origins=origins_of(node) if self._has_origins else [],
                )

    def _row(self, node: Node, root: GraphModule, homes: Mapping[Node, str]) -> GraphNode:
        argument = self._arguments.get(node.name)
        shape, dtype, size = described(self._values(node, root))
        saved = node.op == "placeholder" and argument is None
        if argument is not None:
            role, detail = argument.role, argument.name
        else:
            role, detail = (
                _ROLES.get(node.op, NodeRole.OP),
                str(node.target) if node.op == "get_attr" else detail_of(node),
            )
        return GraphNode(
            name=node.name,
            op=op_name(node, root),
            role=role,
            inputs=_inputs(node),
            shape=shape,
            dtype=dtype,
            bytes=size,
            detail=detail,
            place=(argument.place if argument is not None else None) or self._place(node),
            module=_owner(argument) if argument is not None else homes.get(node, ""),
            seq_nr=_sequence_number(node),
            origins=origins_of(node) if self._has_origins and not (saved and "desc" in node.meta) else [],
        )

    @staticmethod
    def _values(node: Node, root: GraphModule) -> list[torch.Tensor]:
        values = values_of(node)
        if not values and node.op == "get_attr":
            constant = attribute(root, str(node.target))
            return [constant] if isinstance(constant, torch.Tensor) else []
        return [] if node.op == "output" else values

    def _place(self, node: Node) -> Location | None:
        frames = frames_of(stack_of_node(node), self._sources)
        return next((frame.location for frame in frames if frame.in_project), None)


def _tied(nodes: list[GraphNode], forward: Graph) -> list[GraphNode]:
    """The nodes of a backward graph, with the forward nodes that autograd made them for.

    Ops that autograd does not follow share the number of the next one that it does; where origins are known, only
    forward nodes with the same origin count. A body belongs to what its call belongs to.
    """
    numbered: dict[int, list[GraphNode]] = {}
    for node in forward.nodes:
        if node.seq_nr is not None and node.role is NodeRole.OP:
            numbered.setdefault(node.seq_nr, []).append(node)
    ties: dict[str, list[str]] = {}
    for node in nodes:
        same = numbered.get(node.seq_nr, []) if node.seq_nr is not None and node.role is NodeRole.OP else []
        closer = [other for other in same if set(other.origins) & set(node.origins)] or same
        ties[node.name] = [other.name for other in closer]
    return [
        with_ties(node, node.place, node.origins, tied) if (tied := ties[caller_of(node.name)]) else node
        for node in nodes
    ]


def with_ties(node: GraphNode, place: Location | None, origins: list[str], forward: list[str]) -> GraphNode:
    """The node, tied to other places; `dataclasses.replace` is ten times slower, and a graph may have 20,000 nodes."""
    return GraphNode(
        node.name,
        node.op,
        node.role,
        node.inputs,
        node.shape,
        node.dtype,
        node.bytes,
        node.detail,
        place,
        node.module,
        node.seq_nr,
        origins,
        forward,
        node.kernels,
    )


def _sequence_number(node: Node) -> int | None:
    """What ties a backward node to its forward one; sums of gradients all carry the last number, of another node."""
    number = None if node.meta.get("is_gradient_acc") else node.meta.get("seq_nr")
    return number if isinstance(number, int) and number >= 0 else None


def _owner(argument: GraphArgument) -> str:
    """The module that holds a parameter: `encoder.fc` for `encoder.fc.weight`."""
    return argument.name.rpartition(".")[0] if argument.role in (NodeRole.PARAMETER, NodeRole.BUFFER) else ""


def _inputs(node: Node) -> list[str]:
    found: list[str] = []
    torch.fx.node.map_arg((node.args, node.kwargs), lambda used: found.append(used.name))
    return found


def document_of(target: BuiltTarget, stage: Stage, graphs: list[Graph], notes: Iterable[str] = ()) -> GraphDocument:
    """The document of one stage of `target`; who knows the file's text and the accelerator fills those in."""
    modules = [] if target.module is None else list(target.module.named_modules())
    return GraphDocument(
        target=target.name,
        stage=stage,
        path=target.location.path,
        digest="",
        accelerator="",
        torch=str(torch.__version__),
        graphs=graphs,
        modules={path: type(module).__name__ for path, module in modules},
        notes=[*notes, *([] if graphs else [_NOTHING.format(target.name)])],
    )
