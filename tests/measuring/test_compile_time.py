"""The task `compile time` on real torch: where compiling goes, by phase, expression and module."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from forked import excerpt, in_child
from inductor_debug.accelerators.profile import load_document
from inductor_debug.measuring import compile_hooks
from inductor_debug.measuring.compile_clock import CompileClock
from inductor_debug.measuring.compile_time_task import perform
from inductor_debug_schema import (
    Answered,
    CompileExpression,
    CompileTimeDocument,
    CompileTimeTask,
    Event,
    FileStatus,
    Finished,
    JobRequest,
)
from torch._dynamo import symbolic_convert, utils
from torch._inductor import graph

pytestmark = pytest.mark.torch

LAYERS = '''\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x):
        return x + self.inner(x).relu()


class Net(nn.Module):
    """Three equal layers, and 60 products that are one expression."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        for number in range(60):
            x = x * float(number)
        return x


def get_init_inputs():
    return []


def example_inputs():
    return (torch.randn(4, 8),)
'''


@dataclass(frozen=True)
class Timed:
    """What came of one job."""

    text: str
    documents: list[CompileTimeDocument]
    finished: Finished

    @property
    def document(self) -> CompileTimeDocument:
        (document,) = self.documents
        return document

    def of(self, row: CompileExpression) -> str:
        return excerpt(self.text, row)


def timed(folder: Path, text: str, *, timeout: float = 300.0, ways: bool = False) -> Timed:
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    task = CompileTimeTask(compile_timeout=timeout, ways=ways)
    request = JobRequest(1, str(path), text, str(folder), [], load_document("none"), task=task)

    def work() -> list[Event]:
        events: list[Event] = []
        perform(request, events.append)
        return events

    events, _ = in_child(work)
    answers = [event.document for event in events if isinstance(event, Answered)]
    assert all(isinstance(document, CompileTimeDocument) for document in answers)
    return Timed(text, answers, events[-1])


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Timed:
    return timed(tmp_path_factory.mktemp("layers"), LAYERS)


def test_all_of_the_time_is_there_once_by_phase_by_expression_and_by_slice(layers: Timed) -> None:
    document = layers.document
    assert (document.problem, document.graphs, layers.finished.status) == ("", 1, FileStatus.CLEAN)
    assert document.seconds > 0
    rounding = pytest.approx(document.seconds, abs=1e-3)
    assert sum(phase.seconds for phase in document.compile_phases) == rounding
    assert sum(row.seconds for row in document.expressions) == rounding
    assert sum(document.slices.seconds) == rounding
    (nowhere,) = (row for row in document.expressions if row.path is None)
    assert document.placed == pytest.approx(document.seconds - nowhere.seconds, abs=1e-3)


def test_phases_are_told_in_the_order_in_which_they_come(layers: Timed) -> None:
    phases = [(phase.part, phase.phase) for phase in layers.document.compile_phases]
    wanted = [
        ("Dynamo", "tracing the code"),
        ("Dynamo", "guards"),
        ("AOTAutograd", "tracing operators, forward and backward"),
        ("Inductor", "lowering"),
        ("Inductor", "scheduling and fusion"),
        ("Inductor", "writing the code"),
    ]
    assert [phase for phase in phases if phase in wanted] == wanted


def test_the_expression_that_makes_compiling_slow_is_the_first(layers: Timed) -> None:
    rows = [row for row in layers.document.expressions if row.path is not None]
    assert layers.of(rows[0]) == rows[0].text == "x * float(number)"
    assert rows[0].traced == 60
    assert rows[0].nodes > 60
    assert set(rows[0].parts) == {"Dynamo", "AOTAutograd", "Inductor"}
    assert rows[0].seconds == max(row.seconds for row in rows)
    inner = next(row for row in rows if row.text == "self.inner(x)")
    assert inner.modules >= 3


def test_layers_of_a_stack_are_told_as_one_row(layers: Timed) -> None:
    document = layers.document
    alike = {(row.pattern, row.kind): row for row in document.alike}
    blocks = alike["layers.*", "Block"]
    each = [row.seconds for row in document.modules if row.kind == "Block"]
    assert (blocks.count, len(each)) == (3, 3)
    assert blocks.seconds == pytest.approx(sum(each), abs=1e-4)
    # Each row is rounded to a microsecond by itself, so that three blocks may add up to more than the list of them.
    rounding = 1e-6 * (blocks.count + 1)
    assert alike["layers", "ModuleList"].seconds + rounding >= blocks.seconds
    assert blocks.seconds + rounding >= alike["layers.*.inner", "Linear"].seconds


def test_slices_say_which_module_an_expression_was_worked_on_in(layers: Timed) -> None:
    document = layers.document
    columns = document.slices
    found = {
        (document.modules[module].module if module >= 0 else "", document.expressions[expression].text)
        for module, expression in zip(columns.modules, columns.expressions, strict=True)
    }
    assert {("layers.1", "x + self.inner(x).relu()"), ("", "x * float(number)")} <= found
    assert len(columns.phases) == len(columns.seconds) == len(columns.modules)
    assert set(columns.phases) == set(range(len(document.compile_phases)))


def test_what_ends_compiling_early_is_told_with_what_was_done_before(tmp_path: Path) -> None:
    text = (
        "import torch\n\n\n# inductor-debug: inputs=(torch.randn(4),)\n"
        "def raising(x):\n    y = x.sin()\n    return y @ torch.randn(5)\n"
    )
    document = timed(tmp_path, text).document
    assert "size" in document.problem or "shape" in document.problem
    assert "tracing the code" in [phase.phase for phase in document.compile_phases]


def test_a_target_that_takes_too_long_is_told_and_the_others_are_timed(tmp_path: Path) -> None:
    text = "import torch\n\n\n# inductor-debug: inputs=(torch.randn(4),)\ndef quick(x):\n    return x.sin()\n"
    document = timed(tmp_path, text, timeout=0.0).document
    assert (document.problem, document.seconds) == ("no answer within 0 s", 0.0)


@pytest.mark.parametrize(
    ("owner", "name", "left"),
    [
        (symbolic_convert.InstructionTranslatorBase, "step", "Inductor"),
        (utils.ChromiumEventLogger, "log_event_start", ""),
        (graph.GraphLowering, "run_node", "Dynamo"),
    ],
)
def test_a_torch_without_one_of_its_private_names_costs_detail_and_no_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, left: str
) -> None:
    places = compile_hooks._Hooks.places
    monkeypatch.setattr(
        compile_hooks._Hooks, "places", lambda hooks: [place for place in places(hooks) if place[:2] != (owner, name)]
    )
    text = "import torch\n\n\n# inductor-debug: inputs=(torch.randn(4),)\ndef quick(x):\n    return x.sin()\n"
    document = timed(tmp_path, text).document
    assert document.problem == ""
    assert sum(phase.seconds for phase in document.compile_phases) == pytest.approx(document.seconds, abs=1e-3)
    placed = {part for row in document.expressions if row.path is not None for part in row.parts}
    assert (left in placed) == bool(left)


def test_torch_is_as_it_was_afterwards(tmp_path: Path) -> None:
    places = (
        (utils.ChromiumEventLogger, "log_event_start"),
        (utils.ChromiumEventLogger, "log_event_end"),
        (symbolic_convert.InstructionTranslatorBase, "step"),
        (torch.fx.Interpreter, "run_node"),
        (graph.GraphLowering, "run_node"),
    )
    before = [getattr(owner, name) for owner, name in places]
    with compile_hooks.watched(CompileClock(), {}):
        assert all(getattr(owner, name) is not method for (owner, name), method in zip(places, before, strict=True))
    assert [getattr(owner, name) for owner, name in places] == before
