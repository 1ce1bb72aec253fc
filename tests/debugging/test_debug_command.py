"""`inductor-debug debug` as its user meets it: real files, and a real debugger that stops in them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import needed
import pytest
from debugpy_client import SECONDS, Debugged
from inductor_debug.cli.main import main
from zygote import COMMAND

pytestmark = pytest.mark.torch

MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 16)
        self.out = nn.Linear(16, 4)

    def forward(self, x):
        h = F.gelu(self.inner(x))
        h.add_(1.0)
        scale = torch.softmax(h, dim=-1)
        return self.out(h * scale)


def example_inputs():
    return (torch.randn(3, 8),)
"""
SCALE = 15


@dataclass(frozen=True)
class Written:
    """What the command wrote for the model."""

    root: Path
    row: dict[str, Any]

    def file(self, name: str) -> Path:
        return Path(self.row["folder"]) / name

    @property
    def configuration(self) -> dict[str, Any]:
        launch = json.loads((self.root / ".vscode" / "launch.json").read_text(encoding="utf-8"))
        (configuration,) = launch["configurations"]
        assert isinstance(configuration, dict)
        return configuration

    def stop(self, name: str) -> int:
        (line,) = (stop["line"] + 1 for stop in self.row["stops"] if Path(stop["path"]).name == name)
        return int(line)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    needed.compiler()
    root = tmp_path_factory.mktemp("debugged")
    (root / "pyproject.toml").touch()
    (root / "model.py").write_text(MODEL, encoding="utf-8")
    ran = subprocess.run(
        [*COMMAND, "debug", "model.py::Net", "--line", str(SCALE), "--format", "json"],
        cwd=root, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    (row,) = json.loads(ran.stdout)["debug"]
    return Written(root, row)


def test_the_files_are_the_graph_and_what_inductor_wrote_forward_and_backward(written: Written) -> None:
    names = {Path(file["path"]).name: file["kind"] for file in written.row["files"]}
    assert names == {
        "graph_0.py": "graph",
        "graph_0_inductor_forward.py": "generated",
        "graph_0_inductor_backward.py": "generated",
        "session.json": "session",
    }
    assert (written.row["compared"], written.row["problems"]) == (1, [])
    graph = written.file("graph_0.py").read_text(encoding="utf-8")
    assert f"model.py:{SCALE}:17  torch.softmax(h, dim=-1)" in graph


def test_vs_code_is_told_how_to_start_it(written: Written) -> None:
    configuration = written.configuration
    assert configuration["name"] == written.row["configuration"]
    assert configuration["program"] == "${workspaceFolder}/debug_artifacts/debug/model-Net/run.py"
    assert (configuration["type"], configuration["request"]) == ("debugpy", "launch")


def test_debugpy_stops_in_the_model_in_the_graph_and_in_the_generated_code(written: Written) -> None:
    needed.library("debugpy")
    model, graph = written.root / "model.py", written.file("graph_0.py")
    forward, backward = (written.file(f"graph_0_inductor_{side}.py") for side in ("forward", "backward"))
    breakpoints = {
        model: [SCALE + 1],
        graph: [written.stop(graph.name)],
        forward: [written.stop(forward.name)],
        backward: [written.stop(backward.name)],
    }
    debugged = Debugged(Path(written.row["script"]), breakpoints, written.configuration)
    try:
        assert debugged.next_stop() == (model, SCALE + 1)
        eager = [float(debugged.value(f"scale[{row}, 3].item()")) for row in range(3)]
        assert debugged.next_stop() == (graph, breakpoints[graph][0])
        sides = {
            side: [float(debugged.value(f"at_scale.{side}[{row}, 3].item()")) for row in range(3)]
            for side in ("eager", "compiled")
        }
        assert sides["eager"] == eager
        assert sides["compiled"] == pytest.approx(eager, rel=1e-5)
        # What a later statement has written over is shown as it was, and what nobody asked for is not there.
        assert debugged.value("bool((at_h.eager + 1.0 == at_add_.eager).all())") == "True"
        assert debugged.value("at_h.compiled") == "None"
        assert debugged.next_stop() == (forward, breakpoints[forward][0]), debugged.printed()
        assert debugged.value("buf4.shape") == "torch.Size([3, 16])"
        assert debugged.next_stop() == (backward, breakpoints[backward][0])
        printed = debugged.end()
    finally:
        debugged.kill()
    assert debugged.process.returncode == 0
    assert f"scale, line {SCALE}: " in printed
    assert "output 0: " in printed
    assert "grad of inner.weight: " in printed
    assert "the compiler wrote other code" not in printed


def test_a_notebook_is_debugged_by_its_cells(tmp_path: Path) -> None:
    """The folder has what the cells are together: no debugger could make anything of the notebook's own lines."""
    needed.compiler()
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{"cell_type": "markdown", "metadata": {}, "source": "# A title"}, {**code, "source": MODEL}]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    (tmp_path / "model.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    told = [*COMMAND, "debug", "model.ipynb", "--no-launch", "-o", "stepping", "--line"]
    for line, why in (
        (f"2:{SCALE}", ""),
        (str(SCALE), f"as in 4:{SCALE}"),
        ("1:1", "cells with code: 2"),
        ("0", "from 1"),
    ):
        ran = subprocess.run([*told, line], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert (ran.returncode, why in ran.stderr) == (2 if why else 0, True), ran.stderr
    graph = (tmp_path / "stepping" / "graph_0.py").read_text(encoding="utf-8")
    assert f"model.ipynb: cell 2, line {SCALE}  torch.softmax(h, dim=-1)" in graph
    script = [sys.executable, "stepping/run.py"]
    ran = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ran.returncode == 0, ran.stderr
    assert f"scale, cell 2, line {SCALE}: " in ran.stdout


def test_without_a_debugger_it_runs_and_tells_both_sides(written: Written) -> None:
    ran = subprocess.run(
        [sys.executable, written.row["script"]], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("scale, "))
    eager, compiled = (line.split("  ")[-1] for line in lines[start + 1 : start + 3])
    numbers = [[float(number) for number in side.removesuffix(", …").split(", ")] for side in (eager, compiled)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-4)
    assert len(numbers[0]) == 6


def test_a_model_that_does_not_run_is_told_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").touch()
    file = tmp_path / "model.py"
    file.write_text(MODEL.replace("nn.Linear(16, 4)", "nn.Linear(15, 4)"), encoding="utf-8")
    assert main(["debug", f"{file}::Net", "-q"]) == 2
    assert "Net" in capsys.readouterr().err
    assert not (tmp_path / "debug_artifacts").exists()
    assert not (tmp_path / ".vscode").exists()


def test_a_folder_of_somebody_elses_is_not_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    needed.compiler()
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine", encoding="utf-8")
    assert main(["debug", f"{tmp_path / 'model.py'}::Net", "-o", str(mine), "--no-launch", "-q"]) == 2
    assert "holds files that are not of `inductor-debug debug`" in capsys.readouterr().err
    assert [path.name for path in mine.iterdir()] == ["notes.txt"]
