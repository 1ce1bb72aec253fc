"""Which files go to a cluster, and how they arrive."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pathspec")

from inductor_debug.cluster import workspaces
from inductor_debug.cluster.workspaces import WorkspaceError, files_of, pack, unpacked


def nothing(path: str) -> bool:
    return False


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "model.py": "import helper",
        "helper.py": "",
        "data/config.json": "{}",
        "data/big.bin": "x",
        "data/keep.bin": "x",
        "data/.gitignore": "*.bin\n!keep.bin\n",
        ".gitignore": "/build/\n*.log\n",
        "build/out.py": "",
        "run.log": "",
        ".env": "SECRET=1",
        ".git/config": "",
        "venv3/pyvenv.cfg": "",
        "venv3/lib.py": "",
        "tests/test_model.py": "",
    }
    for name, text in files.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "project"


def test_what_git_ignores_what_is_hidden_and_what_is_excluded_stays_here(project: Path) -> None:
    found = files_of(str(project), lambda path: path.endswith("tests"))
    names = sorted(str(Path(path).relative_to(project)) for path in found)
    assert names == ["data/config.json", "data/keep.bin", "helper.py", "model.py"]


def test_a_file_that_is_named_goes_whatever_is_ignored(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text("")
    packed = pack(str(project), nothing, [str(project / "build" / "out.py"), str(elsewhere)])
    there = unpacked_below(packed, tmp_path)
    assert (there / "build" / "out.py").is_file()
    assert not (there / "elsewhere.py").exists()


def test_the_digest_is_of_contents_alone_and_they_are_unpacked_once(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    packed = pack(str(project), nothing, [])
    (project / "model.py").touch()
    assert pack(str(project), nothing, []) == packed
    folder = unpacked(packed.digest, packed.archive)
    assert (folder / "model.py").read_text() == "import helper"
    assert unpacked(packed.digest, b"not looked at again") == folder
    assert [path.name for path in folder.parent.iterdir()] == [packed.digest]
    (project / "model.py").write_text("changed")
    assert pack(str(project), nothing, []).digest != packed.digest


def test_a_workspace_that_is_too_big_is_refused_with_what_to_do(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspaces, "MOST_BYTES", 3)
    with pytest.raises(WorkspaceError, match="--shared"):
        pack(str(project), nothing, [])
    monkeypatch.undo()
    monkeypatch.setattr(workspaces, "MOST_FILES", 2)
    with pytest.raises(WorkspaceError, match="gitignore"):
        pack(str(project), nothing, [])


def unpacked_below(packed: workspaces.Workspace, folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        return unpacked(packed.digest, packed.archive)
