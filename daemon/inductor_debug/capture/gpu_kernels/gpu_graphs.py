"""A graph of the CPU's, with every tensor on another device.

The tensors stay fake: what a torch that is built without the device can do with them is to look at their metadata, and
Inductor does no more once its passes are over.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import GraphModule
from torch.utils import _pytree as pytree


def graph_on(
    graph_module: GraphModule, inputs: Sequence[Any], fake_mode: Any, device: torch.device
) -> tuple[GraphModule, list[Any]]:
    """A copy of the graph, and of the inputs that it is lowered with, on `device`; names of nodes stay as they are."""
    mover = _Mover(fake_mode, device)
    return mover.graph_module(graph_module), [mover.value(each) for each in inputs]


class _Mover:
    def __init__(self, fake_mode: Any, device: torch.device) -> None:
        self._fake_mode, self._device = fake_mode, device

    def value(self, value: Any) -> Any:
        """The value, with all tensors in it on the device."""
        return pytree.tree_map(self._leaf, value)

    def _leaf(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.device):
            return self._device
        if not isinstance(leaf, torch.Tensor) or leaf.layout is not torch.strided:
            return leaf
        meta = torch.empty_strided(leaf.size(), leaf.stride(), dtype=leaf.dtype, device="meta")
        return FakeTensor(self._fake_mode, meta, self._device)

    def graph_module(self, graph_module: GraphModule) -> GraphModule:
        """The same for a graph, the constants that it holds and the graphs that it calls."""
        graph = copy.deepcopy(graph_module.graph)
        moved = GraphModule(graph_module, graph)
        for node in graph.nodes:
            for name in ("val", "example_value"):
                if name in node.meta:
                    node.meta[name] = self.value(node.meta[name])
            node.args = self._arguments(node.args)
            node.kwargs = self._arguments(node.kwargs)
            if node.op == "get_attr" and "." not in str(node.target):
                self._attribute(moved, str(node.target))
        moved.meta = dict(graph_module.meta)
        return moved

    def _arguments(self, arguments: Any) -> Any:
        return pytree.tree_map(lambda leaf: self._device if isinstance(leaf, torch.device) else leaf, arguments)

    def _attribute(self, moved: GraphModule, name: str) -> None:
        held = getattr(moved, name)
        if isinstance(held, GraphModule):
            setattr(moved, name, self.graph_module(held))
        elif isinstance(held, torch.Tensor):
            constant = self.value(held.detach())
            if not isinstance(held, FakeTensor):
                # Small constants are written into the kernels: their values are asked for, and stay on the host.
                constant.item, constant.tolist = held.item, held.tolist
            setattr(moved, name, constant)
