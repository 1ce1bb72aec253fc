"""`graph --compile` where compiling comes to no end: graphs are shown, and a sentence says why."""

from __future__ import annotations

import asyncio

from inductor_debug.cli.support.kernel_compiling import compiled
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug_schema import (
    Answered,
    FileReport,
    FileStatus,
    Finding,
    GraphDocument,
    Kernel,
    KernelBuild,
    Position,
    Range,
    Severity,
    Stage,
)

START = Range(Position(0, 0), Position(0, 0))


def test_kernels_that_were_not_compiled_say_why_and_the_others_are_there() -> None:
    kernels = [Kernel(name, "triton", "", "0") for name in ("first", "second")]
    document = GraphDocument("Net", Stage.INDUCTOR, "net.py", "", "mine.toml", "", [], kernels)
    died = Finding("crash", Severity.ERROR, "It died: killed by SIGABRT.", "net.py", START, Stage.LOAD)

    async def perform(order: Order) -> Performed:
        report = FileReport("net.py", FileStatus.CRASHED, [], [died])
        return Performed(report, "", [Answered("0", KernelBuild("sm_90", "first", "0", registers=8))], broken=True)

    (made,) = asyncio.run(compiled([document], perform))
    first, second = (kernel.build for kernel in made.kernels)
    assert first is not None
    assert second is not None
    assert (first.registers, first.problem) == (8, "")
    assert "ended before this was compiled (killed by SIGABRT)" in second.problem
