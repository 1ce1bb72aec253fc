"""What a listed test and any other one do to the exit status of a run, in runs of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CONFTEST = """
import quarantine

def pytest_collection_modifyitems(items):
    quarantine.mark(items, {"test_some.py::test_unsteady": "waits for the moon"})
"""


@pytest.mark.parametrize(("other", "status"), [("pass", 0), ("assert 1 == 2", 1)])
def test_a_listed_test_alone_does_not_fail_the_run(tmp_path: Path, other: str, status: int) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(
        f"def test_unsteady():\n    assert not 'moon'\n\ndef test_other():\n    {other}\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-rx", "-p", "no:cacheprovider", str(tmp_path)]
    run = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(TESTS)}, capture_output=True, text=True, check=False
    )
    assert "XFAIL test_some.py::test_unsteady - waits for the moon" in run.stdout
    assert run.returncode == status
