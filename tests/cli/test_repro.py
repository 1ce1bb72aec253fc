"""`inductor-debug repro`: what it writes, what it says, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Command
from inductor_debug.engine.pool import supervisor
from inductor_debug.engine.pool.supervisor import WorkerPool

TEXT = """\
import torch


# inductor-debug: inputs=(torch.randn(4, 8),)
class Model(torch.nn.Module):
    def forward(self, x):
        return (x.relu() @ x.relu().t()).double().sum()
"""


@pytest.fixture
def real(command: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command with real workers."""
    monkeypatch.setattr(supervisor, "WorkerPool", WorkerPool)
    return command


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.torch
def test_a_finding_becomes_a_verified_script(real: Command, model: Path, tmp_path: Path) -> None:
    script = tmp_path / "repro.py"
    arguments = (
        "--rule",
        "dtype",
        "--accelerator",
        "mock",
        "--artifacts",
        "off",
        "--format",
        "json",
        "-o",
        str(script),
    )
    ran = real("repro", f"{model}::Model", *arguments)
    document = json.loads(ran.out)
    assert ran.code == 0, ran.err
    assert document["verified"] is True
    assert document["schema"] == 1
    assert document["script"] == str(script)
    assert document["nodes_after"] == 1 < document["nodes_before"]
    assert "model.py:7" in script.read_text(encoding="utf-8")


@pytest.mark.torch
def test_what_is_not_there_is_told_and_is_no_success(real: Command, model: Path) -> None:
    ran = real("repro", str(model), "--rule", "layout")
    assert ran.code == 1
    assert "does not reproduce" in ran.err
    assert not ran.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing.py"], "missing.py does not exist"),
        (["{model}", "-o", "/nowhere/at/all/x.py"], "does not exist"),
        (["{model}", "--accelerator", "nonsense"], "nonsense"),
        (["{model}", "--rule", "dtyp"], "unknown rule 'dtyp'; did you mean 'dtype'?"),
    ],
)
def test_bad_usage_is_told_before_anything_runs(command: Command, model: Path, words: list[str], said: str) -> None:
    ran = command("repro", *(word.format(model=model) for word in words))
    assert ran.code == 2
    assert said in ran.err
