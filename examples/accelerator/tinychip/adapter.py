"""What inductor-debug should know of tinychip. Only `capabilities` has to be here: begin with that and add hooks.

Nothing is imported of torch before a hook needs it: an editor asks for the capabilities whenever this file changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from inductor_debug import (
    AcceleratorAdapter,
    AcceleratorCapabilities,
    AcceleratorConstraint,
    CompilationResult,
    CompilerArtifact,
    OperationSeen,
    OperatorLimit,
    ShapeConstraint,
)
from inductor_debug_schema import DeviceLayout

BURST_BYTES = 64
"""What the memory moves at once."""


class ShortRows(AcceleratorConstraint):
    """A constraint of one's own: an id, a summary, and a method that says what is wrong with an operation."""

    id = "short-rows"
    summary = "A softmax must fit into one core."
    operators = ("aten._softmax", "aten.softmax")
    fix = "split the rows, or use scaled_dot_product_attention"

    def broken_by(self, operation: OperationSeen) -> str | None:
        """A row has at most 1024 elements; sizes that are not known are None."""
        row = operation.inputs[0].shape[-1] if operation.inputs[0].shape else 1
        return f"a row has {row} elements, of which a core holds 1024" if row is not None and row > 1024 else None


def even_rows(shape: tuple[int, ...]) -> bool:
    """Whether a matrix can be divided between the two cores."""
    return len(shape) < 2 or shape[-2] % 2 == 0


class TinyChip(AcceleratorAdapter):
    """The accelerator."""

    @property
    def capabilities(self) -> AcceleratorCapabilities:
        """What it can do: this alone makes `check --accelerator tinychip` work."""
        return AcceleratorCapabilities(
            "tinychip",
            title="TinyChip, two cores",
            dtypes=frozenset({"float16", "float32", "int32", "bool"}),
            max_rank=4,
            memory_bytes=1 << 30,
            operators=(OperatorLimit(match=("aten.cumsum",), reason="there is no kernel for it"),),
        )

    def constraints(self) -> Iterable[AcceleratorConstraint]:
        """Rules that the capabilities cannot express."""
        summary = "Matrices need an even number of rows."
        return [ShapeConstraint("even-rows", even_rows, summary, operators=("aten.addmm",)), ShortRows()]

    def layout(
        self, shape: Sequence[int], stride: Sequence[int], dtype: str, element_bytes: int
    ) -> DeviceLayout | None:
        """Matrices lie in bursts, vectors as they are on the host."""
        from inductor_debug.accelerators.sticks import device_layout

        if len(shape) < 2:
            return None
        return device_layout(shape, stride, element_bytes, stick_bytes=BURST_BYTES)

    def decompositions(self) -> Mapping[Any, Callable[..., Any]]:
        """What the compiler takes apart, because there is no kernel for the whole."""
        import torch

        return {torch.ops.aten.silu.default: lambda x: x * torch.sigmoid(x)}

    def cpu_fallbacks(self) -> Iterable[str]:
        """What runs on the host, with a way there and back."""
        return ("aten.sort", "aten.topk")

    def compiler(self) -> Callable[[Any, Sequence[Any]], Callable[..., Any]]:
        """The backend for `torch.compile`; `diff`, `bisect` and `repro` run it."""
        from tinychip.compiler import compile_graph

        return compile_graph

    def artifacts(self, result: CompilationResult) -> Iterable[CompilerArtifact]:
        """What the compiler wrote of the graph that it was just given."""
        from tinychip.compiler import LISTINGS

        listing = LISTINGS[-1] if LISTINGS and not result.error else result.error
        return [CompilerArtifact(f"listing_{result.graph}.txt", listing.encode())]

    def versions(self) -> Mapping[str, str]:
        """What a bug report has to name."""
        return {"tinychip firmware": "2026.11", "tinychip compiler": "0.3"}

    def logs(self) -> Mapping[str, str]:
        """What a bug report has to bring along."""
        return {"tinychip.log": "core 0 ready\ncore 1 ready\n"}


class TabledGelu:
    """Single operations as the next chip will compute them: gelu comes from a table with steps of 1/64.

    `unit` is the distance between 1 and the next number of the format that results have.
    """

    name = "tinychip2"
    unit = 2.0**-23

    def compute(self, node: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The chip's result of one node of an ATen graph."""
        result = node.target(*args, **kwargs)
        return (result * 64).round() / 64 if str(node.target) == "aten.gelu.default" else result

    def ideal(self, node: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The best that numbers of this format could give; what is farther off is a fault."""
        return node.target(*args, **kwargs)


class TinyChip2(AcceleratorAdapter):
    """The chip that is not built yet: there is no compiler, and its arithmetic is known."""

    @property
    def capabilities(self) -> AcceleratorCapabilities:
        """What it will be able to do."""
        return AcceleratorCapabilities("tinychip2", title="TinyChip 2, not built yet", memory_bytes=2 << 30)

    def arithmetic(self) -> TabledGelu:
        """Its operations, one at a time; `diff` and `bisect` run graphs with them."""
        return TabledGelu()
