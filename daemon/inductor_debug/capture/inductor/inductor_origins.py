"""Which nodes of a graph of AOTAutograd's each node of the post-grad graph comes from.

Inductor's passes change the graph in place. Nodes that they keep come from themselves, whatever they are called now. A
node that a pass made has the meta of one that it replaced, in which a mark of ours has its name; where a pass forgot it
(`mm` and `add` to `addmm`), the node stands for what its users used before. Nodes that went away together with the
replaced one belong to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from inductor_debug_schema import Graph, NodeRole
from torch.fx import GraphModule, Node

_KEY = "inductor_debug_aot_node"


def grounded(graph: Graph, root: Graph) -> Graph:
    """`graph` with origins in `root` only.

    What a pass over the joint graph has put in (another way to write a softmax) names nodes of the pass's own pattern.
    It comes from the nodes of `root` at its expression.
    """
    known = {node.name for node in root.nodes}
    at: dict[object, list[str]] = {}
    for node in root.nodes:
        if node.role is NodeRole.OP and node.place is not None:
            at.setdefault(node.place, []).append(node.name)
    nodes = []
    for node in graph.nodes:
        origins = [name for name in node.origins if name in known]
        if not origins and node.role is NodeRole.OP and node.place is not None:
            origins = at.get(node.place, [])
        nodes.append(node if origins == node.origins else replace(node, origins=origins))
    return replace(graph, nodes=nodes)


class Trail:
    """Remembers a graph as it is now, to be asked after passes have changed it."""

    def __init__(self, graph_module: GraphModule) -> None:
        self._names: dict[Node, str] = {}
        self._inputs: dict[str, list[str]] = {}
        for node in graph_module.graph.nodes:
            self._names[node] = node.name
            self._inputs[node.name] = [used.name for used in node.all_input_nodes]
            if node.op not in ("placeholder", "output"):
                node.meta["custom"] = {**node.meta.get("custom", {}), _KEY: node.name}

    def origins(self, graph_module: GraphModule) -> dict[str, list[str]]:
        """For each node of the changed graph the names that its origins had when this was made."""
        nodes = list(graph_module.graph.nodes)
        gone = set(self._inputs).difference(self._names[node] for node in nodes if node in self._names)
        found: dict[str, list[str]] = {}
        for node in reversed(nodes):
            own = self._names.get(node)
            found[node.name] = [own] if own is not None else self._replaced(node, gone, found)
        return found

    def _replaced(self, node: Node, gone: set[str], found: dict[str, list[str]]) -> list[str]:
        marked = (node.meta.get("custom") or {}).get(_KEY)
        if marked in self._inputs:
            return self._with_vanished([marked], gone)
        before = [
            name
            for user in node.users
            for origin in found.get(user.name, ())
            for name in self._inputs[origin]
            if name in gone
        ]
        return self._with_vanished(before, gone)

    def _with_vanished(self, names: Iterable[str], gone: set[str]) -> list[str]:
        """The names, and what led to them and went away as well."""
        found: dict[str, None] = {}
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in found:
                found[name] = None
                if name in gone:
                    pending += [before for before in self._inputs[name] if before in gone]
        return list(found)
