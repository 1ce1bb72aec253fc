"""A torch that is newer than any that was tried, and lacks a private name which we look up: what `check` says with it.

The real command, fork servers and workers, and the real torch, which passes for another version and of which our
modules do not find one name at a time. The names are those that the same check looks up (`looked_up.py`); the suite
tries some of them, the nightly run all. Either everything is found that is found otherwise, or the name is told where
it is missed: no model is blamed for it, nothing is passed over in silence, and nobody reads a traceback.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import zygote
from breadth import some_of
from inductor_debug.cli.main import main
from inductor_debug.engine.pool import supervisor
from inductor_debug.engine.pool.launch import WorkerEntry
from looked_up import SEEN, VERSION, WITHOUT

pytestmark = [
    pytest.mark.torch,
    pytest.mark.broad,
    pytest.mark.skipif(sys.platform != "linux", reason="there are zygotes on Linux alone"),
]

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(2, 6, 8),)
class Attention(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.inner = nn.Linear(width, 2 * width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys, values = self.inner(x).chunk(2, dim=-1)
        scores = (x @ keys.transpose(-2, -1)).double()  # float64
        print("attending")  # graph-break
        return scores.softmax(-1).float() @ values


class Wrong(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(17, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x))  # capture-error


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x  # autograd-function


# inductor-debug: inputs=(torch.randn(4, 8),)
class Branching(nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # export, graph-break
            x = Doubled.apply(x)
        return x.sin()
"""
STAGES = "preview,mock,aot,gradients,export"


@dataclass(frozen=True)
class Checked:
    """What a check told: findings by rule and line, notes by target, what is wrong around them, all that is read.

    `whole` are the targets that are said to have been checked.
    """

    findings: frozenset[tuple[str, int]]
    notes: dict[str, str]
    environment: str
    whole: frozenset[str]
    read: str

    def says_of_lacking(self, name: str) -> bool:
        """Whether it is told that the name is missed, and no target where it is counts as checked."""
        word = name.rpartition(".")[2]
        missed = [target for target, notes in self.notes.items() if word in notes]
        return word in self.environment or bool(missed and not self.whole & set(missed))


@pytest.fixture(scope="module")
def bare_torch() -> Iterator[None]:
    """Fork servers that import our modules anew."""
    with zygote.running_alone():
        yield


@pytest.fixture
def check(
    bare_torch: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str, str], Checked]:
    """Checks the model with a variable for the workers."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    entry = partial(
        WorkerEntry,
        script=zygote.FOLDER / "bootstrap.py",
        warm_up="inductor_debug.worker.warm_up:load",
        rehearsal="",
    )
    monkeypatch.setattr(supervisor, "WorkerEntry", entry)

    def checked(variable: str, value: str) -> Checked:
        with monkeypatch.context() as inside:
            inside.setenv(variable, value)
            main(["check", "model.py", "--stages", STAGES, "--no-cache", "--format", "json", "--color", "never"])
        told = capsys.readouterr()
        [file] = json.loads(told.out)["files"]
        return Checked(
            frozenset((found["rule"], found["range"]["start"]["line"]) for found in file["findings"]),
            {target["name"]: _notes(target) for target in file["targets"]},
            " ".join(found["message"] for found in file["findings"] if found["rule"] == "environment"),
            frozenset(target["name"] for target in file["targets"] if target["checked"] == "yes"),
            told.out + told.err,
        )

    return checked


def _notes(target: dict[str, Any]) -> str:
    return " ".join(note for stage in target["stages"] for note in stage["notes"])


def _fault(name: str, told: Checked, otherwise: Checked) -> str:
    """What is wrong with what was told without the name; empty if nothing."""
    if "Traceback" in told.read:
        return "a traceback is shown"
    invented = {(rule, line) for rule, line in told.findings - otherwise.findings if rule != "environment"}
    if invented:
        return f"{sorted(invented)} would not be found with it"
    lines = {line for _, line in told.findings}
    lost = {(rule, line) for rule, line in otherwise.findings if line not in lines}
    if lost and not told.says_of_lacking(name):
        return f"{sorted(lost)} are passed over in silence"
    return ""


def test_a_newer_torch_without_a_name_finds_the_same_or_says_what_it_lacks(
    check: Callable[[str, str], Checked], tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    with_all = check(SEEN, str(seen))
    marked = {
        (rule, number)
        for number, line in enumerate(MODEL.splitlines())
        for rule in line.partition("  # ")[2].split(", ")
        if rule
    }
    assert marked <= with_all.findings
    assert f"torch {VERSION} is newer than any that inductor-debug was tried with" in with_all.read
    names = sorted(set(seen.read_text(encoding="utf-8").split()))
    assert len(names) > 80
    faults = {name: _fault(name, check(WITHOUT, name), with_all) for name in some_of(names, every=24)}
    assert {name: fault for name, fault in faults.items() if fault} == {}
