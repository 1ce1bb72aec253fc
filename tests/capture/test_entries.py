"""An expression builds what the file does not offer by itself, and is told where it gives nothing to check."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import Job, analyze
from inductor_debug.source.directives import read_directives
from inductor_debug_schema import FileStatus, Stage

pytestmark = pytest.mark.torch

TEXT = """
from dataclasses import dataclass
import torch

@dataclass
class Config:
    width: int

class Net(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width = config.width * 1
        self.linear = torch.nn.Linear(self.width, 4)

    def forward(self, x):
        return self.linear(x.double())

def build(config):
    assert isinstance(config, Config)
    return Net(config)

def pair():
    return build(Config(8)), (torch.ones(3, 9),)
"""


def job_of(tmp_path: Path, *entries: str, text: str = TEXT) -> Job:
    return analyze(tmp_path / "model.py", text, stages=(Stage.PREVIEW, Stage.MOCK), entries=entries)


def test_a_module_is_given_inputs_by_inference(tmp_path: Path) -> None:
    job = job_of(tmp_path, "build(Config(24))")
    assert job.targets == [("build(Config(24))", "inferred")]
    first = job.stages[0]
    assert first.inferred is not None
    assert first.inferred.inputs == "(torch.randn(2, 24),)"
    assert [job.marked(finding) for finding in job.of("mixed-dtypes")][:1] == ["self.linear(x.double())"]


def test_a_model_with_inputs_is_called_with_those(tmp_path: Path) -> None:
    job = job_of(tmp_path, "pair()", text=TEXT.replace(".double()", ""))
    assert job.targets[0] == ("pair()", "entry")
    assert [finding.message for finding in job.of("capture-error")][:1] == [
        "`self.linear` takes 8 features, `x` [3, 9] has 9"
    ]


def test_a_function_without_parameters_is_a_target(tmp_path: Path) -> None:
    job = job_of(tmp_path, "lambda: build(Config(4))(torch.ones(2, 4))", text=TEXT.replace(".double()", ""))
    assert [state.report.state.value for state in job.stages if "lambda" in state.target] == ["done", "done"]
    assert job.of("capture-error") == []


@pytest.mark.parametrize(
    ("entry", "marked", "words"),
    [
        ("bild(Config(2))", "Config", "`bild` is not defined; did you mean `build`? (in the entry `bild(Config(2))`)"),
        ("Net", "Net", "it gives the class Net, which cannot be called with inputs: write a call of it"),
        ("Config(3)", "Config", "it gives a Config, which cannot be called with inputs: give a module, a function"),
        ("build(3)", "isinstance(config, Config)", "AssertionError (in the entry `build(3)`)"),
    ],
)
def test_what_gives_no_model_is_told_in_the_users_words(tmp_path: Path, entry: str, marked: str, words: str) -> None:
    job = job_of(tmp_path, entry, text=TEXT.replace(".double()", ""))
    [told] = [finding for finding in job.of("capture-error") if finding.target == entry]
    assert words in told.message
    assert marked in job.marked(told)


def test_a_directive_may_stand_above_nothing_and_give_inputs_too(tmp_path: Path) -> None:
    directive = "# inductor-debug: entry=build(Config(24)), inputs=(torch.ones(2, 25),), train\n"
    job = job_of(tmp_path, text=directive + TEXT.replace(".double()", ""))
    assert ("build(Config(24))", "entry") in job.targets
    assert "takes 24 features, `x` [2, 25] has 25" in job.of("capture-error")[0].message


def test_what_a_directive_raises_is_told_at_its_expression(tmp_path: Path) -> None:
    job = job_of(tmp_path, text="# inductor-debug: entry=build(Config())\n" + TEXT)
    [told] = [finding for finding in job.of("capture-error") if finding.target == "build(Config())"]
    assert job.marked(told) == "Config()"
    assert "missing 1 required positional argument: 'width'" in told.message


def test_several_entries_above_one_definition_are_several_targets() -> None:
    text = "# inductor-debug: entry=a()\n# inductor-debug: entry=b()\ndef f(): ...\n# inductor-debug: train\n"
    directives, faults = read_directives(text)
    assert [sorted(directive.arguments) for directive in directives] == [["entry"], ["entry"]]
    assert len(faults) == 1, "what stands above nothing and gives nothing is a mistake"


def test_a_file_that_does_not_load_says_only_that(tmp_path: Path) -> None:
    job = job_of(tmp_path, "build(Config(2))", text="if no_such_name:\n    pass\n" + TEXT)
    assert job.status is FileStatus.FAILED
    assert [finding.rule for finding in job.findings] == ["capture-error"]


def test_a_class_with_a_scripted_part_is_never_told_in_names_of_torchs_classes(tmp_path: Path) -> None:
    text = TEXT + "class Outer(Net):\n    def __init__(self):\n        super().__init__(Config(3))\n"
    text += "        self.linear = torch.jit.script(torch.nn.Linear(3, 4))\n"
    job = job_of(tmp_path, text=text)
    assert not any("OrderedDictWrapper" in note for stage in job.stages for note in stage.report.notes)
