"""What a model reads in its first run and one of its methods gives is there: the method was called before."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug_schema import FileStatus, StageState

pytestmark = pytest.mark.torch

_MEMORY = """
import torch
from torch import nn

class Memory(nn.Module):
    def __init__(self, places, width):
        super().__init__()
        self.register_buffer("bias", torch.zeros(places, width))
        self.cell, self.address = nn.LSTMCell(width, width), nn.Linear(width, places)

    def reset(self, batch_size{more}):
        self.rows = self.bias.clone().repeat(batch_size, 1, 1)
        self._start()

    def _start(self):
        batch, _, width = self.rows.shape
        self.state = torch.zeros(batch, width), torch.zeros(batch, width)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        weights = self.address(self.state[0]).softmax(-1)
        return torch.matmul(weights.unsqueeze(1), self.rows).squeeze(1)
"""


def _analysed(tmp_path: Path, text: str) -> Job:
    return analyze(tmp_path / "model.py", dedent(text))


def test_a_method_that_starts_a_sequence_is_called_before_the_first_run(tmp_path: Path) -> None:
    job = _analysed(tmp_path, _MEMORY.format(more=""))
    assert (job.status, job.findings) == (FileStatus.CLEAN, [])
    assert [stage.report.state for stage in job.stages] == [StageState.DONE]
    assert [stage.inferred.signature for stage in job.stages if stage.inferred] == ["x f32[2, 64]"]
    assert "this was done before its run: `reset(batch_size=2)`." in str(job.stages[0].report.notes)


def test_where_such_a_method_refuses_the_target_is_passed_over_with_what_is_missing(tmp_path: Path) -> None:
    job = _analysed(tmp_path, _MEMORY.format(more=", source").replace("self.bias.clone()", "source.rows()"))
    assert [stage.report.state for stage in job.stages] == [StageState.SKIPPED]
    assert "no attribute 'state'" in str(job.stages[0].report)


def test_what_the_first_run_gives_itself_needs_no_method(tmp_path: Path) -> None:
    text = """
    import torch
    from torch import nn

    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forget(self):
            raise RuntimeError("nothing to forget")
            self.seen = None

        def forward(self, x):
            self.seen = x
            return self.layer(self.seen)
    """
    job = _analysed(tmp_path, text)
    assert (job.status, job.findings) == (FileStatus.CLEAN, [])
