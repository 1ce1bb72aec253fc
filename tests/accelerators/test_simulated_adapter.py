"""The adapter of a device that torch knows: its graphs run there, in every command that compiles."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import zygote

from tests.accelerators.packages import install
from tests.kerneldiff.device import simulated_device

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(shutil.which("g++") is None and shutil.which("clang++") is None, reason="needs a C++ compiler"),
]
MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 8),), eval
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return torch.relu(self.fc(x)){end}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sources = {
        path.stem: path.read_text()
        for path in (Path(simulated_device.__file__), Path(__file__).with_name("simulated_adapter.py"))
    }
    site = install(tmp_path / "site-packages", monkeypatch, {"simulated": "simulated_adapter:Simulated"}, sources)
    shutil.copy(simulated_device.build(), site / "device.so")  # a package for such a device ships it
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def run(project: Path, *words: str, end: str = "") -> Any:
    (project / "model.py").write_text(MODEL.format(end=end))
    command = [*zygote.COMMAND, *words, "--format", "json"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_a_check_knows_what_the_device_has(project: Path) -> None:
    (file,) = run(project, "check", "model.py", "--accelerator", "simulated", "--no-cache", end=".double()")["files"]
    assert [finding["rule"] for finding in file["findings"]] == ["dtype"]


def test_a_comparison_runs_on_the_device(project: Path) -> None:
    document = run(project, "diff", "model.py", "--backend", "simulated")
    assert (document["backend"], document["verdict"]) == ("simulated", "pass"), document["why"]
    without = run(project, "diff", "model.py", "--backend", "simulated", end=".double()")
    assert without["verdict"] == "failed"
    assert "float64" in without["why"] or "double" in without["why"].lower()


def test_bisect_climbs_to_the_device(project: Path) -> None:
    words = ("bisect", "model.py", "--backends", "dynamo,simulated", "--accelerator", "simulated")
    states = {rung["backend"]: rung["state"] for rung in run(project, *words)["ladder"]}
    assert states == {"eager": "ok", "dynamo": "ok", "simulated": "ok"}
