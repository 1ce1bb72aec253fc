"""Whoever follows CONTRIBUTING.md to the letter gets what it says: its files are made in a copy and run there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import needed
import pytest
from inductor_debug import __version__

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
Run = Callable[..., str]


def block(language: str, path: str) -> str:
    """The first block of a language after a path is named; one that has fences in it has longer ones around it."""
    fenced = re.compile(rf"^(`{{3,}}){language}\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
    match = fenced.search(PAGE, PAGE.index(path))
    assert match is not None
    return match[2]


def shown(command: str) -> list[str]:
    """What the page shows of a command's output, line by line."""
    [block] = [found for found in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) if command in found]
    return [line for line in block.split(command, 1)[1].splitlines()[1:] if line != "…" and not line.startswith("$")]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the tool in which a contributor has made the files of the page."""
    for name in ("daemon", "shared_schema", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    rule = "daemon/inductor_debug/rules/catalog/constraints/full_sort.py"
    fixture = "tests/fixtures/rules/full_sort.py"
    (tmp_path / fixture).parent.mkdir(parents=True)
    (tmp_path / rule).write_text(block("python", f"`{rule}`"), encoding="utf-8")
    (tmp_path / fixture).write_text(block("python", f"`{fixture}`"), encoding="utf-8")
    profile = "daemon/inductor_debug/accelerators/profiles"
    (tmp_path / profile / "tiny.toml").write_text(block("toml", "`tiny.toml`"), encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(clone: Path) -> Run:
    """`inductor-debug` of the copy."""

    def run_words(*words: str) -> str:
        path = os.pathsep.join(str(clone / name) for name in ("daemon", "shared_schema"))
        environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(clone / "cache")}
        command = [sys.executable, "-m", "inductor_debug", *words]
        ran = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode in (0, 1), ran.stdout + ran.stderr
        return ran.stdout

    return run_words


@pytest.mark.torch
def test_the_rule_and_its_fixture_work_as_the_page_shows_them(run: Run) -> None:
    fixture = "tests/fixtures/rules/full_sort.py"
    [line] = shown(f"inductor-debug check {fixture}")
    assert line in run("check", fixture).splitlines()
    assert run("explain", "full-sort").startswith("# full-sort\n\nA whole dimension is sorted.\n")


@pytest.mark.torch
def test_the_profile_works_as_the_page_shows_it(run: Run) -> None:
    [line] = shown("--accelerator tiny")
    assert line in run("check", "examples/tiny_attention.py", "--accelerator", "tiny").splitlines()


def test_links_of_the_pages_for_contributors_lead_somewhere() -> None:
    for name in ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target, part in re.findall(r"\]\((?!https?:)([^)#]+)(?:#([^)]+))?\)", text):
            assert (ROOT / target).exists(), f"{name}: {target}"
            if part:
                headings = re.findall(r"^#+ (.+)$", (ROOT / target).read_text(encoding="utf-8"), re.MULTILINE)
                assert part in [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_the_citation_and_the_changelog_know_the_version() -> None:
    citation: dict[str, Any] = needed.library("yaml").safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert re.search(
        rf"^## {re.escape(__version__)}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )


def test_the_bug_template_asks_for_the_zip_that_the_command_makes() -> None:
    template: dict[str, Any] = needed.library("yaml").safe_load(
        (ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text(encoding="utf-8")
    )
    [report] = [item for item in template["body"] if item.get("id") == "report"]
    assert report["validations"]["required"] is True
    assert "inductor-debug bug-report" in template["body"][0]["attributes"]["value"]
