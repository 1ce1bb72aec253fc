"""What a page can read: the projects that were named, and nothing beside them, however it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inductor_debug.web.kept_artifacts import KeptArtifacts
from inductor_debug.web.shown_files import shown_files

MODEL = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[tool.inductor-debug]\n")
    (folder / "net.py").write_text(MODEL)
    (folder / "helpers.py").write_text("answer = 42\n")
    (folder / "key.pem").write_text("secret")
    (tmp_path / "outside.py").write_text("secret = 1\n")
    return folder


def test_a_folder_offers_its_models_and_the_sources_around_them(project: Path) -> None:
    shown = shown_files([project])
    assert [file.path.name for file in shown.files.values()] == ["net.py"]
    assert shown.source(str(project / "net.py")) == MODEL
    assert shown.source(str(project / "helpers.py")) == "answer = 42\n"


def test_a_notebook_is_shown_as_its_cells(project: Path) -> None:
    path = project / "net.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": MODEL}]}), encoding="utf-8")
    shown = shown_files([path])
    [file] = shown.files.values()
    assert file.text() == shown.source(str(path))
    assert MODEL in file.text()
    assert file.told()["cells"] == [{"path": str(path), "number": 1, "start": 1, "lines": MODEL.count("\n") + 1}]


def test_a_file_that_was_named_is_shown_whatever_it_holds(project: Path) -> None:
    assert list(shown_files([project / "helpers.py"]).files) == [(project / "helpers.py").as_uri()]


def test_nothing_else_of_the_disk_can_be_read(project: Path) -> None:
    shown = shown_files([project])
    (project / "link.py").symlink_to(project.parent / "outside.py")
    (project / "loop.py").symlink_to(project / "loop.py")
    for path in (
        "",
        "net.py",
        "/etc/passwd",
        str(project / "key.pem"),
        str(project / "missing.py"),
        str(project / ".." / "outside.py"),
        str(project / "link.py"),
        str(project / "loop.py"),
        f"{project}/net.py\0",
        str(project),
    ):
        assert shown.source(path) is None, path


def test_an_artifact_is_read_by_a_name_that_was_told_and_by_no_path(tmp_path: Path) -> None:
    kept = KeptArtifacts()
    (tmp_path / "made").write_bytes(b"graph")
    (tmp_path / "secret").write_bytes(b"secret")
    answer = kept.named({"artifacts": [{"path": str(tmp_path / "made"), "kind": "fx_graphs"}]})
    name = answer["artifacts"][0]["id"]
    assert kept.read(name) == b"graph"
    for other in (str(tmp_path / "secret"), "../secret", "", name[:-1]):
        assert kept.read(other) is None
    (tmp_path / "made").unlink()
    assert kept.read(name) is None
