"""`inductor-debug compare-accelerators` as a user of a terminal meets it, with real workers."""

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


# inductor-debug: inputs=(torch.randn(4, 17),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(17, 64)

    def forward(self, x):
        return self.fc(x).double()
"""


@pytest.fixture
def model(write: Callable[[str, str], Path]) -> Path:
    write("board|x.toml", 'schema = 1\nname = "board|x"\n[speed]\nbytes_per_second = "1 GB"\n')
    return write("model.py", MODEL)


def test_the_table_has_a_column_each_and_says_nothing_that_a_profile_does_not(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare-accelerators", "model.py::Net", "--accelerators", "spyre,board|x.toml,none", "-q", "-v"]
    assert main([*words, "--color", "never"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "model.py::Net, captured once"
    assert lines[2].split() == ["spyre", "board|x", "none", "(chosen)"]
    time = next(line for line in lines if line.startswith("time, at least"))
    assert time.split()[3:] == ["6.93", "µs", "(memory)"]
    assert any(line.startswith("model.py:12:16: warning dtype: ") for line in lines)


def test_it_says_that_sizes_are_small_where_nobody_gave_any(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write("model.py", MODEL.replace("# inductor-debug: inputs=(torch.randn(4, 17),)\n", ""))
    words = ["compare-accelerators", "model.py", "--accelerators", "h100,rtx-4090", "-q"]
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[0] == "model.py, captured once, with small inferred inputs"


def test_markdown_keeps_its_columns_whatever_a_profile_is_called(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare-accelerators", "model.py", "--accelerators", "mock,board|x.toml", "--format", "markdown", "-q"]
    assert main(words) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert rows[0] == "|  | mock | board\\|x |"
    assert {row.replace("\\|", "").count("|") for row in rows} == {4}


def test_json_has_findings_as_a_check_writes_them(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare-accelerators", "model.py", "--accelerators", "spyre", "--format", "json", "-q"]) == 0
    (column,) = json.loads(capsys.readouterr().out)["columns"]
    assert main(["check", "model.py", "--accelerator", "spyre", "--format", "json", "-q"]) == 1
    (file,) = json.loads(capsys.readouterr().out)["files"]
    in_one_order = [sorted(found["findings"], key=json.dumps) for found in (column, file)]
    assert in_one_order[0] == in_one_order[1] != []


def test_what_cannot_be_compared_is_said_in_one_line(
    model: Path, write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write("empty.py", "x = 1\n")
    write("broken.py", "x = (\n")
    for words, message in (
        (["empty.py"], "nothing in it to compile"),
        (["broken.py"], "line 1: '(' was never closed"),
        (["model.py::Other"], "unknown target 'Other'; there are Net"),
        (["model.py", "--accelerators", "sypre"], "did you mean 'spyre'"),
    ):
        assert main(["compare-accelerators", *words, "-q"]) == 2
        assert message in capsys.readouterr().err
