"""Where nodes come from that no expression made by itself: sums of gradients, statistics written back, random seeds.

Autograd, functionalisation and Inductor's passes add nodes without a word about their source. Such a node belongs to
the nodes that it comes from, else to the nearest operation that it is computed from, else to the first that uses it; in
a backward graph it belongs to the forward node of that one as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from inductor_debug_schema import Graph, GraphNode, Location, NodeRole

from inductor_debug.capture.graphs.graph_tables import with_ties

Lists = dict[str, list[str]]


def completed(graph: Graph, before: Graph) -> Graph:
    """`graph` with a place, origins and forward nodes for every operation that has a neighbour with some.

    Args:
        graph: a graph whose nodes name origins in `before`.
        before: the graph that it was made of.
    """
    known = {node.name: node.place for node in before.nodes if node.place is not None}
    places = {node.name: node.place or _first(known.get, node.origins) for node in graph.nodes}
    origins = {node.name: node.origins for node in graph.nodes}
    forward = {node.name: node.forward for node in graph.nodes}
    ops = [node for node in graph.nodes if node.role is NodeRole.OP]
    names = {node.name for node in ops}
    users: Lists = {}
    for node in ops:
        for name in node.inputs:
            users.setdefault(name, []).append(node.name)
    near = [(node.name, [name for name in node.inputs if name in names]) for node in ops]
    for order in (near, [(node.name, users.get(node.name, [])) for node in reversed(ops)]):
        _inherit_places(order, places)
        _inherit(order, origins)
        _inherit(order, forward)
    return Graph(
        graph.name, graph.kind, [_with(node, places, origins, forward) for node in graph.nodes], graph.made_from
    )


def _first(find: Callable[[str], Location | None], names: list[str]) -> Location | None:
    return next((place for name in names if (place := find(name)) is not None), None)


def _inherit_places(order: Iterable[tuple[str, list[str]]], places: dict[str, Location | None]) -> None:
    for name, near in order:
        if places[name] is None:
            places[name] = _first(places.get, near)


def _inherit(order: Iterable[tuple[str, list[str]]], known: Lists) -> None:
    for name, near in order:
        if not known[name]:
            known[name] = next((known[other] for other in near if known[other]), [])


def _with(node: GraphNode, places: Mapping[str, Location | None], origins: Lists, forward: Lists) -> GraphNode:
    place, roots, tied = places[node.name], origins[node.name], forward[node.name]
    if node.role is not NodeRole.OP or (place is node.place and roots is node.origins and tied is node.forward):
        return node
    return with_ties(node, place, roots, tied)
