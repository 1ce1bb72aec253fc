"""Has the kernels of captured graphs compiled for the GPU that they are for, for commands that show them."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import GraphDocument, KernelBuild

from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.order_runner import Perform
from inductor_debug.engine.orders.compiling import compile_order, with_builds
from inductor_debug.engine.orders.outcomes import failure

_NO_KERNELS = (
    "--compile is for Triton's kernels, and there are none: name a GPU with --accelerator (such as h100), and "
    "--stage inductor"
)


async def compiled(documents: Sequence[GraphDocument], perform: Perform) -> list[GraphDocument]:
    """The documents with what Triton made of their kernels.

    Raises:
        CommandError: there is nothing to compile, or the compiler's process ended before the first kernel.
    """
    order = compile_order(documents)
    if order is None:
        raise CommandError(_NO_KERNELS)
    performed = await perform(order)
    builds = performed.documents(KernelBuild)
    if not builds:
        raise CommandError(f"no kernel was compiled: {failure(performed)}")
    return [with_builds(document, builds) for document in documents]
