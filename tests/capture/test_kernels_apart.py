"""Kernels are compiled beside one another, each where it can take nothing but itself along."""

from __future__ import annotations

import os
import select

import pytest
from inductor_debug.accelerators.profile import load_document
from inductor_debug.capture.gpu_kernels import compile_task
from inductor_debug.system import forked_work
from inductor_debug_schema import Answered, CompileKernelsTask, Event, JobRequest, KernelBuild, KernelSource, Stage

pytestmark = [pytest.mark.torch, pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forked children")]
PATIENCE = 60.0


def test_a_kernel_that_ends_the_compiler_costs_no_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_kernel(kernel: KernelSource, gpu: object) -> KernelBuild:
        if kernel.name == "second":
            os.abort()
        return KernelBuild("sm_90", kernel.name, kernel.graph, registers=os.getpid())

    monkeypatch.setattr(compile_task, "compile_kernel", compile_kernel)
    task = CompileKernelsTask([KernelSource(name, "0", "") for name in ("first", "second", "third")])
    events: list[Event] = []
    request = JobRequest(1, "net.py", "", ".", [Stage.INDUCTOR], load_document("h100"), task=task)
    compile_task.perform(request, events.append)
    builds = {event.document.kernel: event.document for event in events if isinstance(event, Answered)}
    assert "ended before this was compiled (killed by SIGABRT)" in builds.pop("second").problem
    assert [build.problem for build in builds.values()] == ["", ""]
    assert os.getpid() not in {build.registers for build in builds.values()}


def test_items_are_worked_on_beside_one_another() -> None:
    read_end, write_end = os.pipe()

    def work(item: str) -> bool:
        if item == "opens":
            return os.write(write_end, b"open") > 0
        return bool(select.select([read_end], [], [], PATIENCE)[0])

    assert dict(forked_work.worked_on(["waits", "opens"], work, at_once=2)) == {"waits": True, "opens": True}
