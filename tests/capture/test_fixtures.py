"""Every file in `tests/fixtures` gives the findings that it says it gives, at the very characters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fixture_cases import FIXTURES, all_cases, compare, read_case
from forked import analyze
from torch_release import RELEASE

pytestmark = pytest.mark.torch
OF_ATTRIBUTES = [FIXTURES / "pitfalls" / f"{name}.py" for name in ("changed_between_calls", "state_that_changes")]
"""With Python 3.13.0 (cpython#125608) torch misses that attributes have changed, and computes with what they were."""


@pytest.mark.parametrize("path", all_cases(), ids=lambda path: str(path.relative_to(FIXTURES).with_suffix("")))
def test_the_user_is_told_what_the_file_deserves(path: Path) -> None:
    case = read_case(path)
    if tuple(map(int, case.torch.split("."))) > RELEASE:
        pytest.skip(f"torch before {case.torch} tells this otherwise")
    if sys.version_info[:3] == (3, 13, 0) and path in OF_ATTRIBUTES:
        pytest.skip("Python 3.13.0 lets torch miss changed attributes")
    job = analyze(path, case.text, stages=case.stages, accelerator=case.accelerator)
    compare(case, job)
