"""Compile time out of a structured trace: of a real run, of a torn one, and of what is no trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from inductor_debug.cli.main import main
from inductor_debug.compiler_output.compile_time_logs import read_compile_times
from inductor_debug.compiler_output.importing import NothingFoundError

SCRIPT = """\
import torch


@torch.compile(backend="aot_eager")
def twice(x):
    return (x * 2).sin()


twice(torch.randn(4))
twice(torch.randn(5))
"""
HEAD = "V0101 10:00:00.000000 1 torch/_dynamo/utils.py:1] "


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a real run; its one log is `dedicated_log_torch_trace_*.log`."""
    folder = tmp_path_factory.mktemp("traced")
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    environment = {**os.environ, "TORCH_TRACE": str(folder / "trace")}
    subprocess.run([sys.executable, "script.py"], cwd=folder, env=environment, check=True, timeout=300)
    return folder


def log_of(folder: Path) -> Path:
    (log,) = (folder / "trace").glob("dedicated_log_torch_trace_*.log")
    return log


def written(folder: Path, *events: dict[str, object], extra: str = "") -> str:
    """A log of some events, as torch writes them."""
    entries = [f'{HEAD}{{"chromium_event": {{}}, "frame_id": 0}}\n\t{json.dumps(event)}\n' for event in events]
    path = folder / "dedicated_log_torch_trace_x.log"
    path.write_text("".join(entries) + extra, encoding="utf-8")
    return str(path)


def event(name: str, kind: str, at: object, compiled: str = "0/0") -> dict[str, object]:
    return {"name": name, "ph": kind, "ts": at, "pid": 0, "tid": 0, "args": {"compile_id": compiled}}


@pytest.mark.torch
def test_a_real_run_is_split_by_phase_and_by_function(traced: Path) -> None:
    (document,) = read_compile_times(str(traced / "trace"))
    assert (document.problem, document.logged, document.graphs) == ("", True, 2)
    assert {phase.part for phase in document.compile_phases} >= {"Dynamo", "AOTAutograd"}
    (row,) = (row for row in document.expressions if row.path is not None)
    assert (row.path, row.text) == (str(traced / "script.py"), "twice, compiled 2 times")
    assert row.range is not None
    assert row.range.start.line + 1 in (4, 5)  # of the decorator, or of the definition
    assert row.nodes == 4
    rounding = pytest.approx(document.seconds, abs=1e-3)
    assert sum(phase.seconds for phase in document.compile_phases) == rounding
    assert sum(row.seconds for row in document.expressions) == rounding
    assert sum(document.slices.seconds) == rounding
    assert document.placed == pytest.approx(document.seconds, rel=0.05)


@pytest.mark.torch
def test_a_log_that_breaks_off_counts_up_to_there_and_says_so(traced: Path, tmp_path: Path) -> None:
    whole = log_of(traced).read_bytes()
    torn = tmp_path / "dedicated_log_torch_trace_torn.log"
    torn.write_bytes(whole[: whole.index(b"compilation_metrics")])
    (document,) = read_compile_times(str(torn))
    assert "it ends while" in document.problem
    assert document.seconds > 0
    assert [row.path for row in document.expressions] == [None]


@pytest.mark.torch
def test_the_command_tells_it_in_every_format(traced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("text", "json", "csv"):
        assert main(["analyze", str(traced / "trace"), "--type", "time", "--format", form]) == 0
        told = capsys.readouterr().out
        assert "twice, compiled 2 times" in told
    assert main(["analyze", str(log_of(traced)), "--type", "time"]) == 0
    assert "compile time as logged" in capsys.readouterr().out


def test_what_is_inside_another_event_counts_once(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        event("dynamo", "B", 0),
        event("inductor_compile", "B", 1e6),
        event("a_name_of_tomorrow", "B", 2e6, "None"),
        event("a_name_of_tomorrow", "E", 3e6, "None"),
        event("inductor_compile", "E", 4e6),
        event("dynamo", "E", 6e6),
    )
    (document,) = read_compile_times(path)
    assert {(row.part, row.seconds) for row in document.compile_phases} == {("Dynamo", 3.0), ("Inductor", 3.0)}
    assert document.problem == ""


@pytest.mark.parametrize(
    "hostile",
    [
        event("dynamo", "B", "yesterday"),
        event("dynamo", "B", float("nan")),
        event("dynamo", "B", 10**400),
        event("dynamo", "E", 5),
        {"name": ["dynamo"], "ph": "B", "ts": 1},
    ],
)
def test_an_event_of_no_use_is_counted_and_costs_itself_alone(tmp_path: Path, hostile: dict[str, object]) -> None:
    path = written(tmp_path, hostile, event("dynamo", "B", 0), event("dynamo", "E", 1e6))
    (document,) = read_compile_times(path)
    assert document.seconds == 1.0
    assert document.problem == "1 event of it cannot be read"


def test_no_file_that_a_log_names_is_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)  # whoever opens it waits for ever
    metrics = {"compile_id": "0/0", "co_name": "f", "co_filename": str(pipe), "co_firstlineno": 3}
    path = written(
        tmp_path,
        event("dynamo", "B", 0),
        event("dynamo", "E", 1e6),
        extra=HEAD + json.dumps({"compilation_metrics": metrics}) + "\n",
    )
    for form in ("text", "csv"):
        assert main(["analyze", path, "--type", "time", "--format", form]) == 0
        assert "pipe.py" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("notes.txt", "hello", "tells of no compilation"),
        ("dedicated_log_torch_trace_x.log", "", "tells of no compilation"),
        ("dedicated_log_torch_trace_x.log", "\x00\x01" * 500, "tells of no compilation"),
        ("dedicated_log_torch_trace_x.log", HEAD + '{"chromium_event"', "no event of a compilation"),
    ],
)
def test_what_is_no_trace_is_told_in_a_sentence(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(NothingFoundError, match=why):
        read_compile_times(str(tmp_path))


def test_a_folder_without_logs_says_what_is_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(tmp_path), "--type", "time"]) == 2
    assert "holds no log of TORCH_TRACE" in capsys.readouterr().err
