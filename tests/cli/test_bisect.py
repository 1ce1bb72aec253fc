"""`inductor-debug bisect` and `transfers` as a user of a terminal meets them, with real workers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from inductor_debug.cli.main import main

pytestmark = pytest.mark.torch

MODEL = """\
import torch

# inductor-debug: inputs=(torch.tensor([1, 2**40]),)
def double(x):
    return x * 2
"""


@pytest.fixture
def model(write: Callable[[str, str], Path]) -> Path:
    return write("model.py", MODEL)


def test_bisect_prints_the_ladder_the_verdict_and_both_commands(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bisect", "model.py", "--backends", "aot_eager,spyre", "--color", "never", "-q"]) == 1
    text = capsys.readouterr().out
    assert "double: the back end goes wrong" in text
    assert "  aot_eager  pass" in text
    assert "  inductor-debug diff model.py::double --reference eager --backend spyre" in text


def test_transfers_says_what_does_not_come_back(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transfers", "model.py", "--accelerator", "spyre", "--color", "never", "-q"]) == 1
    text = capsys.readouterr().out
    assert "int64 is kept as int32; 1099511627776 at [1] becomes 0" in text
    assert "  model.py:3" in text


def test_transfers_as_json(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transfers", "model.py", "--format", "json", "-q"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["accelerator"]) == (1, "mock")
    assert [transfer["direction"] for transfer in document["transfers"]] == ["to-device", "to-host"]


@pytest.mark.parametrize(
    ("command", "heading"),
    [
        (["bisect", "model.py", "--backends", "spyre"], "Bisection of double"),
        (["transfers", "model.py"], "Transfers of"),
    ],
)
def test_either_is_a_page_to_pass_on(command: list[str], heading: str, model: Path) -> None:
    assert main([*command, "--accelerator", "spyre", "--format", "html", "-o", "page.html", "-q"]) == 1
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert f"<h1>{heading}" in page
    assert 'href="model.py#L' in page


def test_a_target_that_is_not_there(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", "model.py::duoble", "--backends", "aot_eager", "-q"]) == 2
    assert "did you mean 'double'" in capsys.readouterr().err
