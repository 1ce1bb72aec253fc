"""A compilation in a worker costs what it computes: no cache is flushed to time guards that nobody reads."""

from __future__ import annotations

import resource

import pytest
import torch
from forked import in_child
from inductor_debug.capture.dynamo import guard_timing
from torch._dynamo import guards

pytestmark = pytest.mark.torch

FLUSHED_PAGES = (32 << 20) // resource.getpagesize()


def faults_of_a_compilation() -> int:
    """Pages that become the process's own in a compilation that is not its first."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x.sin() + 1, backend="eager")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    compiled(torch.ones(3))
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_a_compilation_in_a_warm_worker_flushes_no_cache() -> None:
    def work() -> list[int]:
        return [faults_of_a_compilation() for _ in range(2)]

    (_, again), _ = in_child(work)
    assert again < FLUSHED_PAGES / 2


def test_a_torch_without_the_name_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(guards, "profile_guard_manager")
    guard_timing.leave_out()
    assert not hasattr(guards, "profile_guard_manager")
