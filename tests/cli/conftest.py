"""The `inductor-debug` command in a project of its own, with a fake pool in place of workers."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Command, Ran
from fake_pool import FakePool
from inductor_debug.cli.main import main
from inductor_debug.engine.pool import supervisor


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, where the command is run."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("NO_COLOR", "FORCE_COLOR", "MOCK_STRICT", "MOCK_ALIGNMENT", "MOCK_MAX_MEMORY", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def command(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `inductor-debug` with these words."""
    importlib.import_module("inductor_debug.engine.engine")  # or it would keep the pool of this test as its default
    monkeypatch.setattr(supervisor, "WorkerPool", FakePool)
    monkeypatch.setattr(FakePool, "closed", 0)
    for name in ("started", "requests", "interpreters", "for_one_job"):
        monkeypatch.setattr(FakePool, name, [])

    def run(*words: str) -> Ran:
        try:
            code = main(words)
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def write(project: Path) -> Callable[[str, str], Path]:
    """Writes a file of the project."""

    def write_file(name: str, text: str) -> Path:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write_file
