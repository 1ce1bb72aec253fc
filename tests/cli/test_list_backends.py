"""`list-backends`: what torch knows in an interpreter, and what some of it lacks there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from commands import Command
from inductor_debug.cli.commands.upkeep import list_backends
from inductor_debug_schema import AdaptersFound
from inductor_debug_schema.compiling.backend_entries import ALL_BACKENDS, BackendEntry, BackendKind

pytestmark = pytest.mark.torch


def test_the_backends_of_torch_are_listed_with_what_they_are_for(command: Command) -> None:
    told = command("list-backends", "--format", "json")
    assert (told.code, told.err) == (0, "")
    document = json.loads(told.out)
    assert (document["schema"], document["interpreter"]) == (1, sys.executable)
    assert document["torch"]
    rows = {row["name"]: row for row in document["backends"]}
    assert (rows["inductor"]["backend_kind"], rows["inductor"]["lacks"]) == ("compiler", "")
    assert rows["aot_eager"]["backend_kind"] == "debug"
    ours = rows["inductor_debug_mock"]
    assert (ours["backend_kind"], ours["distribution"]) == ("debug", "inductor-debug")
    assert (rows["spyre"]["backend_kind"], rows["spyre"]["about"]) == ("accelerator", "its arithmetic, emulated")
    assert all(row["about"] for row in rows.values()), "each is said to be for something"
    assert not [name for name in rows if "TESTING_ONLY" in name]


def test_what_one_lacks_is_told_last_of_its_kind(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(interpreter: str, adapter: str | None) -> AdaptersFound:
        assert adapter == ALL_BACKENDS
        backends = [
            BackendEntry(name="lacking", backend_kind=BackendKind.COMPILER, lacks="the package tvm"),
            BackendEntry(name="theirs", backend_kind=BackendKind.COMPILER, distribution="vendor", version="1.2"),
        ]
        return AdaptersFound(folders=[], adapters=[], backends=backends, torch="2.13.0")

    monkeypatch.setattr(list_backends, "ask_interpreter", answers)
    lines = command("list-backends").out.splitlines()
    assert lines[:5] == [
        "torch 2.13.0",
        "",
        "compilers, for torch.compile(backend=…) and --backend",
        "  theirs   with vendor 1.2",
        "  lacking  NOT HERE: needs the package tvm",
    ]


def test_an_interpreter_that_cannot_be_asked_is_told(command: Command, tmp_path: Path) -> None:
    told = command("list-backends", "--python", str(tmp_path / "nowhere"))
    assert (told.code, told.out) == (2, "")
    assert str(tmp_path / "nowhere") in told.err
