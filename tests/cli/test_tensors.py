"""`inductor-debug tensors` as a user of a terminal meets it, with real workers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from inductor_debug.cli.main import main

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(8, 60),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(60, 16)

    def forward(self, x):
        B, C = x.shape
        h = self.fc(x)
        return torch.relu(h)
"""


@pytest.fixture
def model(write: Callable[[str, str], Path]) -> Path:
    return write("model.py", MODEL)


def test_a_line_is_told_as_a_table(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tensors", "model.py:13", "--accelerator", "spyre", "--color", "never", "-q"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.split("\n")]
    assert lines[0] == "model.py:13: Net, Net.forward"
    assert "made h [B=8, 16] float32 512 B 1 KiB (50% padding) model.py:13 model.py:14" in lines
    assert "read fc.weight [16, 60] float32 3.75 KiB 4 KiB (6% padding) model.py:9 model.py:13" in lines
    assert "alive now: 6.188 KiB: activation 512 B, parameter 3.812 KiB, input 1.875 KiB" in lines


def test_json_has_every_row(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tensors", "model.py::Net:14", "--format", "json", "-q"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["line"], document["target"]) == (1, 13, "Net")
    assert [row["label"] for row in document["rows"]] == ["torch.relu(h)", "h", "x", "fc.weight", "fc.bias"]
    assert document["memory"]["bytes"] == sum(row["storage_bytes"] for row in document["rows"] if row["counted"])


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("model.py", "name a line, as in model.py:42"),
        ("model.py:0", "name a line, as in model.py:42"),
        ("model.py:1", "No run passes this line"),
        ("other.py:3", "other.py does not exist"),
    ],
)
def test_what_cannot_be_told_is_said(model: Path, place: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tensors", place, "-q"]) == 2
    assert words in capsys.readouterr().err
