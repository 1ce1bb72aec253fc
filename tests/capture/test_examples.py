"""Every example gives the findings that its docstring promises: `examples/*.py` against `tests/fixtures/examples`.

There, `NAME.expected.json` is what everybody is told who compiles the example, `NAME.mock.expected.json` what is told
with the mock accelerator.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from fixture_cases import FIXTURES, Case, compare, read_case
from forked import Job, analyze
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.engine.whatif.accelerators import judged_parts
from inductor_debug.rules.captures.capture_judging import Capture
from inductor_debug_schema import FileStatus, Stage, StageCaptured, StageFinished

pytestmark = pytest.mark.torch

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXPECTED = sorted(path.name.removesuffix(".expected.json") for path in (FIXTURES / "examples").glob("*.json"))
NAMES = [name for name in EXPECTED if "." not in name]


def example(name: str) -> Case:
    return read_case(EXAMPLES / f"{name.partition('.')[0]}.py", FIXTURES / "examples" / f"{name}.expected.json")


def test_every_example_is_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(NAMES)


def judged_for(accelerator: str, job: Job) -> Job:
    """What the captures of a job say for another accelerator."""
    captured = [Capture.of(event) for event in job.events if isinstance(event, StageCaptured)]
    parts = judged_parts(
        {(capture.target, capture.stage): capture for capture in captured}, read_profile(load_document(accelerator))
    )
    events = [
        replace(event, findings=parts[event.target, event.report.stage]) if isinstance(event, StageFinished) else event
        for event in job.events
    ]
    status = FileStatus.FINDINGS if any(parts.values()) else FileStatus.CLEAN
    return Job([*events[:-1], replace(job.finished, status=status)], job.output, job.text, job.path)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_gives_the_findings_that_one_expects_from_reading_it(name: str) -> None:
    """It is captured once: `tests/engine/whatif` holds that a check for each accelerator says the same."""
    compare_captured_once([example(told) for told in EXPECTED if told.partition(".")[0] == name])


def test_of_a_deep_model_a_compilation_says_what_its_preview_says() -> None:
    """With 4 of its 80 layers: they are equal, and Dynamo takes a tenth of a second of processor time for each."""
    deep = [example("llama70b"), example("llama70b.mock")]
    few = deep[0].text.replace("num_hidden_layers=80", "num_hidden_layers=4")
    assert few != deep[0].text
    compare_captured_once([compiled(case) for case in deep], few)


def compiled(case: Case) -> Case:
    """What the mock stage says where it says what the preview does."""
    findings = [replace(item, stages=Stage.MOCK.value) for item in case.findings]
    return replace(case, stages=(Stage.MOCK,), findings=findings)


def compare_captured_once(cases: list[Case], text: str | None = None) -> None:
    """Holds one check of an example, or of `text` in its place, against what is expected for each accelerator."""
    first, *others = cases
    job = analyze(first.path, text, stages=first.stages, accelerator=first.accelerator, keep_captures=True)
    compare(first, job)
    for case in others:
        compare(case, judged_for(case.accelerator, job))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_docstring_of_an_example_names_every_rule_it_breaks(name: str) -> None:
    case = example(name)
    documented = ast.get_docstring(ast.parse(case.text)) or ""
    assert "What to expect" in documented or "should say" in documented
    for item in case.findings:
        assert f"`{item.rule}`" in documented
