"""`inductor-debug diff` as a user of a terminal meets it, with real workers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from answers import answer
from inductor_debug.cli.commands.diff import exit_code
from inductor_debug.cli.main import main
from inductor_debug_schema import DiffDocument

pytestmark = pytest.mark.torch

MODEL = """\
import torch

# inductor-debug: inputs=(torch.randn(8, 96),)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(96, 64)

    def forward(self, x):
        return torch.tanh(self.linear(x))


# inductor-debug: inputs=(torch.tensor([1, 2**40]),)
def double(x):
    return x * 2
"""


@pytest.fixture
def model(write: Callable[[str, str], Path]) -> Path:
    return write("model.py", MODEL)


def test_text_has_the_verdict_a_table_and_the_blamed_source(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "model.py", "--backend", "spyre", "--color", "never", "-q"]) == 1
    text = capsys.readouterr().out
    assert "Net: spyre against eager: pass" in text
    assert "output  float32[8,64]  pass" in text
    assert "double: spyre against eager: wrong" in text
    assert "blame 1: aten.mul.Tensor (mul): " in text
    assert "  model.py:15:12\n 15 |     return x * 2\n    |            ^^^^^\n" in text


def test_json_is_the_contracts_document(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["diff", "model.py::Net", "--backend", "spyre", "--inject", "zero-output@10", "--format", "json", "-q"]
    assert main([*words, "-o", "diff.json", "--runs", "2", "--seed", "5"]) == 1
    assert capsys.readouterr().out == ""
    document = json.loads(Path("diff.json").read_text())
    assert (document["schema"], document["target"], document["verdict"]) == (1, "Net", "wrong")
    assert (document["seed"], document["runs"]) == (5, 2)
    first = document["blame"][0]
    assert first["path"] == str(model)
    assert first["range"]["start"]["line"] == 9


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["missing.py"], "does not exist"),
        (["model.py::Nte"], "did you mean 'Net'"),
        (["model.py", "--backend", "missing.toml"], "missing.toml"),
    ],
)
def test_bad_usage_is_told_and_ends_with_2(
    model: Path, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    assert main(["diff", *words, "-q"]) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert captured.out == ""


def test_a_comparison_that_failed_ends_with_2_and_says_why(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "model.py::Net", "--backend", "inducto", "--color", "never", "-q"]) == 2
    assert "did you mean 'inductor'?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [(["pass"], 0), (["pass", "suspicious"], 1), (["wrong"], 1), (["wrong", "failed"], 2), ([], 0)],
)
def test_exit_codes(verdicts: list[str], code: int) -> None:
    assert exit_code([answer(DiffDocument, {"verdict": verdict}) for verdict in verdicts]) == code


DIES = """\
import os
import torch

@torch.compiler.disable
def perhaps_die():
    runs = os.environ["RUNS"] = str(int(os.environ.get("RUNS", 0)) + 1)
    if runs == "6":  # both sides, the reference again, in float64 and the backend at its best: then operations
        os._exit(9)

# inductor-debug: inputs=(torch.randn(8, 96),)
class Net(torch.nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        perhaps_die()
        return torch.tanh(y)
"""


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_comparison_that_dies_prints_what_had_come(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str], form: str
) -> None:
    write("dies.py", DIES)
    assert main(["diff", "dies.py", "--backend", "spyre", "--format", form, "--color", "never", "-q"]) == 2
    captured = capsys.readouterr()
    assert "dies.py" in captured.err
    if form == "text":
        assert "Net: spyre against eager: pass (unfinished)" in captured.out
        assert "output  float32[8,96]  pass" in captured.out
        return
    document = json.loads(captured.out)
    assert (document["verdict"], document["partial"]) == ("pass", True)
    assert [node["op"] for node in document["nodes"]] == ["aten.exp.default"]
    assert "did not end" in document["notes"][-1]
