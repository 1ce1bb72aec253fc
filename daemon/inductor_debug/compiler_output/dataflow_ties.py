"""Which kernel computes which nodes, worked out from what flows between kernels where the compiler has not written it.

Inductor tracks no provenance of backward graphs. What a wrapper returns are the values that its graph returns; an
external kernel is an operation of its name, and its arguments are the operation's. From these values the nodes of a
fused kernel follow, up to the values that it is given. Where one of those is not known, only the values themselves are
tied: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping

from inductor_debug_schema import NodeRole

from inductor_debug.compiler_output.compiled_graph import CompiledGraph
from inductor_debug.compiler_output.files.readable_graphs import ReadableGraph, TextNode
from inductor_debug.compiler_output.files.wrapper_text import KernelCall, Wrapper

_VIEWS = {
    "alias",
    "as_strided",
    "detach",
    "expand",
    "permute",
    "reshape",
    "select",
    "slice",
    "split",
    "split_with_sizes",
    "squeeze",
    "t",
    "transpose",
    "unsqueeze",
    "view",
    "_unsafe_view",
}
"""Operations that Inductor computes nothing for: their values lie in the memory of their first input."""


def dataflow_ties(graph: CompiledGraph) -> dict[str, list[str]]:
    """For kernels, the nodes that they compute; kernels of which nothing is known are left out."""
    if graph.lowered is None or graph.wrapper is None:
        return {}
    return _Flow(graph.lowered, graph.wrapper, _shapes(graph)).ties()


def _shapes(graph: CompiledGraph) -> dict[str, list[int | str]]:
    ir = graph.after_fusion or graph.before_fusion
    nodes = ir.nodes if ir is not None else []
    return {name: kind.shape for node in nodes for name, kind in node.writes.items() if kind is not None}


class _Flow:
    def __init__(self, lowered: ReadableGraph, wrapper: Wrapper, shapes: Mapping[str, list[int | str]]) -> None:
        self._nodes = {node.name: node for node in lowered.nodes}
        self._wrapper = wrapper
        self._shapes = shapes
        self._inputs = {node.name for node in lowered.nodes if node.role is NodeRole.INPUT}
        self._makers = wrapper.makers(self._inputs)
        self._values: dict[str, str] = {}
        """For a buffer the node whose value it holds."""
        self._owners: dict[str, int] = {}
        """For a node the number of the external call that computes it."""

    def ties(self) -> dict[str, list[str]]:
        self._returned()
        self._external()
        found: dict[str, dict[str, None]] = {}
        for number, call in enumerate(self._wrapper.calls):
            nodes = [name for name, owner in self._owners.items() if owner == number] or self._fused(number, call)
            if nodes:
                found.setdefault(call.name, {}).update(dict.fromkeys(nodes))
        order = {name: index for index, name in enumerate(self._nodes)}
        return {name: sorted(nodes, key=lambda node: order[node]) for name, nodes in found.items()}

    def _returned(self) -> None:
        """Both return the same values in the same order, leaving out what is None."""
        output = next((node for node in self._nodes.values() if node.role is NodeRole.OUTPUT), None)
        if output is None or len(output.inputs) != len(self._wrapper.returned):
            return
        for buffer, node in zip(self._wrapper.returned, output.inputs, strict=True):
            if buffer in self._makers:
                self._values[buffer] = self._base(node)

    def _external(self) -> None:
        """The calls of an external kernel in turn are the operations of its name in turn, if sizes agree throughout."""
        calls: dict[str, list[int]] = {}
        for number, call in enumerate(self._wrapper.calls):
            if call.name not in self._wrapper.kernels:
                calls.setdefault(call.name, []).append(number)
        for name, numbers in calls.items():
            nodes = [node for node in self._nodes.values() if _is_operation(node, name)]
            if len(nodes) == len(numbers) and all(map(self._agrees, numbers, nodes)):
                for number, node in zip(numbers, nodes, strict=True):
                    self._owners[node.name] = number
                    self._arguments(number, node)

    def _agrees(self, number: int, node: TextNode) -> bool:
        shapes = [self._shapes[name] for name in self._made_by(number) if name in self._shapes]
        return node.type is None or not shapes or node.type.shape in shapes

    def _arguments(self, number: int, node: TextNode) -> None:
        """What an external kernel is given are the inputs of its node; its result is the node's value."""
        made = self._made_by(number)
        for name in made:
            self._values.setdefault(name, node.name)
        given = [name for name in self._wrapper.calls[number].arguments if self._is_value(name) and name not in made]
        wanted = [self._base(name) for name in node.inputs]
        if len(given) != len(wanted) or any(
            name in self._inputs and name != node for name, node in zip(given, wanted, strict=True)
        ):
            return
        for buffer, name in zip(given, wanted, strict=True):
            if buffer in self._makers:
                self._values.setdefault(buffer, name)

    def _fused(self, number: int, call: KernelCall) -> list[str]:
        """The nodes between what a kernel makes and what it is given; where that is not known, what it makes alone."""
        sinks = [self._values[name] for name in self._made_by(number) if name in self._values]
        names = [name for each in call.arguments for name in self._wrapper.names_of(each, self._inputs)]
        read = {name for name in names if self._makers[name] < number}
        known = {self._values[name] for name in read if name in self._values}
        if len(known) < len(read):
            return [name for name in sinks if name not in self._inputs and name not in self._owners]
        found: dict[str, None] = {}
        pending = [name for name in sinks if name not in known]
        while pending:
            name = pending.pop()
            node = self._nodes.get(name)
            if node is None or name in found or name in known or name in self._owners or node.role is not NodeRole.OP:
                continue
            found[name] = None
            pending += node.inputs
        return list(found)

    def _made_by(self, number: int) -> list[str]:
        return [name for name, maker in self._makers.items() if maker == number]

    def _is_value(self, name: str) -> bool:
        return name in self._inputs or name.startswith("buf")

    def _base(self, name: str) -> str:
        """The node whose memory a view looks at."""
        seen = set()
        while (
            (node := self._nodes.get(name)) is not None
            and name not in seen
            and node.inputs
            and _name_of(node) in _VIEWS
        ):
            seen.add(name)
            name = node.inputs[0]
        return name


def _name_of(node: TextNode) -> str:
    parts = node.op.split(".")
    return parts[1] if parts[0] == "aten" and len(parts) > 1 else parts[-1]


def _is_operation(node: TextNode, kernel: str) -> bool:
    """`extern_kernels.mm` is `aten.mm.default`; other operators are called by their full name."""
    if kernel.startswith("extern_kernels."):
        return _name_of(node) == kernel.partition(".")[2] and node.role is NodeRole.OP
    return node.op == kernel.removeprefix("torch.ops.")
