"""The bodies of higher-order ops (`cond`, `while_loop`, `flex_attention`, checkpoints) in the table of their graph.

A body's rows come before the call's, are named `call.body.node` and stand in a module of that name, so that whoever
folds modules folds a body under its call. What the call hands to a body is read where it comes from, and what a body
gives is read by the call. Nothing here makes rows; it says what is in which body, and what things are called there.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Node


@dataclass(slots=True)
class BodyScope:
    """A graph or a body while its rows are made: `names` are the rows of its nodes, `results` the rows that it gives.

    `prefix` is how names begin in it, `module` the module of the call with the names of call and body, `within` that of
    the call alone.
    """

    prefix: str = ""
    module: str = ""
    within: str = ""
    names: dict[str, str] = field(default_factory=dict)
    results: list[str] = field(default_factory=list)

    def row(self, node: Node | str) -> str:
        """What the row of a node is called."""
        name = node if isinstance(node, str) else node.name
        return self.names.get(name) or self.prefix + name

    def home(self, module: str) -> str:
        """Where a node of the module `module` stands: `layer.cond.true_graph_0.fc` for `layer.fc`."""
        if not self.prefix:
            return module
        outside = f"{self.within}." if self.within else ""
        inside = "" if module == self.within else module.removeprefix(outside)
        return ".".join(part for part in (self.module, inside) if part)


def bodies_of(node: Node, root: GraphModule) -> list[tuple[str, GraphModule]]:
    """The bodies that `node` calls, each once, and the attributes of `root` that hold them."""
    if node.op != "call_function":
        return []
    found: dict[str, GraphModule] = {}
    for used in node.all_input_nodes:
        body = attribute(root, str(used.target)) if used.op == "get_attr" else None
        if isinstance(body, GraphModule):
            found[str(used.target)] = body
    return list(found.items())


def entered(scope: BodyScope, call: Node, module: str, name: str, body: GraphModule) -> BodyScope:
    """The scope of the body `name` that `call`, a node of `scope` in the module `module`, calls.

    What the call hands over is known where the body takes just as many tensors of the same kinds; the bodies of
    `flex_attention` take scores and positions instead, which nobody hands over.
    """
    inner = BodyScope(f"{scope.row(call)}.{name}.", ".".join(filter(None, (module, call.name, name))), module)
    taken = [node for node in body.graph.nodes if node.op == "placeholder"]
    given = [used for used in _operands(call) if not _is_body(used)]
    given = given[len(given) - len(taken) :] if len(given) >= len(taken) else []
    if given and all(_alike(_value(left), _value(right)) for left, right in zip(taken, given, strict=True)):
        inner.names = {left.name: scope.row(right) for left, right in zip(taken, given, strict=True)}
    return inner


def caller_of(row: str) -> str:
    """The outermost call whose body the row is in, by its name; the row itself where it is in none."""
    return row.partition(".")[0]


class Bodies:
    """Which rows are meant by names of nodes that do not say in which body they are."""

    def __init__(self, rows: Iterable[str]) -> None:
        self._rows = set(rows)
        self._local: dict[str, dict[str, list[str]]] = {}
        for row in sorted(self._rows):
            caller = caller_of(row)
            if caller != row:
                self._local.setdefault(caller, {}).setdefault(row.rpartition(".")[2], []).append(row)

    def rows(self, names: list[str]) -> list[str]:
        """A call among the names means that its bodies come first; else a name that only bodies have is theirs."""
        called = [self._local[name] for name in names if name in self._local]
        return [row for name in names for row in self._of(name, called)]

    def _of(self, name: str, called: list[dict[str, list[str]]]) -> list[str]:
        bodies = called or ([] if name in self._rows else list(self._local.values()))
        return [row for rows in bodies for row in rows.get(name, ())] or [name]


def names_in(graph_module: GraphModule, scope: BodyScope | None = None) -> Iterator[tuple[Node, str]]:
    """Every computing node of a graph and of all bodies in it, with the name of its row."""
    scope = scope or BodyScope()
    for node in graph_module.graph.nodes:
        if node.op not in ("placeholder", "output"):
            yield node, scope.row(node)
            for name, body in bodies_of(node, graph_module):
                yield from names_in(body, entered(scope, node, "", name, body))


def attribute(root: Any, dotted: str) -> Any:
    """`root.a.b` for `a.b`; None where there is none."""
    try:
        return operator.attrgetter(dotted)(root)
    except AttributeError:
        return None


def _operands(call: Node) -> list[Node]:
    """The nodes among the arguments, with repetitions."""
    found: list[Node] = []
    torch.fx.node.map_arg((call.args, call.kwargs), found.append)
    return found


def _is_body(node: Node) -> bool:
    owner = node.graph.owning_module
    return node.op == "get_attr" and isinstance(attribute(owner, str(node.target)), GraphModule)


def _value(node: Node) -> Any:
    return node.meta.get("val", node.meta.get("example_value"))


def _alike(left: Any, right: Any) -> bool:
    """Whether two values may be one: not known to differ."""
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return left.dtype == right.dtype and left.dim() == right.dim() and str(left.shape) == str(right.shape)
    return isinstance(left, torch.Tensor) == isinstance(right, torch.Tensor)
