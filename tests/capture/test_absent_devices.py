"""Code written for an accelerator whose package is not installed here is analysed as any other."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import analyze
from inductor_debug_schema import FileStatus, Shortfall, Stage

pytestmark = pytest.mark.torch

MODEL = """
import torch
DEVICE = {device}

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 64, device=DEVICE)
        self.scale = torch.nn.Parameter(torch.ones(64, device=DEVICE))
        self.register_buffer("mask", torch.zeros(64).to(DEVICE))

    def forward(self, x):
        x = x.to(DEVICE)
        return self.linear(x) * self.scale + self.mask + torch.arange(64, device=x.device)

def get_inputs():
    return [torch.randn(8, 64, device=DEVICE)]
"""


@pytest.mark.parametrize("device", ["'spyre'", "torch.device('spyre')", "torch.device('npu:0')", "'cuda:1'"])
def test_constructors_that_name_an_absent_device(device: str, tmp_path: Path) -> None:
    stages = (Stage.PREVIEW, Stage.MOCK, Stage.AOT)
    job = analyze(tmp_path / "model.py", MODEL.format(device=device), stages=stages)
    assert job.status is FileStatus.CLEAN, job.findings
    kind = device.removeprefix("torch.device(").strip("')").split(":")[0]
    notes = [*job.loaded.notes, *(note for stage in job.stages for note in stage.report.notes)]
    assert [note for note in notes if f"no '{kind}' device" in note]


@pytest.mark.parametrize(
    "moved",
    ["x.to(0)", "x.to(x.get_device())", "x + torch.ones(4, device=1)", "MODULE(x)", "MODULE.to(device=1)(x)"],
)
def test_a_device_that_is_a_number_is_absent_as_well(moved: str, tmp_path: Path) -> None:
    module = "MODULE = torch.nn.Linear(4, 4).to(0)\n" if "MODULE" in moved else ""
    text = f"import torch\n{module}# inductor-debug: inputs=(torch.randn(2, 4),)\ndef f(x):\n    return {moved}\n"
    job = analyze(tmp_path / "model.py", text, stages=(Stage.PREVIEW, Stage.MOCK, Stage.AOT))
    assert job.status is FileStatus.CLEAN, job.findings


def test_a_module_beside_the_file_names_the_device(tmp_path: Path) -> None:
    (tmp_path / "places.py").write_text("import torch\nHOME = torch.device('spyre')\ntorch.manual_seed(1)\n")
    text = """
    import torch
    from places import HOME
    # inductor-debug: inputs=(torch.randn(2, 4),)
    def f(x):
        return x.to(HOME) + torch.ones(4, device=HOME)
    """
    job = analyze(tmp_path / "model.py", dedent(text), stages=(Stage.PREVIEW, Stage.MOCK))
    assert job.status is FileStatus.CLEAN, job.findings


def test_a_name_that_no_accelerator_has_is_an_error_of_the_file(tmp_path: Path) -> None:
    text = """
    import torch
    # inductor-debug: inputs=(torch.randn(2, 4),)
    def f(x):
        return x.to("cudda")
    """
    job = analyze(tmp_path / "model.py", dedent(text), stages=(Stage.PREVIEW,))
    assert job.status is not FileStatus.CLEAN


def test_frames_that_run_eagerly_move_nothing_to_an_absent_device_either(tmp_path: Path) -> None:
    text = """
    import torch
    # inductor-debug: inputs=(torch.randn(2, 4), torch.tensor([1, 2]))
    def f(x, lengths):
        for _ in range(2):
            print("not captured")
            longest = lengths.max().item()
            x = x.cuda() + x.to("cuda:0")
            positions = torch.arange(0, longest, out=torch.cuda.LongTensor(longest))
        return x + positions.float().sum()
    """
    job = analyze(tmp_path / "model.py", dedent(text), stages=(Stage.PREVIEW, Stage.MOCK))
    assert {finding.rule for finding in job.findings} == {"graph-break"}, job.findings


def test_what_cannot_be_put_elsewhere_is_no_error_of_the_file(tmp_path: Path) -> None:
    text = """
    import torch
    # inductor-debug: inputs=(torch.randn(2, 4),)
    def f(x):
        for _ in range(2):
            print("not captured")
            x = x + torch.zeros(4, device="cuda")
        return x
    """
    job = analyze(tmp_path / "model.py", dedent(text), stages=(Stage.PREVIEW, Stage.MOCK))
    assert {finding.rule for finding in job.findings} == {"graph-break"}, job.findings
    assert any("this machine has no such device" in note for stage in job.stages for note in stage.report.notes)
    assert Shortfall.DEVICE in {stage.report.shortfall for stage in job.stages}


def test_types_of_cuda_tensors_make_those_of_the_cpu_and_no_tensor_is_one_of_theirs(tmp_path: Path) -> None:
    text = """
    import torch
    torch.set_default_tensor_type("torch.cuda.FloatTensor")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(8, 8)
            self.scale = torch.nn.Parameter(torch.cuda.FloatTensor(8).fill_(1))

        def forward(self, x):
            if isinstance(x.data, torch.cuda.FloatTensor):
                return torch.nn.parallel.data_parallel(self.linear, x, range(2))
            mask = torch.cuda.FloatTensor(x.size(0), 1).bernoulli_(0.5)
            index = torch.cuda.LongTensor([1, 2])
            return self.linear(x)[:, index].type(torch.cuda.FloatTensor) * mask.type("torch.cuda.FloatTensor")
    """
    job = analyze(tmp_path / "model.py", dedent(text), stages=(Stage.PREVIEW, Stage.MOCK), accelerator="none")
    assert (job.status, job.findings) == (FileStatus.CLEAN, [])
    assert [(stage.report.state.value, stage.report.graphs) for stage in job.stages] == [("done", 0), ("done", 1)]
