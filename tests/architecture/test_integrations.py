"""What other tools run of ours: the examples of docs/ci.md, the hooks and the action are run as those run them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import needed
import pytest

ROOT = Path(__file__).resolve().parents[2]
CI_PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", CI_PAGE, re.DOTALL)
TOOL = str(Path(sys.executable).with_name("inductor-debug"))
MODEL = "import torch\n\n\n# inductor-debug: inputs=(torch.randn(4),)\ndef f(x):\n    print(x)\n    return x.sin()\n"
SET_UP = "from setuptools import setup\n\nsetup(name='x', cmdclass={})\n"


def read(text: str) -> Any:
    return needed.library("yaml").safe_load(text)


def action() -> Any:
    return read((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a model whose graph breaks, and a set-up file that must not run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    (folder / "setup.py").write_text(SET_UP, encoding="utf-8")
    return folder


@pytest.mark.torch
def test_a_hook_checks_of_the_files_of_a_commit_those_with_models(project: Path) -> None:
    hooks = {hook["id"]: hook for hook in read((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    [repository] = next(read(text)["repos"] for text in EXAMPLES if "repos:" in text)
    assert [hook["id"] for hook in repository["hooks"]] == ["inductor-debug"]
    assert f"`id: {next(name for name, hook in hooks.items() if hook['language'] == 'system')}`" in CI_PAGE
    said = [str(word).replace(".venv/bin/python", sys.executable) for word in repository["hooks"][0]["args"]]
    assert hooks["inductor-debug"]["args"] == repository["hooks"][0]["args"]
    command = shlex.split(hooks["inductor-debug"]["entry"])
    assert command == shlex.split(hooks["inductor-debug-installed"]["entry"])
    words = [TOOL, *command[1:], *said, "model.py", "setup.py"]
    ran = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr
    assert "model.py:6:5: warning[graph-break]" in ran.stdout
    assert "1 file not opened: 1 set-up" in ran.stdout


@pytest.mark.torch
@pytest.mark.skipif(sys.platform == "win32", reason="the step is a script for bash")
def test_the_action_shows_findings_and_hands_their_file_on(project: Path, tmp_path: Path) -> None:
    check = next(step for step in action()["runs"]["steps"] if step.get("id") == "check")
    outputs, sarif = tmp_path / "outputs", tmp_path / "findings.sarif"
    given = {"PATHS": ".", "ARGUMENTS": "\n--accelerator=mock\n", "PYTHON": sys.executable, "ANNOTATIONS": "true"}
    assert given.keys() | {"TOOL", "SARIF"} == check["env"].keys()
    environment = {**os.environ, **given, "TOOL": TOOL, "SARIF": str(sarif), "GITHUB_OUTPUT": str(outputs)}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", check["run"]]
    ran = subprocess.run(script, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "::warning file=model.py,line=6" in ran.stdout
    assert outputs.read_text(encoding="utf-8").split() == ["code=1", f"sarif={sarif}"]
    assert '"ruleId": "graph-break"' in sarif.read_text(encoding="utf-8")
    last = action()["runs"]["steps"][-1]
    code = subprocess.run(["bash", "-c", last["run"]], env={**os.environ, "CODE": "1"}, check=False).returncode
    assert code == 1


def test_the_examples_give_the_action_what_it_takes() -> None:
    workflow = next(read(text) for text in EXAMPLES if "jobs:" in text)
    used = [step for step in workflow["jobs"]["check"]["steps"] if "inductor-debug" in step.get("uses", "")]
    assert used[0]["with"].keys() <= action()["inputs"].keys()


def test_what_the_action_uses_is_pinned_and_no_input_is_put_into_a_script() -> None:
    for step in action()["runs"]["steps"]:
        assert re.search(r"@[0-9a-f]{40}$", step.get("uses", "@" + "0" * 40))
        assert "${{" not in step.get("run", "")
