"""`inductor-debug demo`: each step is a command, and comes out as its text says; and how it ends otherwise."""

from __future__ import annotations

import builtins
import json
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from commands import Command
from inductor_debug.cli.commands.upkeep import demo
from inductor_debug.cli.support.subcommands import module_of, parser_of
from inductor_debug.engine.pool import supervisor
from inductor_debug.engine.pool.supervisor import WorkerPool

PATIENCE = 300


def terminal(monkeypatch: pytest.MonkeyPatch, answer: BaseException | None = None) -> list[str]:
    """Has somebody sit at a terminal; returns what they are asked."""
    asked: list[str] = []

    def asking(prompt: str) -> str:
        asked.append(prompt)
        if answer is not None:
            raise answer
        return ""

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(builtins, "input", asking)
    return asked


@pytest.mark.torch
def test_every_step_comes_out_as_its_text_says(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(*arguments: Any) -> None:
        raise OSError("the network is not there")

    monkeypatch.setattr(supervisor, "WorkerPool", WorkerPool)
    monkeypatch.setattr(socket, "getaddrinfo", offline)
    monkeypatch.setattr(socket, "create_connection", offline)
    (project / "pyproject.toml").write_text('[tool.inductor-debug]\naccelerator = "spyre"\n')  # is not the demo's
    ran = command("demo", "demo")
    assert ran.code == 0, ran.out + ran.err
    check, fix, compare, blame, reproduce, report = re.split(r"^\d of 6: .*$", ran.out, flags=re.MULTILINE)[1:]
    assert re.findall(r"^model\.py:\d+:\d+: \w+\[([\w-]+)\]", check, flags=re.MULTILINE) == ["float64", "graph-break"]
    assert "weights = scores.double()" in check
    assert "no findings" in fix
    assert ran.err.count("inductor-debug: model.py: fixed: ") == 2
    assert "aot_eager against eager: pass" in compare
    assert "to the last bit" in compare
    assert "device against eager: wrong" in blame
    assert re.findall(r"^blame \d+: (\w+)", blame, flags=re.MULTILINE) == ["gelu"]
    assert "inductor-debug: verified: reproducer.py, " in ran.err
    assert "nodes became 1 (" in ran.err
    model = (project / "demo" / "model.py").read_text(encoding="utf-8")
    assert "double" not in model
    assert "if not torch.compiler.is_compiling():\n            print(" in model
    page = (project / "demo" / "report.html").read_text(encoding="utf-8")
    assert "The back end goes wrong" in page
    assert "--backend dynamo --gradients" in page
    assert all("Look at: " in step for step in (check, fix, compare, blame, reproduce, report))
    assert "torch.compile(failing, backend=device" in (project / "demo" / "reproducer.py").read_text(encoding="utf-8")
    assert Path.cwd() == project


def test_the_steps_are_commands_and_say_everything() -> None:
    document = json.loads((demo.DATA / "steps.json").read_text(encoding="utf-8"))
    assert [step["id"] for step in document["steps"]] == ["check", "fix", "compare", "blame", "reproduce", "report"]
    for step in document["steps"]:
        assert set(step) == {"id", "title", "what", "look", "arguments", "exit", "editor"}
        name = step["arguments"][0]
        parser_of({name: module_of(name)}).parse_args([*step["arguments"], "--python", "python"])
    assert list(demo.all_files()) == ["model.py", "pyproject.toml"]


def test_a_step_that_comes_out_otherwise_ends_it(command: Command, project: Path) -> None:
    ran = command("demo")
    assert ran.code == 2
    assert ran.err.endswith("should have ended with exit code 0, not 1; `inductor-debug doctor` says what is missing\n")
    assert "3 of 6" not in ran.out
    assert Path.cwd() == project


def test_somebody_at_a_terminal_is_waited_for_and_may_leave(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = terminal(monkeypatch, KeyboardInterrupt())
    left = command("demo", "left")
    assert left.code == 130
    assert "2 of 6" not in left.out
    assert asked == ["\nEnter goes on, Ctrl-C ends "]
    asked = terminal(monkeypatch, EOFError())
    assert "2 of 6" in command("demo", "closed").out
    assert len(asked) == 1
    asked = terminal(monkeypatch)
    assert "2 of 6" in command("demo", "quick", "--yes").out
    assert asked == []


def test_what_cannot_be_written_is_said(command: Command, project: Path) -> None:
    (project / "there").mkdir()
    ran = command("demo", "there")
    assert ran.code == 2
    assert ran.err == "inductor-debug: error: there is there already: name another folder, which will be made\n"
    (project / "file").write_text("")
    assert command("demo", "file/below").err == "inductor-debug: error: file/below: Not a directory\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_step_leaves_no_process(project: Path, number: int, code: int) -> None:
    """The first step never ends by itself: its interpreter never gets ready."""
    python = project / "python"
    python.write_text(
        f"#!/bin/sh\necho $$ > {project}/written && mv {project}/written {project}/worker\nexec sleep 600\n"
    )
    python.chmod(0o755)
    command = [sys.executable, "-m", "inductor_debug", "demo", "--python", str(python)]
    process = subprocess.Popen(command, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while process.poll() is None and not (project / "worker").exists():
        time.sleep(0.05)
    worker = psutil.Process(int((project / "worker").read_text()))
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert b"Traceback" not in errors
    assert psutil.wait_procs([worker], timeout=PATIENCE)[1] == []
