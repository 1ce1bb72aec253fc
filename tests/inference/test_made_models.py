"""Models that a file makes of classes of others are targets, unless something else in the file has them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug_schema import FileStatus, Stage, StageFinished, StageState

pytestmark = pytest.mark.torch

_LIBRARY = """
import torch
from torch import nn

class Part(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        print("in the library")
        return self.layer(x)

class Model(nn.Module):
    def __init__(self, width, part=None):
        super().__init__()
        self.first, self.part = nn.Linear(width, width), part or Part(width)

    def forward(self, x):
        return self.part(self.first(x).relu())
"""


def checked(folder: Path, text: str, stages: tuple[Stage, ...] = (Stage.PREVIEW,)) -> Job:
    (folder / "library.py").write_text(_LIBRARY)
    return analyze(folder / "script.py", dedent(text), stages=stages, accelerator="none")


def offered(job: Job) -> list[tuple[str, int]]:
    """The targets of a file, each with its line, counted from 1."""
    return [(found.name, found.line + 1) for found in job.loaded.targets]


def test_a_model_of_a_class_of_others_is_a_target(tmp_path: Path) -> None:
    text = """
    from library import Model

    model = Model(16)
    model.eval()
    """
    job = checked(tmp_path, text, (Stage.PREVIEW, Stage.MOCK))
    assert offered(job) == [("model", 4)]
    ends = [event.report.state for event in job.events if isinstance(event, StageFinished)]
    assert ends == [StageState.DONE, StageState.DONE]
    [found] = [finding for finding in job.findings if finding.rule == "graph-break"]
    assert found.target == "model"


def test_what_is_part_of_another_or_has_two_names_is_one_target(tmp_path: Path) -> None:
    text = """
    from library import Model, Part

    part = Part(16)
    network = Model(16, part)
    model = network.eval()
    """
    assert offered(checked(tmp_path, text)) == [("network", 5)]


@pytest.mark.parametrize(
    "made",
    [
        "loss = nn.CrossEntropyLoss()",
        "layer = nn.Linear(4, 4)",
        "parts = nn.ModuleList([nn.Linear(4, 4)])",
        "def build():\n    return Model(16)",
        "scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 4)))",
        "# inductor-debug: off\nmodel = Model(16)",
    ],
)
def test_what_is_no_model_or_not_meant_is_no_target(tmp_path: Path, made: str) -> None:
    job = checked(tmp_path, f"import torch\nfrom torch import nn\nfrom library import Model\n{made}\n")
    assert offered(job) == []
    assert job.status is FileStatus.NO_TARGET


def test_layers_of_torch_in_a_row_are_a_model(tmp_path: Path) -> None:
    text = "from torch import nn\nmodel = nn.Sequential(nn.Linear(8, 4), nn.ReLU())\n"
    assert offered(checked(tmp_path, text)) == [("model", 2)]


def test_what_a_class_of_the_file_uses_is_no_other_target(tmp_path: Path) -> None:
    text = """
    from torch import nn
    from library import Model

    backbone = Model(16)
    teacher = Model(8)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(16, 2)

        def forward(self, x):
            return self.head(backbone(x))

    net = Net()
    """
    assert offered(checked(tmp_path, text)) == [("Net", 8), ("teacher", 6)]


def test_what_the_file_has_a_target_for_is_no_other(tmp_path: Path) -> None:
    text = """
    import torch
    from library import Model

    model = Model(16)

    def example_inputs():
        return (torch.randn(2, 16),)
    """
    assert offered(checked(tmp_path, text)) == [("model", 5)]
