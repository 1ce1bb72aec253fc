"""Attributes that nothing sets are told where they are read, also in code that did not run; never a dynamic one."""

from __future__ import annotations

from pathlib import Path

import pytest
from inductor_debug.capture.session import analyze
from inductor_debug_schema import Event, Finding, Finished, JobRequest, Severity, Stage, StageFinished, UnknownName

pytestmark = pytest.mark.torch

MODEL = """
from torch import nn

class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.1)

class Net(Base):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)

    def forward(self, x, flag=False):
        if flag:
            x = self.READ(x)
        return self.head(self.dropout(x))
"""

SILENT = {
    # what: (what is replaced in MODEL, by what)
    "set by a base": ("self.READ", "self.dropout"),
    "of nn.Module": ("self.READ(x)", "x if self.training else x"),
    "declared": ("class Net(Base):", "class Net(Base):\n    READ: nn.Module"),
    "set by a subclass": (
        "        return self.head",
        "        return self.head(x)\n\nclass Child(Net):\n    def __init__(self):\n        super().__init__()\n"
        "        self.READ = nn.ReLU()\n        assert self.head, lambda x: 0 or",
    ),
    "set from outside": (
        "        return self.head",
        "        return self.head(x)\n\ndef prepare(net):\n    net.READ = print",
    ),
    "asked for first": ("if flag:", 'if hasattr(self, "READ"):'),
    "caught": (
        "            x = self.READ(x)",
        "            try:\n                x = self.READ(x)\n            except AttributeError:\n                pass",
    ),
    "computed": ("self.head =", "setattr(self, f'RE{1}', 2)\n        self.head ="),
    "registered": ("self.head =", "self.register_module('READ', None)\n        self.head ="),
    "added by computed names": (
        "self.head =",
        "for i in range(2):\n            self.add_module(str(i), nn.ReLU())\n        self.head =",
    ),
    "written into its table": ("self.head =", "self._modules[str(2)] = nn.ReLU()\n        self.head ="),
    "in its dictionary": ("self.head =", "self.__dict__.update(READ=1)\n        self.head ="),
    "answered for": (
        "    def forward",
        "    def __getattr__(self, name):\n        return super().__getattr__(name)\n\n    def forward",
    ),
    "of another object": ("x = self.READ(x)", "x = (lambda self: self.READ)(x)"),
    "of a class inside": (
        "x = self.READ(x)",
        "\n            class Inner:\n                def run(self):\n                    return self.READ",
    ),
    "deleted": ("x = self.READ(x)", "del self.READ"),
}


def told(tmp_path: Path, text: str) -> list[Finding]:
    path = tmp_path / "model.py"
    path.write_text(text, encoding="utf-8")
    events: list[Event] = []
    analyze(JobRequest(1, str(path), text, str(tmp_path), [Stage.PREVIEW], {"name": "none"}), events.append)
    found = [item for event in events if isinstance(event, StageFinished | Finished) for item in event.findings]
    return [item for item in found if item.rule in ("missing-attribute", "capture-error")]


@pytest.mark.parametrize("what", SILENT)
def test_what_may_be_there_is_not_told(what: str, tmp_path: Path) -> None:
    assert told(tmp_path, MODEL.replace(*SILENT[what])) == []


def test_a_name_in_a_branch_that_did_not_run_is_told_with_the_nearest(tmp_path: Path) -> None:
    text = MODEL.replace("READ", "droput")
    (finding,) = told(tmp_path, text)
    assert (finding.rule, finding.severity) == ("missing-attribute", Severity.WARNING)
    assert finding.message == "`Net` has no `droput`; did you mean `dropout`?"
    assert finding.facts == UnknownName("droput", "Net", "dropout")
    line = text.splitlines()[finding.range.start.line]
    assert line[finding.range.start.character : finding.range.end.character] == "self.droput"


def test_a_name_that_is_like_no_other_is_told_too(tmp_path: Path) -> None:
    (finding,) = told(tmp_path, MODEL)
    assert finding.message == "`Net` has no `READ`: nothing sets it."


def test_a_name_that_another_class_sets_on_its_own_objects_is_told(tmp_path: Path) -> None:
    other = "\nclass Other(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.READ = 1\n"
    assert [item.rule for item in told(tmp_path, MODEL + other)] == ["missing-attribute"]
    ran = told(tmp_path, MODEL.replace("if flag", "if True") + other)
    assert [(item.rule, item.severity) for item in ran] == [("capture-error", Severity.ERROR)]


def test_what_ran_into_it_is_told_once(tmp_path: Path) -> None:
    assert [item.rule for item in told(tmp_path, MODEL.replace("if flag", "if True"))] == ["capture-error"]


def test_a_name_that_another_file_of_the_project_knows_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("def train(net):\n    net.READ = print\n", encoding="utf-8")
    assert told(tmp_path, MODEL) == []
