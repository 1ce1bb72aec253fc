"""Every example gives the findings that its docstring promises: `examples/*.py` against `tests/fixtures/examples`.

There, `NAME.expected.json` is what everybody is told who compiles the example, `NAME.mock.expected.json` what is told
with the mock accelerator.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from fixture_cases import FIXTURES, Case, compare, read_case
from forked import analyze

pytestmark = pytest.mark.torch

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXPECTED = sorted(path.name.removesuffix(".expected.json") for path in (FIXTURES / "examples").glob("*.json"))


def example(name: str) -> Case:
    return read_case(EXAMPLES / f"{name.partition('.')[0]}.py", FIXTURES / "examples" / f"{name}.expected.json")


def test_every_example_is_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {name for name in EXPECTED if "." not in name}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_gives_the_findings_that_one_expects_from_reading_it(name: str) -> None:
    case = example(name)
    job = analyze(case.path, case.text, stages=case.stages, accelerator=case.accelerator)
    compare(case, job)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_docstring_of_an_example_names_every_rule_it_breaks(name: str) -> None:
    case = example(name)
    documented = ast.get_docstring(ast.parse(case.text)) or ""
    assert "What to expect" in documented or "should say" in documented
    for item in case.findings:
        assert f"`{item.rule}`" in documented
