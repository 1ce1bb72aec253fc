"""Which kernel computes which nodes of a graph, and which scheduler nodes: from whatever was written about it."""

from __future__ import annotations

from inductor_debug.compiler_output.compiled_graph import CompiledGraph
from inductor_debug.compiler_output.dataflow_ties import dataflow_ties
from inductor_debug.compiler_output.files.ir_text import IrNode
from inductor_debug.compiler_output.files.node_mappings import StackFrame


class KernelTies:
    """The ties of one graph.

    Provenance tracking names the nodes of each call; without it there are the comments before a kernel's definition,
    and without those what flows between kernels.
    A scheduler node belongs to the call that is the first to be given a buffer that it makes.
    """

    def __init__(self, graph: CompiledGraph) -> None:
        self._graph = graph
        self.names = _names(graph)
        """All kernels: those that are defined or called, and those that only a mapping names."""
        self.by_dataflow = False
        """Whether nothing was written about nodes, so that they were worked out."""
        self.nodes = self._nodes()
        """The lowered nodes of each kernel."""
        self.of_node: dict[str, list[str]] = {}
        for kernel, names in self.nodes.items():
            for name in names:
                self.of_node.setdefault(name, []).append(kernel)
        self.stacks = self._stacks()
        """For a lowered node the stacks that its kernels come from."""
        self._of_buffer = self._buffers()
        ir = graph.after_fusion or graph.before_fusion
        self.of_step = {node.name: self.kernels_of(node) for node in ir.nodes} if ir is not None else {}

    def kernels_of(self, node: IrNode) -> list[str]:
        """The kernels that compute a scheduler node."""
        found = [self._of_buffer[name] for name in node.writes if name in self._of_buffer]
        if not found and node.kernel in self.names:
            found = [node.kernel]
        return list(dict.fromkeys(found))

    def _nodes(self) -> dict[str, list[str]]:
        found: dict[str, dict[str, None]] = {}
        for handle, nodes in self._graph.mappings.kernels.items():
            found.setdefault(kernel_of(handle), {}).update(dict.fromkeys(nodes))
        if self._graph.wrapper is not None:
            for kernel in self._graph.wrapper.kernels.values():
                if kernel.name not in found and kernel.mapping:
                    found[kernel.name] = dict.fromkeys(name for names in kernel.mapping.values() for name in names)
        if not found:
            self.by_dataflow = True
            return dataflow_ties(self._graph)
        lowered = self._graph.lowered
        if lowered is None:
            return {name: list(nodes) for name, nodes in found.items()}
        return {name: [node for node in nodes if node in lowered.names] for name, nodes in found.items()}

    def _stacks(self) -> dict[str, list[list[StackFrame]]]:
        found: dict[str, list[list[StackFrame]]] = {}
        for handle, stacks in self._graph.stacks.items():
            for node in self.nodes.get(kernel_of(handle), ()):
                found.setdefault(node, []).extend(stacks)
        return found

    def _buffers(self) -> dict[str, str]:
        """For a buffer the first kernel that is given it: the one that writes it, or one of it under another name."""
        wrapper, lowered = self._graph.wrapper, self._graph.lowered
        if wrapper is None:
            return {}
        makers = wrapper.makers(lowered.names if lowered is not None else ())
        return {name: wrapper.calls[number].name for name, number in makers.items()}


def kernel_of(handle: str) -> str:
    """`cpp_fused_add_0` of `cpp_fused_add_0:2`."""
    name, _, number = handle.rpartition(":")
    return name if name and number.isdigit() else handle


def _names(graph: CompiledGraph) -> list[str]:
    called = [call.name for call in graph.wrapper.calls] if graph.wrapper is not None else []
    defined = list(graph.wrapper.kernels) if graph.wrapper is not None else []
    mapped = [kernel_of(handle) for handle in graph.mappings.kernels]
    return list(dict.fromkeys([*defined, *called, *mapped]))
