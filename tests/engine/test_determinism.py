"""The same file has the same findings every time, whatever it leaves to chance."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from inductor_debug.engine.pool.supervisor import WorkerPool
from inductor_debug_schema import Event, Finding, JobRequest, Stage, StageFinished

pytestmark = pytest.mark.torch

RUNS = 8
MODEL = """\
import random
import numpy
import torch

WIDTH = random.choice([3, 5, 7]) + int(numpy.random.randint(9)) + int(torch.randint(9, ())) + hash("width") % 8
NAMES = list({"alpha", "beta", "gamma", "delta", "epsilon"})

# inductor-debug: inputs=(torch.randn(random.randint(2, 9), WIDTH),)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(WIDTH, random.randint(2, 9))

    def forward(self, x):
        x = self.linear(x)
        for name in NAMES[:2]:
            x = x.double() if name < "c" else x * 2
        if random.random() < 0.5:
            x = x.double().float()
        if numpy.random.rand() < 0.5:
            x = x.sin().double()
        for _ in range(int(torch.randint(1, 6, ()))):
            x = x + x.to(torch.float64)
        return x
"""
PROFILE = {"name": "test", "dtypes": {"supported": ["float32"]}}


async def run(pool: WorkerPool, folder: Path) -> list[tuple[int, list[Finding]]]:
    """The operations that each stage saw, and its findings."""
    events: list[Event] = []
    path = str(folder / "model.py")
    request = JobRequest(1, path, MODEL, str(folder), [Stage.PREVIEW, Stage.MOCK], PROFILE)
    await pool.run(request, events.append, timeout=300)
    return [(event.report.ops, event.findings) for event in events if isinstance(event, StageFinished)]


async def test_a_file_that_leaves_all_to_chance_has_the_same_findings_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    outcomes = []
    for _ in range(2):  # two fork servers: the zygote makes them only where hashing is settled
        pool = WorkerPool(interpreter=sys.executable, project_root=str(tmp_path), log_path=tmp_path / "job.log")
        try:
            outcomes += [await run(pool, tmp_path) for _ in range(RUNS // 2)]
        finally:
            await pool.close()
    assert outcomes[0][0][1], "there is something to find"
    assert all(outcome == outcomes[0] for outcome in outcomes)
