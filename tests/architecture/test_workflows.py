"""What CI runs exists: scripts, paths, sessions and versions; and no workflow may do more than it has to."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import needed
import pytest
from inductor_debug.system.tried_versions import PYTHON, TORCH

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
SCRIPTS = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["scripts"]
PINNED = re.compile(r"uses: (?:\./\S+|[\w./-]+@[0-9a-f]{40} # v[\d.]+)$")
PROGRAMS = {"npm", "npx", "node", "pipx", "gh", "mkdir", "cp", "sudo", "apt-get", "nvim", "hx"}
"""What steps may start; the machines of CI have them or a step before brings them."""


def read(path: Path) -> dict[Any, Any]:
    document: dict[Any, Any] = needed.library("yaml").safe_load(path.read_text(encoding="utf-8"))
    return document


def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


def commands(text: str) -> list[list[str]]:
    """The commands of a step, each as its words."""
    return [shlex.split(part) for line in text.splitlines() for part in line.split("&&") if part.strip()]


def test_there_are_the_workflows_that_the_project_promises() -> None:
    assert [path.stem for path in WORKFLOWS] == ["nightly", "release", "security", "tests"]


@pytest.mark.parametrize("path", sorted(GITHUB.rglob("*.yml")), ids=lambda path: path.name)
def test_every_file_of_yaml_parses(path: Path) -> None:
    assert read(path)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_only_what_its_jobs_say(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert "permissions" in job, name
        assert "uses" in job or "timeout-minutes" in job, name
    uses = [
        line.strip().removeprefix("- ") for line in path.read_text(encoding="utf-8").splitlines() if "uses:" in line
    ]
    assert [line for line in uses if PINNED.match(line) is None] == []
    for step in steps(workflow):
        if "checkout@" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False
        assert "${{" not in step.get("run", ""), "what comes from outside goes through the environment"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_command_of_a_workflow_exists(path: Path) -> None:
    for step in steps(read(path)):
        for words in commands(step.get("run", "")):
            assert words[0] in PROGRAMS, words
            if words[0] == "node":
                assert (ROOT / words[1]).is_file(), words
            if words[0] == "npm" and words[1] == "run":
                assert words[2] in SCRIPTS, words
            if words[:2] == ["npx", "vsce"]:
                extension = json.loads((ROOT / "vscode-extension" / "package.json").read_text(encoding="utf-8"))
                assert "@vscode/vsce" in extension["devDependencies"]


def test_what_is_released_is_what_was_tested() -> None:
    jobs = read(GITHUB / "workflows" / "tests.yml")["jobs"]
    tested = {
        (name, variable): step["env"][variable]
        for name, job in jobs.items()
        for step in job["steps"]
        for variable in ("INDUCTOR_DEBUG_VSIX", "INDUCTOR_DEBUG_WHEEL")
        if variable in step.get("env", {})
    }
    wheels = dict.fromkeys([(name, "INDUCTOR_DEBUG_WHEEL") for name in ("contract", "apart", "transformers")], "dist")
    assert tested == {("suite", "INDUCTOR_DEBUG_VSIX"): "dist/inductor-debug.vsix", **wheels}
    for name, _ in tested:
        assert jobs[name]["needs"] == "packages"
        [brought] = [step for step in jobs[name]["steps"] if "download-artifact@" in step.get("uses", "")]
        assert brought["with"] == {"name": "packages", "path": "dist"}
    assert read(GITHUB / "workflows" / "release.yml")["jobs"]["describe"]["needs"] == "tests"


def test_a_night_has_the_editors_without_which_their_tests_are_skipped() -> None:
    job = read(GITHUB / "workflows" / "nightly.yml")["jobs"]["editors"]
    words = [words for step in job["steps"] for words in commands(step.get("run", ""))]
    installed = next(line for line in words if line[:2] == ["apt-get", "install"])
    assert {"hx", "neovim"} <= {word.partition("=")[0] for word in installed}
    assert ["npm", "run", "editors"] in words


def contract() -> dict[str, Any]:
    matrix: dict[str, Any] = read(GITHUB / "workflows" / "tests.yml")["jobs"]["contract"]["strategy"]["matrix"]
    return matrix


def test_ci_runs_the_versions_that_are_promised() -> None:
    matrix = contract()
    promised = [row for row in matrix["include"] if not row.get("untried")]
    assert matrix["torch"] == list(TORCH)
    newest = dict(re.findall(r'"(3\.\d+)": "([\d.]+)"', (ROOT / "noxfile.py").read_text(encoding="utf-8")))
    assert all(row["torch"] == newest.get(row["python"], TORCH[-1]) for row in promised)
    assert sorted([*matrix["python"], *(row["python"] for row in promised)]) == sorted(PYTHON)


def test_every_entry_of_the_matrix_is_a_session_of_nox() -> None:
    text = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    [untried] = re.findall(r'^UNTRIED_PYTHON = \("(.+)",\)$', text, re.MULTILINE)
    for row in contract()["include"]:
        assert row["python"] in (*PYTHON, untried)
        assert row["torch"] in TORCH
    sessions = re.findall(r"^def ([a-z]\w+)\(session: nox.Session", text, re.MULTILINE)
    asked = [
        words[words.index("-s") + 1].partition("(")[0]
        for path in WORKFLOWS
        for step in steps(read(path))
        for words in commands(step.get("run", ""))
        if words[:3] == ["npm", "run", "matrix"]
    ]
    assert sorted(set(asked)) == sorted(sessions)


def test_tools_and_systems_that_nobody_has_seen_green_are_marked_so() -> None:
    unseen = [row for row in contract()["include"] if row.get("untried")]
    assert {row["os"].partition("-")[0] for row in unseen} == {"ubuntu", "macos", "windows"}
    assert (
        read(GITHUB / "workflows" / "tests.yml")["jobs"]["contract"]["continue-on-error"]
        == "${{ matrix.untried || false }}"
    )
