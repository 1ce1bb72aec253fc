"""A notebook's cells run as people run them: one that fails does not keep the others from running."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import analyze
from inductor_debug_schema import Severity

pytestmark = pytest.mark.torch

CELLS = """\
import torch
from torch import nn
rows = open("data.csv").read()
count = len(rows)

# inductor-debug: inputs=(torch.randn(2, 4),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(5, 2)

    def forward(self, x):
        return self.last(x)
"""


def test_what_a_failing_cell_keeps_from_nobody_is_checked(tmp_path: Path) -> None:
    found = [(item.severity, item.range.start.line) for item in analyze(tmp_path / "net.ipynb", CELLS).findings]
    assert (Severity.WARNING, 2) in found, "the first that failed is told"
    assert (Severity.ERROR, 12) in found, "and the model is checked"
    assert len(found) == 2, "what came of the first is not"


def test_a_file_is_run_as_python_runs_it(tmp_path: Path) -> None:
    found = analyze(tmp_path / "net.py", CELLS).findings
    assert [(item.severity, item.range.start.line) for item in found] == [(Severity.ERROR, 2)]
