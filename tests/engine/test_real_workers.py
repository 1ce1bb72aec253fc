"""The pool with torch: a real file is analysed, in a process that a fork server or a spare has warmed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from inductor_debug.engine.pool.launch import WorkerEntry
from inductor_debug.engine.pool.supervisor import JobOutcome, WorkerPool
from inductor_debug_schema import Event, Finished, JobRequest, Loaded, Stage, StageFinished

pytestmark = pytest.mark.torch

PROFILE = {"name": "test", "dtypes": {"supported": ["float32"]}}
MODEL = """
import os, time, torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
    def forward(self, x):
        BODY
        return self.linear(x.double().float())
def get_inputs(): return [torch.randn(2, 4)]
def get_init_inputs(): return []
"""


async def analyze(
    pool: WorkerPool, folder: Path, body: str, timeout: float = 300
) -> tuple[JobOutcome, int | None, list[Event]]:
    text = MODEL.replace("BODY", body)
    events: list[Event] = []
    request = JobRequest(1, str(folder / "model.py"), text, str(folder), [Stage.PREVIEW, Stage.MOCK], PROFILE)
    end = await pool.run(request, events.append, timeout=timeout)
    return end.outcome, end.line, events


@pytest.mark.parametrize("fork", [True, False], ids=["fork server", "spare process"])
async def test_a_model_is_analysed_and_its_mishaps_are_told(tmp_path: Path, fork: bool) -> None:
    pool = WorkerPool(
        interpreter=sys.executable,
        project_root=str(tmp_path),
        log_path=tmp_path / "log",
        fork=fork,
        entry=WorkerEntry(),  # as users have it
    )
    try:
        outcome, _, events = await analyze(pool, tmp_path, "pass")
        assert outcome is JobOutcome.FINISHED
        assert isinstance(events[0], Loaded)
        assert isinstance(events[-1], Finished)
        found = {(event.report.stage, finding.rule) for event in events if isinstance(event, StageFinished)
                 for finding in event.findings}  # fmt: skip
        assert found == {(Stage.PREVIEW, "dtype"), (Stage.MOCK, "dtype")}
        assert pool.torch_version is not None
        if sys.version_info[:3] != (3, 13, 0):  # which torch warns of from 2.14 on
            assert (tmp_path / "log").exists() is False, "warming up and analysing print nothing"
        assert (await analyze(pool, tmp_path, "os.abort()"))[:2] == (JobOutcome.CRASHED, 7)
        assert (await analyze(pool, tmp_path, "while True: time.sleep(1)", timeout=8))[:2] == (JobOutcome.TIMEOUT, 7)
        assert (await analyze(pool, tmp_path, "pass"))[0] is JobOutcome.FINISHED
    finally:
        await pool.close()
