"""One job from the request to its last event."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug.capture.graphs.graph_runner import GraphRunner
from inductor_debug_schema import (
    FileStatus,
    Finished,
    Loaded,
    Location,
    Position,
    Range,
    Shortfall,
    Stage,
    StageFinished,
    StageStarted,
    StageState,
    TargetSetting,
    to_wire,
)

pytestmark = pytest.mark.torch

TWO = """
import torch

# inductor-debug: inputs=(torch.randn(2, 4),)
def first(x):
    return x.double()

# inductor-debug: inputs=(torch.randn(2, 4),)
def second(x):
    return x + 1
"""


def job_of(tmp_path: Path, text: str, **options: object) -> Job:
    return analyze(tmp_path / "model.py", dedent(text), **options)  # type: ignore[arg-type]


def test_events_tell_the_story_in_order_and_previews_come_first(tmp_path: Path) -> None:
    job = job_of(tmp_path, TWO, stages=(Stage.PREVIEW, Stage.MOCK))
    story = [
        (type(event).__name__, getattr(event, "target", ""))
        for event in job.events
        if not isinstance(event, StageStarted)
    ]
    each = [(event, target) for target in ("first", "second") for event in ("StageFinished", "ExpressionsSeen")]
    left_out = [("UntakenSeen", "first"), ("UntakenSeen", "second")]
    assert story == [("Loaded", ""), *each, *left_out, *each, ("Finished", "")]
    assert [stage.report.stage for stage in job.stages] == [Stage.PREVIEW, Stage.PREVIEW, Stage.MOCK, Stage.MOCK]
    assert all(finding.stage is stage.report.stage for stage in job.stages for finding in stage.findings)
    assert all(stage.report.seconds > 0 for stage in job.stages)
    assert to_wire(job.events)


def test_a_file_that_does_not_parse_is_answered_without_being_loaded(tmp_path: Path) -> None:
    job = job_of(tmp_path, "def f(:\n")
    assert [type(event) for event in job.events] == [Finished]


def test_one_target_that_cannot_be_built_does_not_stop_the_others(tmp_path: Path) -> None:
    text = TWO + "\n# inductor-debug: inputs=(missing,)\ndef third(x): return x\n"
    job = job_of(tmp_path, text, stages=(Stage.PREVIEW, Stage.MOCK))
    states = {(stage.target, stage.report.stage.value): stage.report.state for stage in job.stages}
    assert states["third", "preview"] is StageState.FAILED
    assert states["third", "mock"] is StageState.SKIPPED
    assert states["second", "mock"] is StageState.DONE
    assert job.status is FileStatus.FINDINGS


def test_a_stage_that_does_not_exist_is_skipped_with_a_note(tmp_path: Path) -> None:
    job = job_of(tmp_path, TWO, stages=(Stage.PREVIEW, Stage.LOAD))
    skipped = [stage.report for stage in job.stages if stage.report.stage is Stage.LOAD]
    assert [(report.state, bool(report.notes)) for report in skipped] == [(StageState.SKIPPED, True)] * 2


def test_dependencies_are_told_even_where_the_file_fails(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("x = 1\n")
    job = job_of(tmp_path, "import helper\nimport no_such_module\n")
    assert job.status is FileStatus.FAILED
    assert job.finished.dependencies == [str(tmp_path / "helper.py")]


def test_the_disk_is_not_what_is_analysed(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("raise SystemExit('stale')\n")
    assert job_of(tmp_path, TWO).status is FileStatus.FINDINGS
    assert analyze(tmp_path / "gone" / "model.py", TWO, root=tmp_path).status is FileStatus.FINDINGS


def test_a_setting_for_what_the_file_lacks_is_told(tmp_path: Path) -> None:
    job = job_of(tmp_path, TWO, targets=(TargetSetting("Third", inputs="(1,)"),))
    assert [finding.rule for finding in job.finished.findings] == ["directive"]
    assert "Third" in job.finished.findings[0].message


def test_a_misspelt_setting_is_told_where_it_stands_with_what_was_meant(tmp_path: Path) -> None:
    place = Location(str(tmp_path / "pyproject.toml"), Range(Position(3, 0), Position(3, 9)))
    job = job_of(tmp_path, TWO, targets=(TargetSetting("Secnd", inputs="(1,)", at=place),))
    [found] = job.finished.findings
    assert (found.path, found.range) == (place.path, place.range)
    assert found.message == "The file defines no 'Secnd' that could be compiled; did you mean 'second'?"


def test_a_parser_that_ends_the_program_says_why_in_its_own_words(tmp_path: Path) -> None:
    text = """
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.parse_args()
    """
    [found] = job_of(tmp_path, text).finished.findings
    assert found.message.startswith(
        "argparse ended the program while the file was loaded: the following arguments are required: --data."
    )


def test_what_was_to_be_typed_is_asked_for_where_its_lack_ends_the_loading(tmp_path: Path) -> None:
    text = """
    import os, sys
    def chosen():
        named = [word for word in sys.argv if word.startswith("app:")]
        return configuration(named[0][4:] if named else "")
    def configuration(path):
        assert os.path.exists(path), "no such file"
    chosen()
    """
    [found] = job_of(tmp_path, text).finished.findings
    assert found.message == (
        "AssertionError: no such file (while the file was loaded). Nothing after it can be analysed; read the command "
        'line in a function that only `if __name__ == "__main__":` calls.'
    )


def test_what_torch_has_for_some_devices_alone_is_nobodys_fault(tmp_path: Path) -> None:
    text = """
    import torch
    # inductor-debug: inputs=(torch.randn(2, 4),)
    def f(x):
        return torch._C._made_for_another_device(x + 1)
    """
    job = job_of(tmp_path, text, stages=(Stage.PREVIEW, Stage.MOCK))
    assert [finding.rule for finding in job.findings] == []
    assert any("this machine has no such device" in note for stage in job.stages for note in stage.report.notes)


def test_absent_devices_are_noted_once(tmp_path: Path) -> None:
    text = """
    import torch
    # inductor-debug: inputs=(torch.randn(2, 4, device="cuda"),)
    def f(x):
        return x.cuda() + torch.ones(4, device="cuda:0")
    torch.cuda.synchronize()
    """
    job = job_of(tmp_path, text, stages=(Stage.PREVIEW, Stage.MOCK))
    notes = [*job.loaded.notes, *(note for stage in job.stages for note in stage.report.notes)]
    assert [note for note in notes if "'cuda'" in note] == notes
    assert len(notes) == 1
    assert job.status is FileStatus.CLEAN


def test_helpers_that_name_a_device_are_redirected_too(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "import torch\nDEVICE = torch.device('cuda')\nscale = torch.ones(4).to(DEVICE)\n"
    )
    text = """
    import torch
    from helper import DEVICE, scale
    # inductor-debug: inputs=(torch.randn(2, 4),)
    def f(x):
        return x.to(DEVICE) * scale
    """
    job = job_of(tmp_path, text, stages=(Stage.PREVIEW, Stage.MOCK))
    assert job.status is FileStatus.CLEAN, job.findings


def test_names_of_targets_are_told_apart(tmp_path: Path) -> None:
    text = """
    import torch
    class Net(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.linear = torch.nn.Linear(width, width)
        def forward(self, x):
            return self.linear(x)
    for width in (4, 8):
        torch.compile(Net(width))(torch.ones(2, width))
    """
    job = job_of(tmp_path, text)
    assert [name for name, _ in job.targets] == ["Net", "Net#2"]
    assert job.status is FileStatus.CLEAN


def test_user_code_cannot_write_checkpoints_or_reach_the_test(tmp_path: Path) -> None:
    text = f"""
    import torch
    torch.save(torch.nn.Linear(2, 2).state_dict(), {str(tmp_path / "weights.pt")!r})
    print("seen by the log")
    """
    job = job_of(tmp_path, text)
    assert not (tmp_path / "weights.pt").exists()
    assert "seen by the log" in job.output


@pytest.mark.parametrize("save", ["torch.jit.save(traced, {})", "traced.save({})"])
def test_scripted_modules_are_written_nowhere_and_the_file_goes_on(tmp_path: Path, save: str) -> None:
    text = f"""
    import io, torch
    traced = torch.jit.trace(torch.nn.Linear(2, 2).eval(), torch.ones(1, 2))
    {save.format(repr(str(tmp_path / "traced.pt")))}
    torch.jit.save(traced, kept := io.BytesIO())
    kept.seek(0)
    print("of", torch.jit.load(kept)(torch.ones(3, 2)).shape)
    """
    job = job_of(tmp_path, text)
    assert not (tmp_path / "traced.pt").exists()
    assert job.findings == []
    assert "of torch.Size([3, 2])" in job.output


def test_loaded_names_targets_with_their_lines(tmp_path: Path) -> None:
    loaded = next(event for event in job_of(tmp_path, TWO).events if isinstance(event, Loaded))
    assert [(target.name, target.line, target.origin) for target in loaded.targets] == [
        ("first", 4, "directive"),
        ("second", 8, "directive"),
    ]
    assert isinstance(job_of(tmp_path, TWO).stages[0], StageFinished)


LAZY = """
import torch
from torch import fx, nn
from torch.fx import _lazy_graph_module

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.traced = fx.symbolic_trace(Block())
        with _lazy_graph_module._use_lazy_graph_module(True):
            self.lazy = _lazy_graph_module._make_graph_module(self.traced, self.traced.graph)

    def forward(self, x):
        return self.lazy(self.traced(x))

def get_inputs():
    return [torch.randn(2, 4)]
"""


def test_a_graph_module_that_writes_its_code_when_it_is_called_is_captured(tmp_path: Path) -> None:
    job = analyze(tmp_path / "model.py", LAZY, stages=(Stage.PREVIEW, Stage.MOCK))
    assert job.findings == []


@pytest.mark.parametrize(("around", "breaks"), [("no_grad", 0), ("inference_mode", 0), ("enable_grad", 1)])
def test_a_call_without_gradients_is_captured_without_them(tmp_path: Path, around: str, breaks: int) -> None:
    text = f"""
        import torch

        @torch.compile
        def step(x):
            if torch.is_grad_enabled():
                print(x)
            return x * 2

        with torch.{around}():
            step(torch.ones(2))
    """
    job = job_of(tmp_path, text, stages=(Stage.PREVIEW, Stage.MOCK))
    assert [finding.rule for finding in job.findings] == ["graph-break"] * breaks
    notes = [note for event in job.stages for note in event.report.notes]
    assert any("captured without" in note for note in notes) is not bool(breaks)


def test_what_the_recording_alone_raises_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the recording cannot go on")

    monkeypatch.setattr(GraphRunner, "run", fail)
    text = "import torch\n# inductor-debug: inputs=(torch.randn(4),)\ndef step(x):\n    return x + 1\n"
    job = job_of(tmp_path, text, stages=(Stage.PREVIEW, Stage.MOCK))
    assert job.findings == []
    assert [stage.report.shortfall for stage in job.stages] == [None, Shortfall.NOT_FOLLOWED]


def test_what_torch_compile_raises_where_eager_code_runs_is_told(tmp_path: Path) -> None:
    text = """
        import numpy as np
        import torch

        # inductor-debug: inputs=(torch.randn(1, 2, 4),)
        def step(x):
            return torch.nn.functional.conv1d(x, torch.Tensor(np.ones((3, 2, 1))))  # float64 where it is compiled
        """
    job = job_of(tmp_path, text, stages=(Stage.PREVIEW, Stage.MOCK))
    assert "capture-error" in [finding.rule for finding in job.findings]


def test_a_frame_that_is_given_numbers_alone_is_recorded_to_its_end(tmp_path: Path) -> None:
    text = (Path(__file__).parent.parent / "fixtures" / "control_flow" / "numbers_alone.py").read_text()
    job = job_of(tmp_path, text, stages=(Stage.PREVIEW, Stage.MOCK))
    assert [stage.report.state for stage in job.stages] == [StageState.DONE, StageState.DONE]


@pytest.mark.parametrize(("fixed", "symbols"), [((), [False, True]), (("Net",), [False, False])])
def test_a_target_that_symbols_made_slow_has_numbers_for_its_free_sizes(
    fixed: tuple[str, ...], symbols: list[bool], tmp_path: Path
) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = nn.Linear(4, 4)\n\n    def forward(self, x):\n        return self.layer(x)\n"
    )
    job = analyze(path, stages=(Stage.PREVIEW, Stage.MOCK), accelerator="none", fixed=fixed)
    started = [event.symbols_may_slow for event in job.events if isinstance(event, StageStarted)]
    assert started == symbols
    assert [stage.report.state for stage in job.stages] == [StageState.DONE, StageState.DONE]
