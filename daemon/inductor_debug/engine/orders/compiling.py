"""Orders that compile: the kernels of a captured graph for its GPU, or a target under a clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from inductor_debug_schema import CompileKernelsTask, CompileTimeTask, GraphDocument, KernelBuild, KernelSource

from inductor_debug.engine.orders.orders import Order

TRITON = "triton"
"""The language of kernels that can be compiled."""
_SECONDS_PER_KERNEL = 60.0
COMPILE_TIMES = Order(CompileTimeTask(compile_timeout=600.0), timeout=1800.0)
"""Where the time goes that compiling takes, for all targets."""
COMPILE_WAYS = Order(CompileTimeTask(compile_timeout=600.0, ways=True), timeout=7200.0)
"""The same, and what it takes in other ways."""


def compile_order(documents: Iterable[GraphDocument]) -> Order | None:
    """The order for all kernels of Triton's that were not compiled; None where there are none."""
    sources = [
        KernelSource(kernel.name, kernel.graph, kernel.source)
        for document in documents
        for kernel in document.kernels
        if kernel.language == TRITON and kernel.build is None
    ]
    if not sources:
        return None
    return Order(CompileKernelsTask(sources), timeout=_SECONDS_PER_KERNEL * (1 + len(sources)))


def with_builds(document: GraphDocument, builds: Sequence[KernelBuild]) -> GraphDocument:
    """The document with what its kernels were compiled to, as far as that is there."""
    known = {(build.graph, build.kernel): build for build in builds}
    kernels = [
        replace(kernel, build=known.get((kernel.graph, kernel.name), kernel.build)) for kernel in document.kernels
    ]
    return replace(document, kernels=kernels)
