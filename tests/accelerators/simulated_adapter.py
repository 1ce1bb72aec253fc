"""An adapter for a device that torch knows: the simulated PrivateUse1 device of `tests/kerneldiff/device`.

Its compiler moves what a graph is called with to the device, runs the graph there, and brings the results back. Beside
`simulated_device.py` and its library `device.so` it is all that a package for such a device has to have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inductor_debug import AcceleratorAdapter, AcceleratorCapabilities


class Simulated(AcceleratorAdapter):
    """The simulated device. It has no float64, and its results come from the device itself."""

    @property
    def capabilities(self) -> AcceleratorCapabilities:
        """What its memory and kernels take."""
        dtypes = frozenset({"float16", "bfloat16", "float32", "int64", "bool"})
        return AcceleratorCapabilities("simulated", title="The simulated device", dtypes=dtypes)

    def compiler(self) -> Callable[[Any, Sequence[Any]], Callable[..., Any]]:
        """Runs graphs on the device."""
        import simulated_device
        import torch
        from torch.utils import _pytree as pytree

        simulated_device.load(Path(__file__).with_name("device.so"), float64=False)

        def moved(values: Any, device: str) -> Any:
            return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to(device), values)

        def compile_graph(graph_module: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
            def run(*args: Any) -> Any:
                return moved(graph_module.forward(*moved(args, "simulated")), "cpu")

            return run

        return compile_graph

    def versions(self) -> Mapping[str, str]:
        """The torch that the device was built for."""
        import torch

        return {"simulated device, built for torch": torch.__version__}
