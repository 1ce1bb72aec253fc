"""Whom Inductor generates code for: this machine's processor, or a device that need not be there.

The graphs are always traced on the CPU's fake tensors, because a torch without CUDA can do no more. A device says what
has to be different meanwhile, and gives the graph that is lowered in the end. Changes nothing by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from torch.fx import GraphModule

Decompositions = Mapping[Any, Callable[..., Any]]


class LoweringDevice(Protocol):
    """What Inductor is told of the device, at each of its steps."""

    def tracing(self) -> AbstractContextManager[None]:
        """Around AOTAutograd's trace of forward and backward."""

    def decompositions(self, usual: Decompositions) -> Decompositions:
        """How operators are taken apart, given Inductor's own table."""

    def passes(self) -> AbstractContextManager[None]:
        """Around Inductor's passes over a graph of AOTAutograd's."""

    def moved(
        self, graph_module: GraphModule, inputs: Sequence[Any], fake_mode: Any
    ) -> tuple[GraphModule, Sequence[Any]]:
        """The graph and its inputs on the device; those that are given stay as they are."""

    def lowering(self) -> AbstractContextManager[None]:
        """Around lowering and code generation."""


class ThisProcessor:
    """The CPU that the graphs were traced for: nothing is different."""

    def tracing(self) -> AbstractContextManager[None]:
        """Nothing changes."""
        return nullcontext()

    def decompositions(self, usual: Decompositions) -> Decompositions:
        """Inductor's own."""
        return usual

    def passes(self) -> AbstractContextManager[None]:
        """Nothing changes."""
        return nullcontext()

    def moved(
        self, graph_module: GraphModule, inputs: Sequence[Any], fake_mode: Any
    ) -> tuple[GraphModule, Sequence[Any]]:
        """Both as they are."""
        return graph_module, inputs

    def lowering(self) -> AbstractContextManager[None]:
        """Nothing changes."""
        return nullcontext()
