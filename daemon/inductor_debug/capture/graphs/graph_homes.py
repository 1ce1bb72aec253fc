"""Finds a module for nodes that tracing gave none, so that a folded layer is whole in backward and joint graphs too.

Autograd adds up the gradients of a value that is used twice outside of every module: the add behind a residual
connection says nothing about where it stands. Its neighbours do, and only they are asked. A node that does know its
module keeps it, and one whose neighbours do not agree stays without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from torch.fx import Graph, Node

from inductor_debug.capture.running.modules import NodeModules

_MOST_NEIGHBOURS = 8
"""Of a value that is used more often than this, only these users are asked; a graph stays linear work."""


def homes_of(graph: Graph, modules: NodeModules) -> dict[Node, str]:
    """The module of every computing node, as a dotted path; empty for the root and where nobody can say.

    In the order of the graph: a sum of three gradients is two adds, and the second learns from the first.
    """
    known = {node: _said(node, modules) for node in graph.nodes if _computes(node)}
    if any(path is not None for path in known.values()):
        for node, path in known.items():
            if path is None:
                known[node] = _home(_paths(node.all_input_nodes, known), _paths(node.users, known))
    return {node: path or "" for node, path in known.items()}


def _computes(node: Node) -> bool:
    return node.op.startswith("call_")


def _said(node: Node, modules: NodeModules) -> str | None:
    """What tracing left: None where it said nothing at all (torch 2.11 to 2.13).

    The root's own operations have no stack of modules either, but the stack of what was called (in the backward an
    empty copy of the forward's).
    """
    path = modules.find(node)
    traced = "source_fn_stack" in node.meta or "fwd_source_fn_stack" in node.meta
    return "" if path is None and traced else path


def _paths(neighbours: Sequence[Node] | dict[Node, None], known: dict[Node, str | None]) -> list[str]:
    paths = [known.get(node) for node, _ in zip(neighbours, range(_MOST_NEIGHBOURS), strict=False)]
    return list(dict.fromkeys(path for path in paths if path is not None))


def _home(inputs: list[str], users: list[str]) -> str | None:
    """The deepest module that holds two of the neighbours, one of them an input; None where two are as deep.

    What inputs have in common counts before what one of them has in common with a user. A gradient that only passes
    through a residual connection comes from another layer, so that all neighbours together would be in too much.
    """
    if not inputs or not users:
        alone = inputs or users
        return _common_of(alone) if alone else None
    if len(inputs) == 1 and inputs == users:
        return inputs[0]
    found = sorted(
        ((depth, own, path) for own, pairs in _pairs(inputs, users) for depth, path in _common(pairs)), reverse=True
    )
    if not found:
        return None
    depth, own, path = found[0]
    rivals = {other for rank, which, other in found if (rank, which) == (depth, own)}
    return path if len(rivals) == 1 else None


def _pairs(inputs: list[str], users: list[str]) -> Iterator[tuple[bool, Iterator[tuple[str, str]]]]:
    yield True, combinations(inputs, 2)
    yield False, product(inputs, users)


def _common(pairs: Iterator[tuple[str, str]]) -> Iterator[tuple[int, str]]:
    for left, right in pairs:
        path = _common_of([left, right])
        yield path.count(".") + 1 if path else 0, path


def _common_of(paths: list[str]) -> str:
    """The deepest module that holds all of `paths`: `a.b` for `a.b.c` and `a.b.d`."""
    parts = [path.split(".") for path in paths]
    shared: list[str] = []
    for segments in zip(*parts, strict=False):
        if len(set(segments)) > 1:
            break
        shared.append(segments[0])
    return ".".join(shared)
