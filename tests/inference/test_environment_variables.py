"""A file that reads an environment variable is loaded as the script of its project loads it, or told what it lacks."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug_schema import FileStatus

pytestmark = pytest.mark.torch

MODEL = """
import os
from torch import nn

WIDTH = int(os.environ["WIDTH_OF_MINE"])
FAST = os.environ["FAST_OF_MINE"] == "1"

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(WIDTH, 3 if FAST else 5)

    def forward(self, x):
        return self.layer(x)
"""
TRAIN = """
import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=24)
args = parser.parse_args()
os.environ["WIDTH_OF_MINE"] = str(args.width)
os.environ.setdefault("FAST_OF_MINE", "1")
from model import Net
raise RuntimeError("nobody runs this")
"""


def analysed(folder: Path, train: str) -> Job:
    (folder / "train.py").write_text(dedent(train))
    (folder / "model.py").write_text(MODEL)
    return analyze(folder / "model.py", root=folder, accelerator="none")


def test_what_a_script_of_the_project_sets_is_set(tmp_path: Path) -> None:
    job = analysed(tmp_path, TRAIN)
    assert job.status is FileStatus.CLEAN
    (stage,) = job.stages
    assert stage.inferred is not None
    assert stage.inferred.signature == "x f32[batch, 24]"
    assert [note for note in job.loaded.notes if "FAST_OF_MINE" in note] == [
        "The environment variable FAST_OF_MINE was set to '1', as train.py sets it."
    ]
    assert "WIDTH_OF_MINE" not in os.environ


@pytest.mark.parametrize("train", ["", 'import os\nos.environ["WIDTH_OF_MINE"] = input()\n'])
def test_what_nobody_sets_plainly_is_told_as_the_environments(train: str, tmp_path: Path) -> None:
    job = analysed(tmp_path, train)
    (finding,) = job.findings
    assert (finding.rule, finding.cause) == ("environment", "WIDTH_OF_MINE")
    assert finding.message == (
        "This reads the environment variable `WIDTH_OF_MINE`, which is not set (while the file was loaded)."
    )
    assert job.marked(finding) == 'os.environ["WIDTH_OF_MINE"]'
