"""`inductor-debug profile` as a user of a terminal meets it: real steps under the profiler, and traces of others."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.cli.main import main

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(32, 64),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 128), nn.Linear(128, 64)

    def forward(self, x):
        h = torch.relu(self.up(x)) * 2
        return self.down(h).softmax(-1)
"""
UP, RELU, TWICE, DOWN, SOFTMAX = (
    "self.up(x)",
    "torch.relu(self.up(x))",
    "torch.relu(self.up(x)) * 2",
    "self.down(h)",
    ("self.down(h).softmax(-1)"),
)
Write = Callable[[str, str], Path]


def profiled(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert main(["profile", *arguments, "--format", "json", "-q"]) == code
    return json.loads(capsys.readouterr().out)


def recorded(path: Path, **options: bool) -> str:
    """A trace of three eager steps of a forward pass, as a user would record it."""
    import torch
    from torch.profiler import profile, schedule

    names: dict[str, Any] = {}
    exec(compile(MODEL, "model.py", "exec"), names)
    model, x = names["Net"](), torch.randn(32, 64)
    steps = schedule(wait=0, warmup=1, active=3, repeat=1)

    def write(recording: Any) -> None:
        recording.export_chrome_trace(str(path))

    with torch.no_grad(), profile(schedule=steps, on_trace_ready=write, **options) as recording:
        for _ in range(4):
            model(x)
            recording.step()
    return str(path)


def test_each_expression_gets_its_time_eager_and_compiled_forward_and_backward(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("model.py", MODEL)
    eager, compiled = profiled(
        capsys, "model.py", "--backend", "eager", "--backend", "inductor", "--accelerator", "h100", "--steps", "3",
        "--seconds", "0.01",
    )  # fmt: skip
    for document in (eager, compiled):
        assert (document["device"], document["training"], document["problem"]) == ("cpu", True, "")
        assert document["steps"] >= 3
        assert document["tied"] == "expressions"
        rows = {(row["text"], row["backward"]): row for row in document["expressions"] if row["path"]}
        assert {text for text, _ in rows} == {UP, RELU, TWICE, DOWN, SOFTMAX}
        assert {text for text, backward in rows if backward} >= {UP, DOWN, SOFTMAX}
        assert all(row["time"]["seconds"] > 0 for row in rows.values())
        assert rows[UP, False]["bound_seconds"] > 0
        assert rows[UP, False]["cost"]["operations"] == 2 * 32 * 64 * 128
        assert not document["comparable"], "this is no H100"
        assert document["bound_seconds"] > 0
    kernels = {row["name"]: row for row in compiled["kernels"]}
    fused = next(row for name, row in kernels.items() if name.startswith("cpp_fused") and "relu" in name)
    assert fused["kind"] == "generated"
    assert {place["range"]["start"]["line"] for place in fused["places"]} == {11}
    assert {row["name"] for row in eager["kernels"]} >= {"aten::addmm", "aten::relu", "aten::mm"}


def test_the_text_says_what_was_measured_and_that_two_machines_are_two(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("model.py", MODEL)
    options = ["--forward", "--accelerator", "h100", "--steps", "3", "--seconds", "0.01", "-q"]
    assert main(["profile", "model.py::Net", "--backend", "eager", *options]) == 0
    out = capsys.readouterr().out
    assert out.startswith("model.py::Net, eager, on the CPU")
    assert "(forward; the median of" in out
    assert "two machines" in out
    assert "× bound" not in out
    assert f"model.py:12:24  {UP}  [aten::t, aten::addmm]" in out
    assert "(backward)" not in out


def test_a_trace_of_somebody_else_is_read_without_the_model_and_tied_with_it(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("model.py", MODEL)
    trace = recorded(tmp_path / "trace.json.gz", with_stack=True)
    alone = profiled(capsys, "--trace", trace)
    assert (alone["steps"], alone["tied"]) == (3, "functions")
    assert "model.py(11): forward" in {row["function"] for row in alone["expressions"]}
    tied = profiled(capsys, "model.py::Net", "--trace", trace, "--forward")
    assert (tied["tied"], tied["tied_share"]) == ("expressions", 1.0)
    assert {row["text"] for row in tied["expressions"]} == {UP, RELU, TWICE, DOWN, SOFTMAX}
    bare = profiled(capsys, "--trace", recorded(tmp_path / "bare.json"))
    assert bare["tied"] == "nothing"
    assert any("with_stack=True" in note for note in bare["notes"])


def test_csv_has_a_row_for_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "--trace", recorded(tmp_path / "t.json"), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["of"] for row in rows} == {"step", "idle", "expression", "kernel", "gap"}
    assert all(float(row["low"]) <= float(row["seconds"]) <= float(row["high"]) for row in rows)


def test_html_is_the_editors_page_and_names_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, page = recorded(tmp_path / "trace.json", with_stack=True), tmp_path / "profile.html"
    assert main(["profile", "--trace", trace, "--format", "html", "-o", str(page)]) == 0
    data = re.search(r'id="data">([^<]+)<', page.read_text(encoding="utf-8"))
    assert data is not None
    text = base64.b64decode(data[1]).decode()
    charts = json.loads(text)
    assert charts["kind"] == "profile"
    (document,) = charts["documents"]
    assert (document["trace"], document["steps"], document["tied"]) == ("trace.json", 3, "functions")
    assert "model.py(11): forward" in {row["function"] for row in document["expressions"]}
    assert str(tmp_path) not in text


def test_what_cannot_be_measured_is_said_in_a_sentence(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["profile"]) == 2
    assert "--trace" in capsys.readouterr().err
    broken = tmp_path / "broken.json"
    broken.write_text('{"traceEvents": [{"ph"')
    assert main(["profile", "--trace", str(broken)]) == 2
    assert "ends too early" in capsys.readouterr().err
    write("model.py", MODEL)
    emulated = profiled(capsys, "model.py", "--backend", "spyre", code=2)
    assert "emulated here" in emulated["problem"]
    unreadable = profiled(capsys, "model.py", "--trace", str(broken), code=2)
    assert "ends too early" in unreadable["problem"]
    write("raises.py", MODEL.replace("torch.relu(", "torch.nope("))
    assert "nope" in profiled(capsys, "raises.py", "--backend", "eager", code=2)["problem"]
