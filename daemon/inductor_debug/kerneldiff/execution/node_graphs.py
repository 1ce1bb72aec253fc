"""Runs a target through `torch.compile` and lets somebody else run its ATen graphs, node by node, on real tensors.

The code between graphs and whatever a graph break hides runs as ever, and so does autograd: forward and backward graphs
come in the order in which they are called. Every node knows the expression that it comes from. The graphs that Dynamo
itself captured, before AOTAutograd, are had the same way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

import torch
from inductor_debug_schema import Location, Range
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from inductor_debug.capture.dynamo.dynamo_positions import hooked_positions
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import innermost
from inductor_debug.capture.graphs.graph_runner import NodeAttribution, last_uses
from inductor_debug.capture.running.modules import ModulePath
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.system.torch_names import with_settings

Visitor = Callable[["NodeGraph", list[Any]], Any]
"""Runs a graph on its arguments, which it may keep, and returns what the graph returns."""
_MOST_BACKENDS = 256
"""Each backend that compiles a function counts as one more compilation of it."""


@dataclass(frozen=True)
class NodeGraph:
    """A graph, its name in reports (`0`, `0.backward`) and whether autograd made it."""

    name: str
    module: GraphModule
    backward: bool = False

    def operations(self) -> list[Node]:
        """The nodes that compute something."""
        return [node for node in self.module.graph.nodes if node.op.startswith("call_")]


class NodePlaces:
    """Where nodes come from: the innermost expression of the user's, and the module."""

    def __init__(self, target: BuiltTarget, sources: SourceMap) -> None:
        self._attribution = NodeAttribution(sources, ModulePath(target.module).names, lambda _: ())
        self._known: WeakKeyDictionary[Node, tuple[Location | None, str]] = WeakKeyDictionary()

    def place(self, node: Node) -> Location | None:
        """The expression; None where no frame of the user's is known."""
        return self._of(node)[0]

    def module(self, node: Node) -> str:
        """The dotted path of the module that the node was traced in."""
        return self._of(node)[1]

    def span(self, nodes: Sequence[Node]) -> Location | None:
        """The lines from the first to the last expression of several nodes, in the file that most of them come from."""
        places = [place for node in nodes if (place := self.place(node)) is not None]
        if not places:
            return None
        paths = [place.path for place in places]
        path = max(dict.fromkeys(paths), key=paths.count)
        ranges = [place.range for place in places if place.path == path]
        return Location(path, Range(min(one.start for one in ranges), max(one.end for one in ranges)))

    def _of(self, node: Node) -> tuple[Location | None, str]:
        known = self._known.get(node)
        if known is None:
            self._attribution.at(node)
            frames = self._attribution.frames()
            index = innermost(frames)
            place = None if index is None else frames[index].location
            known = self._known[node] = (place, self._attribution.module())
        return known


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Whatever is compiled inside knows exact positions; an error of a backend's is never turned into eager."""
    with (
        quiet(freeze=False),
        hooked_positions(),
        with_settings(torch._dynamo.config, recompile_limit=_MOST_BACKENDS, suppress_errors=False),
    ):
        yield


def with_aten_graphs(function: Callable[..., Any], visit: Visitor) -> Callable[..., Any]:
    """`function` compiled so that `visit` runs every ATen graph of it, functional and flat."""
    from torch._dynamo.backends.common import aot_autograd

    names: dict[bool, int] = {False: 0, True: 0}

    def compiler(backward: bool) -> Callable[[GraphModule, list[Any]], Any]:
        def compile_graph(graph_module: GraphModule, example_inputs: list[Any]) -> Any:
            name = f"{names[backward]}.backward" if backward else str(names[backward])
            names[backward] += 1
            captured = NodeGraph(name, graph_module, backward)

            def call(args: list[Any]) -> Any:
                given = list(args)
                args.clear()
                with torch.no_grad():
                    return visit(captured, given)

            call._boxed_call = True  # type: ignore[attr-defined] # how AOTAutograd knows that arguments come as a list
            return call

        return compile_graph

    backend = aot_autograd(fw_compiler=compiler(False), bw_compiler=compiler(True), inference_compiler=compiler(False))
    return torch.compile(function, backend=backend, dynamic=False)


