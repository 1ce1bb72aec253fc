"""Which graph breaks keep the graphs of a real run apart, and what remains of them without some of the breaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_targets import build, excerpt
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.stages.aot import run_aot
from inductor_debug.capture.stages.mock import run_mock
from inductor_debug.rules.recording.graph_parts import joined
from inductor_debug.rules.recording.ops import Recording

pytestmark = pytest.mark.torch

INPUTS = "inputs = (torch.randn(4, 8, requires_grad=True),)\n"


def parts(recording: Recording) -> list[list[str]]:
    """The operations of each part, in the order of the parts' first ones."""
    found: dict[int, list[str]] = {}
    for part, op in zip(recording.parts, recording.ops, strict=True):
        if not op.is_view:
            found.setdefault(part, []).append(op.packet.partition(".")[2])
    return list(found.values())


def without(recording: Recording, *texts: str) -> Recording:
    """The run without the breaks at some expressions."""
    places = {place for border in recording.borders for place in border.causes}
    return joined(recording, [place for place in places if excerpt(place) in texts])


def made_by(recording: Recording) -> set[str]:
    return {excerpt(place) for border in recording.borders for place in border.causes}


def mock(folder: Path, source: str) -> StageOutcome:
    return run_mock(*build(folder, source + INPUTS))


SIMPLE = """
def model(x):
    y = x.exp().neg()
    print("between", y.shape)
    return y.tanh()
"""


def test_the_two_sides_of_a_break_are_two_parts_until_it_is_taken_out(tmp_path: Path) -> None:
    recording = mock(tmp_path, SIMPLE).recording
    assert parts(recording) == [["exp", "neg"], ["tanh"]]
    assert made_by(recording) == {'print("between", y.shape)'}
    assert without(recording, 'print("between", y.shape)').parts == ()


def test_a_graph_without_breaks_has_no_parts(tmp_path: Path) -> None:
    outcome = mock(tmp_path, SIMPLE.replace('    print("between", y.shape)\n', ""))
    assert (outcome.report.graph_breaks, outcome.recording.parts, outcome.recording.borders) == (0, (), ())


def test_a_backward_pass_belongs_to_its_graph(tmp_path: Path) -> None:
    recording = run_aot(*build(tmp_path, SIMPLE + INPUTS)).recording
    first, second = parts(recording)
    assert first[:2] == ["exp", "neg"]
    assert second[0] == "tanh"
    assert recording.parts == tuple(sorted(recording.parts[:-2])) + recording.parts[-2:]
    assert len(first) > 2, "what the backward pass of the first graph does is in its part"
    assert len(second) > 1
    assert without(recording, 'print("between", y.shape)').parts == ()


CALLED = """
def inner(x):
    x = x.exp()
    print("one")
    x = x.neg()
    print("two")
    return x.tanh()

def model(x):
    x = x.sin()
    x = inner(x)
    return x.cos()
"""


def test_breaks_in_a_function_keep_it_apart_from_its_caller_until_all_are_taken_out(tmp_path: Path) -> None:
    recording = mock(tmp_path, CALLED).recording
    assert parts(recording) == [["sin"], ["exp"], ["neg"], ["tanh"], ["cos"]]
    assert parts(without(recording, 'print("one")')) == [["sin"], ["exp", "neg"], ["tanh"], ["cos"]]
    assert parts(without(recording, 'print("two")')) == [["sin"], ["exp"], ["neg", "tanh"], ["cos"]]
    assert without(recording, 'print("one")', 'print("two")').parts == ()


REPEATED = """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
    def forward(self, x):
        x = self.fc(x)
        print("layer")
        return x.relu()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(3))
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x.sum()

model = Net()
"""


def test_one_place_may_break_many_times_and_is_taken_out_at_once(tmp_path: Path) -> None:
    recording = mock(tmp_path, REPEATED).recording
    assert len(parts(recording)) >= 4
    assert made_by(recording) == {'print("layer")'}
    assert without(recording, 'print("layer")').parts == ()


EAGER = """
@torch.compiler.disable
def unseen(x):
    return x.exp().neg()

def model(x):
    return unseen(x.sin()).cos()
"""


def test_what_runs_in_no_graph_is_a_part_op_by_op(tmp_path: Path) -> None:
    recording = mock(tmp_path, EAGER).recording
    assert parts(recording) == [["sin"], ["exp"], ["neg"], ["cos"]]
    [place] = made_by(recording)
    assert without(recording, place).parts == ()


TWO = """
def model(x):
    y = x.exp()
    torch._dynamo.graph_break()
    z = y.tanh()
    print("done")
    return z.cos()
"""


def test_each_of_two_breaks_is_taken_out_by_itself(tmp_path: Path) -> None:
    recording = mock(tmp_path, TWO).recording
    assert len(made_by(recording)) == 2
    assert parts(without(recording, 'print("done")'))[-1][-2:] == ["tanh", "cos"]
    assert len(set(without(recording, 'print("done")').parts)) == len(set(recording.parts)) - 1
    assert without(recording, *made_by(recording)).parts == ()
