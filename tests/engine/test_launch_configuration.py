"""The launch configuration that `debug` makes: where it goes, and that nothing of the user's is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from inductor_debug.engine.orders.launch_configuration import (
    LaunchFileError,
    add_configuration,
    launch_configuration,
    workspace_of,
)
from inductor_debug.source.json_with_comments import parsed

THEIRS = """\
{
    // mine
    "version": "0.2.0",
    "configurations": [
        {"name": "Python: tests", "type": "debugpy", "request": "launch", "module": "pytest"}, // often
    ]
}
"""


def configuration(root: Path, target: str = "Net") -> dict[str, object]:
    script = root / "debug_artifacts" / "debug" / target / "run.py"
    return launch_configuration(target, str(script), "/venv/bin/python", str(root))


def test_what_is_there_keeps_every_character(tmp_path: Path) -> None:
    file = tmp_path / ".vscode" / "launch.json"
    file.parent.mkdir()
    file.write_text(THEIRS, encoding="utf-8")
    file.chmod(0o640)
    assert add_configuration(str(tmp_path), configuration(tmp_path)) == (str(file), True)
    text = file.read_text(encoding="utf-8")
    known = parsed(text)["configurations"]
    assert [one["name"] for one in known] == ["Python: tests", "Net"]
    assert known[1]["program"] == "${workspaceFolder}/debug_artifacts/debug/Net/run.py"
    added = text[text.index(',\n        {\n            "name": "Net"') : text.index("}, // often") + 1]
    assert text.replace(added, "") == THEIRS
    assert all(line in text for line in ("// mine", "// often"))
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["launch.json"]


def test_a_configuration_of_the_same_script_stays_as_its_user_made_it(tmp_path: Path) -> None:
    path, changed = add_configuration(str(tmp_path), configuration(tmp_path))
    assert changed
    edited = Path(path).read_text(encoding="utf-8").replace('"justMyCode": true', '"justMyCode": false')
    Path(path).write_text(edited, encoding="utf-8")
    assert add_configuration(str(tmp_path), configuration(tmp_path)) == (path, False)
    assert Path(path).read_text(encoding="utf-8") == edited
    assert add_configuration(str(tmp_path), configuration(tmp_path, "Other"))[1]
    assert len(json.loads(Path(path).read_text(encoding="utf-8"))["configurations"]) == 2


@pytest.mark.parametrize("text", [b'{"configurations": [', b'{"configurations": "none"}', b"\xff\xfe{"])
def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / ".vscode" / "launch.json"
    file.parent.mkdir()
    file.write_bytes(text)
    with pytest.raises(LaunchFileError, match="cannot be read, so it was left as it is"):
        add_configuration(str(tmp_path), configuration(tmp_path))
    assert file.read_bytes() == text


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "launch.json"
    real.parent.mkdir()
    real.write_text(THEIRS, encoding="utf-8")
    (tmp_path / ".vscode").mkdir()
    os.symlink(real, tmp_path / ".vscode" / "launch.json")
    add_configuration(str(tmp_path), configuration(tmp_path))
    assert (tmp_path / ".vscode" / "launch.json").is_symlink()
    assert len(parsed(real.read_text(encoding="utf-8"))["configurations"]) == 2


def test_the_workspace_is_the_nearest_folder_that_vs_code_knows(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "package"
    inner.mkdir(parents=True)
    file, project = str(inner / "model.py"), str(tmp_path / "project")
    assert workspace_of(file, project) == project
    (inner / ".vscode").mkdir()
    assert workspace_of(file, project) == str(inner)
    (tmp_path / ".vscode").mkdir()
    (inner / ".vscode").rmdir()
    assert workspace_of(file, project) == project
