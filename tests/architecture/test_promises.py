"""Versions that are promised are the same wherever they are promised, and installing the tool leaves torch alone."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.system import tried_versions
from inductor_debug.system.tried_versions import PYTHON, TORCH, remark_on

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_installing_the_tool_can_never_change_a_torch() -> None:
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["models"]]
    assert [name for name in needed if re.match(r"torch\b", name)] == []
    assert PROJECT["optional-dependencies"]["torch"] == [f"torch>={TORCH[0]}"]


def test_python_has_no_upper_bound_and_the_tried_ones_are_classified() -> None:
    assert PROJECT["requires-python"] == f">={PYTHON[0]}"
    named = [entry.rpartition(" ")[2] for entry in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", entry)]
    assert named == list(PYTHON)


def test_the_system_that_is_promised_is_the_one_that_was_tried() -> None:
    systems = [entry for entry in PROJECT["classifiers"] if entry.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]
    seen = (ROOT / "docs" / "tried.md").read_text(encoding="utf-8")
    assert "| macOS, Windows | never;" in seen


def test_readme_promises_what_is_tried() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"your torch ({TORCH[0]} to {TORCH[-1]})" in readme
    assert f"a Python from {PYTHON[0]} to {PYTHON[-1]}" in readme
    questions = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
    assert f"torch {TORCH[0]} to {TORCH[-1]} and Python {PYTHON[0]} to {PYTHON[-1]} are tried" in questions
    extension = (ROOT / "vscode-extension" / "README.md").read_text(encoding="utf-8")
    assert f"needs torch {TORCH[0]} to {TORCH[-1]} and nothing else" in extension


def test_the_extension_installs_a_torch_that_was_tried() -> None:
    text = (ROOT / "vscode-extension" / "src" / "setup" / "chooseInterpreter.ts").read_text(encoding="utf-8")
    major, minor = TORCH[-1].split(".")
    assert f'REQUIREMENT = "torch>={TORCH[0]},<{major}.{int(minor) + 1}";' in text


def test_the_matrix_reads_its_versions_from_the_tool() -> None:
    assert "tried_versions.py" in (ROOT / "noxfile.py").read_text(encoding="utf-8")
    paths = re.findall(r'^    "(tests/[^"]+)",$', (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("torch", "python", "said"),
    [
        (f"{TORCH[0]}.0", f"{PYTHON[0]}.1", None),
        (f"{TORCH[-1]}.3+cu130", f"{PYTHON[-1]}.1", None),
        (None, None, None),
        ("unknown", "", None),
        ("2.10.0", "3.11.2", "torch 2.10.0 is older than any"),
        ("2.99.0a0+git1234567", "3.11.2", "torch 2.99.0a0+git1234567 is newer than any"),
        ("3.0.0", "3.99.0", "torch 3.0.0 is newer than any"),
        ("2.13.0", "3.99.0", "Python 3.99.0 is newer than any"),
        ("2.13.0", "3.13.0", "Python 3.13.0 lets torch miss attributes of a model that have changed"),
    ],
)
def test_an_untried_or_faulty_version_is_remarked_on(torch: str | None, python: str | None, said: str | None) -> None:
    remark = remark_on(torch, python)
    assert remark is None if said is None else (remark or "").startswith(said)


def test_versions_are_in_order() -> None:
    for versions in (TORCH, PYTHON):
        assert list(versions) == sorted(versions, key=lambda version: tuple(map(int, version.split("."))))
    assert tried_versions.remark_on(metadata.version("torch"), None) is None, (
        "we are developed with a torch that is tried"
    )
