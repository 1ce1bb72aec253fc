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
from zygote import COMMAND

ROOT = Path(__file__).resolve().parents[2]
CI_PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", CI_PAGE, re.DOTALL)
INSTALLED = str(Path(sys.executable).with_name("inductor-debug"))
MODEL = "import torch\n\n\n# inductor-debug: inputs=(torch.randn(4),)\ndef f(x):\n    print(x)\n    return x.sin()\n"
WRONG = """from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(9, 2)

    def forward(self, x):
        return self.second(self.first(x))
"""
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


@pytest.fixture
def tool(tmp_path: Path) -> str:
    """`inductor-debug` as a program that starts at once; the hook's test has the one that is installed."""
    path = tmp_path / "tool"
    path.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


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
    words = [INSTALLED, *command[1:], *said, "model.py", "setup.py"]
    ran = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr
    assert "model.py:6:5: warning[graph-break]" in ran.stdout
    assert "1 file not opened: 1 set-up" in ran.stdout


def scripts() -> dict[str, Any]:
    """The steps of the action that are scripts, by what they are called."""
    return {step["name"]: step for step in action()["runs"]["steps"] if "run" in step}


def run_script(name: str, folder: Path, given: dict[str, str]) -> str:
    """What a step of the action says, run as Actions runs scripts."""
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", scripts()[name]["run"]]
    ran = subprocess.run(script, cwd=folder, env={**os.environ, **given}, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def run_step(name: str, folder: Path, given: dict[str, str]) -> tuple[str, dict[str, str]]:
    """What a step says and hands on."""
    assert given.keys() <= scripts()[name]["env"].keys()
    outputs = folder.parent / "outputs"
    outputs.write_text("", encoding="utf-8")
    files = {"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(folder.parent / "summary")}
    said = run_script(name, folder, {**given, **files})
    return said, dict(line.split("=", 1) for line in outputs.read_text(encoding="utf-8").splitlines())


@pytest.mark.torch
@pytest.mark.skipif(sys.platform == "win32", reason="the step is a script for bash")
def test_the_action_shows_findings_and_hands_their_file_on(project: Path, tmp_path: Path, tool: str) -> None:
    sarif = tmp_path / "findings.sarif"
    given = {"PATHS": ".", "ARGUMENTS": "\n--accelerator=mock\n", "PYTHON": sys.executable, "ANNOTATIONS": "true"}
    given |= {"TOOL": tool, "SARIF": str(sarif)}
    assert given.keys() == scripts()["Check the models"]["env"].keys()
    said, outputs = run_step("Check the models", project, given)
    assert "::warning file=model.py,line=6" in said
    assert outputs == {"code": "1", "sarif": str(sarif)}
    assert '"ruleId": "graph-break"' in sarif.read_text(encoding="utf-8")


@pytest.mark.torch
@pytest.mark.skipif(sys.platform == "win32", reason="the steps are scripts for bash")
def test_the_action_says_in_one_comment_what_a_change_does_to_the_models(
    project: Path, tmp_path: Path, tool: str
) -> None:
    (project / "wrong.py").write_text(WRONG, encoding="utf-8")
    given = {"TOOL": tool, "PYTHON": sys.executable, "SURVEY": "model.py\nwrong.py\n\n", "STRICT": "true"}
    _said, before = run_step("Survey the models", project, {**given, "FOLDER": str(tmp_path / "before")})
    assert before["code"] == "1", "what is wrong without an earlier survey fails the job"
    assert "| model.py" in Path(before["table"]).read_text(encoding="utf-8")
    (project / "model.py").write_text(MODEL.replace("    return", "    print(x.sum())\n    return"), encoding="utf-8")
    now = {**given, "FOLDER": str(tmp_path / "now"), "BASELINE": before["survey"]}
    _said, after = run_step("Survey the models", project, now)
    assert after["code"] == "1", "a model got worse, and the job is to fail for that"
    table = Path(after["table"]).read_text(encoding="utf-8")
    assert "worse" in table
    assert (tmp_path / "summary").read_text(encoding="utf-8").endswith(table)

    asked, programs = tmp_path / "asked", tmp_path / "programs"
    programs.mkdir()
    (programs / "gh").write_text(f'#!/bin/sh\necho "$@" >> {asked}\ncase "$*" in *--jq*) echo $THERE;; esac\n')
    (programs / "gh").chmod(0o755)
    for there, expected in (("", "issues/7/comments --field"), ("31", "issues/comments/31 --method PATCH --field")):
        names = {"PATH": f"{programs}:{os.environ['PATH']}", "THERE": there}
        pull = {"TABLE": after["table"], "NUMBER": "7", "REPOSITORY": "owner/name", "GH_TOKEN": "-"}
        run_script("Comment on the pull request", project, {**names, **pull})
        assert asked.read_text(encoding="utf-8").splitlines()[-1].startswith(f"api repos/owner/name/{expected}")
    comment = Path(after["table"] + ".comment").read_text(encoding="utf-8")
    assert comment == f"<!-- inductor-debug: survey -->\n{table}"


@pytest.mark.skipif(sys.platform == "win32", reason="the step is a script for bash")
@pytest.mark.parametrize(("check", "survey", "code"), [("0", "0", 0), ("0", "1", 1), ("1", "0", 1), ("2", "1", 2)])
def test_the_job_ends_with_the_worse_of_check_and_survey(check: str, survey: str, code: int) -> None:
    codes = {"CODE": check, "SURVEYED": survey}
    ran = subprocess.run(["bash", "-c", scripts()["Result"]["run"]], env={**os.environ, **codes}, check=False)
    assert ran.returncode == code


def test_the_examples_give_the_action_what_it_takes() -> None:
    workflows = [read(text) for text in EXAMPLES if "jobs:" in text]
    jobs = [job for workflow in workflows for job in workflow["jobs"].values()]
    used = [step for job in jobs for step in job["steps"] if "inductor-debug" in step.get("uses", "")]
    assert len(used) == 2
    given = {name for step in used for name in step["with"]}
    assert given <= action()["inputs"].keys()
    outputs = set(re.findall(r"steps\.models\.outputs\.(\w+)", CI_PAGE))
    assert outputs <= action()["outputs"].keys()


def test_what_the_action_uses_is_pinned_and_no_input_is_put_into_a_script() -> None:
    for step in action()["runs"]["steps"]:
        assert re.search(r"@[0-9a-f]{40}$", step.get("uses", "@" + "0" * 40))
        assert "${{" not in step.get("run", "")
