"""Where nodes come from that no expression made by itself: sums of gradients, statistics written back, random seeds.

Autograd, functionalisation and Inductor's passes add nodes without a word about their source. Such a node belongs to
the nodes that it comes from, else to the nearest operation that it is computed from, else to the first that uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inductor_debug_schema import Graph, GraphNode, Location, NodeRole

from inductor_debug.capture.graph_tables import with_ties


def completed(graph: Graph, before: Graph) -> Graph:
    """`graph` with places and origins for every operation that has a neighbour with some.

    Args:
        graph: a graph whose nodes name origins in `before`.
        before: the graph that it was made of.
    """
    known = {node.name: node.place for node in before.nodes if node.place is not None}
    places = {node.name: node.place or _first(known.get, node.origins) for node in graph.nodes}
    origins = {node.name: node.origins for node in graph.nodes}
    ops = [node for node in graph.nodes if node.role is NodeRole.OP]
    names = {node.name for node in ops}
    users: dict[str, list[str]] = {}
    for node in ops:
        for name in node.inputs:
            users.setdefault(name, []).append(node.name)
    for node in ops:
        _inherit(node.name, [name for name in node.inputs if name in names], places, origins)
    for node in reversed(ops):
        _inherit(node.name, users.get(node.name, []), places, origins)
    return Graph(graph.name, graph.kind, [_with(node, places, origins) for node in graph.nodes], graph.made_from)


def _first(find: Callable[[str], Location | None], names: list[str]) -> Location | None:
    return next((place for name in names if (place := find(name)) is not None), None)


def _inherit(name: str, near: list[str], places: dict[str, Location | None], origins: dict[str, list[str]]) -> None:
    if places[name] is None:
        places[name] = _first(places.get, near)
    if not origins[name]:
        origins[name] = next((origins[other] for other in near if origins[other]), [])


def _with(node: GraphNode, places: Mapping[str, Location | None], origins: Mapping[str, list[str]]) -> GraphNode:
    if node.role is not NodeRole.OP or (places[node.name] == node.place and origins[node.name] == node.origins):
        return node
    return with_ties(node, places[node.name], origins[node.name], node.forward)
