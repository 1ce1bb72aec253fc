"""Has the kernels of captured graphs compiled for the GPU that they are for, for commands that show them."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import GraphDocument, KernelBuild

from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.order_runner import Perform
from inductor_debug.engine.orders.compiling import TRITON, compile_order, with_builds
from inductor_debug.engine.orders.outcomes import failure

_NO_KERNELS = (
    "--compile is for Triton's kernels, and there are none: name a GPU with --accelerator (such as h100), and "
    "--stage inductor"
)

_ENDED = "Compiling ended before this was compiled ({}): there is the source of the kernel, but no machine code."


async def compiled(documents: Sequence[GraphDocument], perform: Perform) -> list[GraphDocument]:
    """The documents with what Triton made of their kernels.

    Where the compiling itself came to no end, the kernels that were not compiled say why.

    Raises:
        CommandError: there is nothing to compile.
    """
    order = compile_order(documents)
    if order is None:
        raise CommandError(_NO_KERNELS)
    performed = await perform(order)
    builds = performed.documents(KernelBuild)
    why = failure(performed)
    if why is not None:
        made = {(build.graph, build.kernel) for build in builds}
        problem = _ENDED.format(why.rpartition(": ")[2].rstrip("."))
        builds += [
            KernelBuild("", kernel.name, kernel.graph, problem=problem)
            for document in documents
            for kernel in document.kernels
            if kernel.language == TRITON and (kernel.graph, kernel.name) not in made
        ]
    return [with_builds(document, builds) for document in documents]
