"""A library that is installed and cannot be imported is the environment's fault, not that of the user's first line."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import analyze

pytestmark = pytest.mark.torch


def install(folder: Path, name: str, code: str, requires: str = "") -> Path:
    """A package that is installed with its metadata."""
    site = folder / "lib" / "site-packages"
    (site / name).mkdir(parents=True)
    (site / name / "__init__.py").write_text(code)
    information = site / f"{name}-1.2.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n{requires}")
    return site


@pytest.mark.parametrize(
    "code",
    [
        "raise ImportError('libcudart.so.11.0: cannot open shared object file: No such file or directory')",
        "raise OSError('libcuda.so.1: cannot open shared object file')",
        "raise RuntimeError('operator brokenvision::nms does not exist')",
        "import ctypes\nctypes.CDLL('libnowhere.so')",
    ],
)
def test_a_library_that_cannot_be_imported_is_told_with_what_to_do(tmp_path: Path, code: str) -> None:
    site = install(tmp_path, "brokenvision", code)
    job = analyze(tmp_path / "model.py", f"import sys\nsys.path.insert(0, {str(site)!r})\nimport brokenvision\n")
    (finding,) = job.findings
    assert finding.rule == "environment"
    assert finding.message.startswith("brokenvision 1.2 is installed and cannot be imported: ")
    assert "Install it anew for this Python and torch" in finding.message
    assert job.marked(finding) == "import brokenvision"


def test_a_library_for_another_torch_says_which(tmp_path: Path) -> None:
    site = install(
        tmp_path, "oldvision", "import torch\ntorch.ops.oldvision.nms.default\n", "Requires-Dist: torch==2.1.0\n"
    )
    job = analyze(tmp_path / "model.py", f"import sys\nsys.path.insert(0, {str(site)!r})\nimport oldvision\n")
    (finding,) = job.findings
    assert finding.rule == "environment"
    assert "It was built for torch 2.1.0 and this is" in finding.message


def test_of_libraries_that_import_each_other_the_broken_one_is_named(tmp_path: Path) -> None:
    site = install(tmp_path, "zoo", "import brokenvision\n")
    install(tmp_path / "other", "brokenvision", "raise RuntimeError('operator brokenvision::nms does not exist')")
    paths = [str(site), str(tmp_path / "other" / "lib" / "site-packages")]
    job = analyze(tmp_path / "model.py", f"import sys\nsys.path[:0] = {paths!r}\nimport zoo\n")
    (finding,) = job.findings
    assert finding.rule == "environment"
    assert finding.message.startswith("brokenvision 1.2 is installed and cannot be imported: ")


def test_a_module_that_is_missing_and_a_mistake_of_the_users_are_not(tmp_path: Path) -> None:
    site = install(tmp_path, "needy", "import no_such_module\n")
    start = f"import sys\nsys.path.insert(0, {str(site)!r})\n"
    assert [finding.rule for finding in analyze(tmp_path / "a.py", start + "import needy\n").findings] == [
        "import-error"
    ]
    (tmp_path / "helper.py").write_text("raise ImportError('mine')\n")
    assert [finding.rule for finding in analyze(tmp_path / "b.py", "import helper\n").findings] == ["import-error"]
    (site / "needy" / "__init__.py").write_text("def f(): raise ImportError('later')\n")
    assert [finding.rule for finding in analyze(tmp_path / "c.py", start + "import needy\nneedy.f()\n").findings] == [
        "import-error"
    ]
