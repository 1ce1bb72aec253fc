"""Which files a folder means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from inductor_debug.cli.support.file_arguments import FolderFile, PathError, collect


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "b.py", "a.py", "notes.txt", ".hidden.py", "pkg/z.py", "pkg/deep/y.py", ".git/hook.py", ".venv/x.py",
        "node_modules/n.py", "pkg/__pycache__/c.py", "env/pyvenv.cfg", "env/lib/m.py", "lib/site-packages/s.py",
        "with space/ü.py", "build/lib/b.py", "build/lib.linux-x86_64-3.10/b.py",
    ):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nothing(path: str) -> bool:
    return False


def shown(candidates: list[FolderFile]) -> list[str]:
    return [candidate.shown for candidate in candidates]


def test_a_folder_means_its_python_files_without_other_peoples(tree: Path) -> None:
    found = collect(["."], nothing)
    assert shown(found) == ["a.py", "b.py", "pkg/z.py", "pkg/deep/y.py", "with space/ü.py"]
    assert found[0] == FolderFile("a.py", str(tree / "a.py"), str(tree))


def test_paths_are_shown_as_given(tree: Path) -> None:
    assert shown(collect(["pkg", str(tree / "b.py"), "./a.py"], nothing)) == [
        "pkg/z.py", "pkg/deep/y.py", str(tree / "b.py"), "./a.py",
    ]  # fmt: skip


def test_a_named_file_is_taken_whatever_it_is(tree: Path) -> None:
    everything = collect(["notes.txt", ".git/hook.py", ".hidden.py"], lambda path: True)
    assert shown(everything) == ["notes.txt", ".git/hook.py", ".hidden.py"]
    assert all(candidate.explicit for candidate in everything)


def test_excluded_files_and_folders_are_left_out(tree: Path) -> None:
    assert shown(collect(["."], lambda path: path.endswith(("b.py", "pkg")))) == ["a.py", "with space/ü.py"]


def test_a_file_is_checked_once_and_as_named_if_it_is_named(tree: Path) -> None:
    os.symlink(tree / "a.py", tree / "pkg" / "link.py")
    found = collect([".", "a.py", "a.py", "pkg/link.py"], nothing)
    assert shown(found).count("a.py") == 1
    assert "pkg/link.py" not in shown(found)
    assert next(candidate for candidate in found if candidate.shown == "a.py").explicit


def test_links_to_folders_are_not_followed(tree: Path) -> None:
    os.symlink(tree, tree / "pkg" / "loop")
    assert len(collect(["."], nothing)) == 5


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["gone.py"], "gone.py does not exist"),
        (["a.py", "gone", "lost"], "gone does not exist; lost does not exist"),
        (["dangling.py"], "dangling.py is a link that leads nowhere"),
        (["pipe"], "pipe is neither a file nor a folder"),
        ([""], "an empty path"),
    ],
)
def test_paths_that_lead_nowhere_are_named(tree: Path, paths: list[str], message: str) -> None:
    os.symlink("nowhere", "dangling.py")
    os.mkfifo("pipe")
    with pytest.raises(PathError) as caught:
        collect(paths, nothing)
    assert str(caught.value) == message


def test_a_folder_that_cannot_be_read_is_a_problem_of_its_own(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    problems = [candidate for candidate in collect(["."], nothing) if candidate.problem]
    assert [(candidate.shown, candidate.problem) for candidate in problems] == [("pkg/deep", "Permission denied")]