class SharedGraphs:
    """A function's ATen graphs, compiled once and run by whoever is asked to."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._visit: Visitor = lambda graph, args: graph.module(*args)
        self._function = with_aten_graphs(function, self._run)

    def run_by(self, visit: Visitor) -> Callable[..., Any]:
        """The function with its graphs run by `visit`, backward included, until the next call with another visitor."""

        def call(*args: Any, **kwargs: Any) -> Any:
            self._visit = visit
            return self._function(*args, **kwargs)

        return call

    def _run(self, graph: NodeGraph, args: list[Any]) -> Any:
        return self._visit(graph, args)


def with_dynamo_graphs(function: Callable[..., Any], visit: Visitor) -> Callable[..., Any]:
    """`function` compiled so that `visit` runs every graph as Dynamo captured it."""
    count = 0

    def backend(graph_module: GraphModule, example_inputs: list[Any]) -> Any:
        nonlocal count
        captured = NodeGraph(str(count), graph_module)
        count += 1
        return lambda *args: visit(captured, list(args))

    return torch.compile(function, backend=backend, dynamic=False)


Compute = Callable[[Node, tuple[Any, ...], dict[str, Any]], Any]
"""Computes one node from the values of its arguments."""


def plainly(node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Computes a node as eager does. Memory that nobody has written to yet holds zeros, so that all find the same."""
    if gives_no_values(node):
        return node.target(*args, **kwargs).zero_()  # type: ignore[operator]
    if node.op == "call_method":
        return getattr(args[0], str(node.target))(*args[1:], **kwargs)
    if node.op == "call_module":
        return node.graph.owning_module.get_submodule(str(node.target))(*args, **kwargs)  # type: ignore[union-attr]
    return node.target(*args, **kwargs)  # type: ignore[operator]


def run_graph(graph: NodeGraph, args: list[Any], compute: Compute) -> Any:
    """Runs a graph with `compute` for every operation; values are dropped after their last use."""
    values: dict[Node, Any] = {}
    arguments = iter(args)
    dead = last_uses(graph.module)
    for node in graph.module.graph.nodes:
        if node.op == "placeholder":
            values[node] = next(arguments)
        elif node.op == "get_attr":
            values[node] = attrgetter(str(node.target))(graph.module)
        elif node.op == "output":
            return map_arg(node.args[0], values.__getitem__)
        else:
            values[node] = compute(node, *operands(node, values))
        for used in dead.get(node, ()):
            del values[used]
    return ()


def operands(node: Node, values: dict[Node, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a node with values in place of nodes."""
    args: tuple[Any, ...] = map_arg(node.args, values.__getitem__)
    kwargs: dict[str, Any] = map_arg(node.kwargs, values.__getitem__) if node.kwargs else {}
    return args, kwargs


def is_random(node: Node) -> bool:
    """Whether the node draws random numbers."""
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def gives_no_values(node: Node) -> bool:
    """Whether the result is memory that nobody has written to yet: what is in it says nothing of anybody."""
    return getattr(node.target, "overloadpacket", None) in _UNWRITTEN


_UNWRITTEN = frozenset(
    getattr(torch.ops.aten, name)
    for name in ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
)


def operation_name(node: Node) -> str:
    """`aten.mm.default`, or the name of a Python function or method."""
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        return f"{target.namespace}.{str(target).partition('.')[2]}" if "::" in str(target) else str(target)
    if isinstance(target, str):
        return f"Tensor.{target}" if node.op == "call_method" else target
    module = getattr(target, "__module__", "") or ""
    name = getattr(target, "__name__", str(target))
    return f"{module}.{name}" if module.startswith("torch") and not module.startswith("torch._C") else name


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors of a node's value."""
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
