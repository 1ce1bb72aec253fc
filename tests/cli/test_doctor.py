"""`doctor` says what there is, what is missing, and what to do; completion and the manual page are of all commands."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Command
from inductor_debug.cli.support import health
from inductor_debug.cli.support.health import Doctor, Health, HealthLine
from inductor_debug.cli.support.manual_page import manual_page
from inductor_debug.cli.support.subcommands import COMMANDS
from inductor_debug.engine.pool.interpreter_facts import InterpreterFacts
from inductor_debug.engine.settings.settings_ladder import SettingsResolver


def said(monkeypatch: pytest.MonkeyPatch, python: str = "3.12.1", **packages: str) -> dict[str, HealthLine]:
    """What is said of an interpreter with these packages, on a machine with no program but `nvim`."""
    monkeypatch.setattr(health, "facts_of", lambda path, names: InterpreterFacts("python", python, packages))
    found = Doctor(SettingsResolver(environ={}), "/", find={"nvim": "/usr/bin/nvim"}.get).lines()
    return {line.name: line for line in found}


@pytest.mark.torch
def test_an_environment_like_ours_is_well(command: Command) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "inductor_debug", "doctor", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = {line["name"]: line for line in json.loads(ran.stdout)["lines"]}
    assert ran.returncode == 0, lines
    assert lines["check"]["found"] == "a small model was checked"
    assert lines["torch"]["health"] == lines["interpreter"]["health"] == "ok"
    assert len(lines) == 10


def test_without_torch_it_says_how_to_get_one_and_ends_with_2(command: Command, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    python = bare / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ran = command("doctor", "--python", str(python))
    assert ran.code == 2
    assert "broken  torch        not in that interpreter\n" in ran.out
    assert "-m pip install torch, or --python PATH" in ran.out
    assert " check " not in ran.out


def test_a_torch_that_cannot_be_imported_is_told_as_such_and_of_no_line(command: Command, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    python = bare / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.run([python, "-c", where], capture_output=True, text=True, check=True).stdout.strip())
    for name, text in {
        "torch/__init__.py": "raise ImportError('libcudnn.so.9: cannot open shared object file')",
        "torch-2.13.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n",
    }.items():
        (packages / name).parent.mkdir()
        (packages / name).write_text(text, encoding="utf-8")
    ran = command("doctor", "--python", str(python))
    assert ran.code == 2
    assert "broken  check        torch cannot be imported in " in ran.out
    assert "libcudnn.so.9: cannot open shared object file" in ran.out
    assert f'→ {python} -c "import torch" says more' in ran.out


def test_an_interpreter_that_is_not_there_is_the_end(command: Command) -> None:
    ran = command("doctor", "--python", "./nowhere/python")
    assert ran.code == 2
    assert "broken  interpreter  there is no " in ran.out
    assert " torch " not in ran.out


def test_what_is_too_old_or_was_never_tried_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    old = said(monkeypatch, python="3.8.2", torch="2.13.0")
    assert (old["interpreter"].health, old["interpreter"].do) == (Health.BROKEN, "Python 3.10 or newer is needed")
    assert "check" not in old
    new = said(monkeypatch, python="3.9.0", torch="2.99.0")
    assert "newer than any that inductor-debug was tried with" in new["torch"].do


def test_what_may_be_missing_is_no_failure_and_says_what_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = said(monkeypatch, numpy="2.0")
    assert (lines["C++"].health, lines["triton"].health) == (Health.ABSENT, Health.ABSENT)
    assert lines["libraries"].found == "numpy 2.0"
    assert 'pip install "inductor-debug[plots]" brings matplotlib' in lines["libraries"].do


def test_settings_that_cannot_be_used_are_the_first_thing_that_is_told(command: Command, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.inductor-debug]\nstages = 3\n", encoding="utf-8")
    ran = command("doctor")
    assert ran.code == 2
    assert "broken  settings " in ran.out
    assert "→ mend it" in ran.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_completion_knows_every_command(command: Command, shell: str) -> None:
    ran = command("completion", shell)
    assert ran.code == 0
    assert [name for name in COMMANDS if name not in ran.out] == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_options_values_and_files(command: Command, project: Path) -> None:
    (project / "model.py").touch()
    script = (
        command("completion", "bash").out
        + """
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _shtab_inductor_debug; echo "${COMPREPLY[@]}"; }
try inductor-debug comp; try inductor-debug check --fo; try inductor-debug check --format s; try inductor-debug diff mo
"""
    )
    ran = subprocess.run(["bash", "-c", script], cwd=project, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["compare-accelerators completion", "--follow-main --format", "sarif", "model.py"]


def test_the_manual_page_names_every_command_and_is_one_for_groff(tmp_path: Path) -> None:
    page = manual_page()
    assert [name for name in COMMANDS if f".B {name}".replace("-", "\\-") not in page] == []
    assert ".SH EXIT CODES\n" in page
    if (groff := shutil.which("groff")) is not None:
        ran = subprocess.run([groff, "-man", "-ww", "-z"], input=page, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
