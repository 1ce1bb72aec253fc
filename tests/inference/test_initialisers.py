"""A model that draws its first values with `torch.nn.init` is built with fake tensors, like any other."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import analyze
from inductor_debug_schema import FileStatus, StageFinished

pytestmark = pytest.mark.torch

MODEL = """
    import torch
    from torch import nn
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.place = nn.Parameter(torch.zeros({shape}))
            nn.init.{call}
        def forward(self, x):
            return x + self.place
"""
CALLS = ("trunc_normal_(self.place, std=0.02)", "normal_(self.place)", "xavier_uniform_(self.place)")


@pytest.mark.parametrize("call", CALLS)
def test_initial_values_need_no_real_tensors(call: str, tmp_path: Path) -> None:
    job = analyze(tmp_path / "model.py", dedent(MODEL.format(call=call, shape="16, 8")))
    (done, *_) = [event for event in job.events if isinstance(event, StageFinished)]
    assert (job.status, done.report.notes) == (FileStatus.CLEAN, [])


def test_what_an_initialiser_checks_is_still_checked(tmp_path: Path) -> None:
    job = analyze(tmp_path / "model.py", dedent(MODEL.format(call="xavier_uniform_(self.place)", shape="8")))
    (finding,) = next(event for event in job.events if isinstance(event, StageFinished)).findings
    assert finding.rule == "capture-error"
    assert "Fan in and fan out" in finding.message
