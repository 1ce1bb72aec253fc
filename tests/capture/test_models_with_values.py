"""Models that have to have values: a file with many of them takes the memory of a few."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import analyze
from inductor_debug_schema import Stage, StageState

pytestmark = pytest.mark.torch

_FILE = """
import weakref
import torch
from torch import nn

ALIVE = weakref.WeakSet()

class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 4)
        self.table = nn.Parameter(torch.zeros(3072, 3072))
        if type(self.table.detach()) is torch.Tensor:  # it has values, and takes 36 MiB
            ALIVE.add(self)
            assert len(ALIVE) <= 3, f"{len(ALIVE)} are alive"

    def forward(self, x):
        x = self.layer(x)
        if x.sum().item() > 1e6:
            x = x + 1
        return x * self.table[0, 0]
"""
_NAMES = [f"Model{number}" for number in range(6)]
_CLASSES = "".join(f"\nclass {name}(Base):\n    pass\n" for name in _NAMES)


def test_models_with_values_are_not_kept_from_stage_to_stage(tmp_path: Path) -> None:
    """Thirty of 320 MB met the memory limit, each time it was met gave up one of them, and all began anew."""
    (tmp_path / "model.py").write_text(_FILE + _CLASSES)
    run = analyze(tmp_path / "model.py", root=tmp_path, accelerator="none", stages=(Stage.PREVIEW, Stage.MOCK))
    told = {(stage.target, stage.report.stage): stage for stage in run.stages if stage.target in _NAMES}
    print(
        [
            (s.target, s.report.stage, s.report.state, s.report.notes, [f.message for f in s.findings])
            for s in run.stages
        ]
    )
    assert sorted({target for target, _ in told}) == _NAMES
    assert {stage.report.state for stage in told.values()} == {StageState.DONE}
    assert {finding.rule for stage in told.values() for finding in stage.findings} <= {"graph-break"}


_LAZY = """
import torch
from torch import nn

class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.table = nn.LazyLinear(4), nn.Parameter(torch.zeros(3072, 3072))

    def forward(self, x):
        x = self.layer(x)
        return x + 1 if x.sum().item() > 1e6 else x * self.table[0, 0]
"""


def test_parameters_without_a_size_take_no_memory(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(_LAZY)
    run = analyze(tmp_path / "model.py", root=tmp_path, accelerator="none", stages=(Stage.PREVIEW, Stage.MOCK))
    assert [stage.report.state for stage in run.stages] == [StageState.DONE] * 2


_CHECKED = """
import gc, inspect, sys
from torch import nn

def check_argument_types():
    frame = sys._getframe(1)
    if not any(inspect.isfunction(each) for each in gc.get_referrers(frame.f_code)):
        raise LookupError("target function not found")
    return True

class Earlier(nn.Module):
    def forward(self, x):
        return x + 1

class Checked(nn.Module):
    def __init__(self, width: int = 8):
        assert check_argument_types()
        super().__init__()
        self.layer = nn.Linear(width, 4)

    def forward(self, x):
        return self.layer(x)
"""


def test_functions_are_found_by_who_refers_to_their_code(tmp_path: Path) -> None:
    """As typeguard 2 does, on which ESPnet and its like rely; the collector does not find what it was told to leave."""
    (tmp_path / "model.py").write_text(_CHECKED)
    run = analyze(tmp_path / "model.py", root=tmp_path, accelerator="none")
    assert {stage.target: stage.report.state for stage in run.stages} == dict.fromkeys(
        ("Earlier", "Checked"), StageState.DONE
    )
