"""`check --size`: sizes that hold for one run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from inductor_debug.cli.main import main

pytestmark = pytest.mark.torch

MODEL = """\
import torch


# inductor-debug: inputs=(torch.randn(4, 64),)
def scaled(x):
    batch = x.shape[0]
    return x * batch
"""


@pytest.fixture
def model(write: Callable[[str, str], Path]) -> Path:
    return write("model.py", MODEL)


def test_a_size_holds_for_the_run_and_every_format_says_so(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "model.py", "--size", "batch=7", "--color", "never"]
    assert main(words) == 0
    assert "with batch 7 (set by you)" in capsys.readouterr().out
    assert main([*words, "--format", "json", "-q"]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    sizes = {size["name"]: (size["value"], size["usual"], size["given"]) for size in file["targets"][0]["sizes"]}
    assert sizes["batch"] == (7, 4, True)


def test_a_size_that_nothing_has_is_refused_with_those_that_there_are(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "model.py", "--size", "bach=7", "-q"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "--size bach=7: unknown size 'bach'; did you mean 'batch'?" in said.err


@pytest.mark.parametrize("size", ["batch", "batch=", "batch=0", "batch=-1", "=3", "batch=x", "batch=3.5"])
def test_what_is_no_size_is_bad_usage(model: Path, size: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["check", "model.py", "--size", size])
    assert raised.value.code == 2
    assert "such as batch=8" in capsys.readouterr().err
