"""Sizes in an exported program: which may vary, which expression fixes the others, and how to ask for what may."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from forked import analyze
from inductor_debug.artifacts.graph_columns import SUFFIX, decode
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.formats.shapes_csv import shapes_csv
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.shapes_text import ShapesText
from inductor_debug_schema import ArtifactMade, Event, NodeRole, Stage, from_wire
from inductor_debug_schema.answers.shapes_document import DimensionState, ShapesDocument

pytestmark = pytest.mark.torch

MODEL = """\
import torch


# inductor-debug: inputs=(torch.randn(512, 64), torch.randn(512, 64), torch.randn(1, 6))
def f(x, other, pair):
    y = (x + other).view(x.shape[0], 8, -1)
    for _ in range(pair.shape[1]):
        y = y.sin()
    return y, pair.flatten(), (x > 0).nonzero()
"""
DIVIDED = """\
import torch


# inductor-debug: inputs=(torch.randn(512, 3),)
def f(x):
    for _ in range(x.shape[0] // 128):
        x = x.sin()
    return x
"""
DECIDING = """\
import torch


# inductor-debug: inputs=(torch.randn(4, 8),)
def f(x):
    if x.sum() > 0:
        return x.view(-1, 8)
    return x
"""

STARRED = """
import torch

# inductor-debug: inputs=(torch.randn(16), torch.randn(24), torch.randn(32))
def f(x, *rest):
    return x.sum() + rest[0].sum() * rest[1].mean()
"""


LAYERED = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 4)

    def forward(self, x):
        y = self.first(x)
        return y.sin() + y.cos()


def example_inputs():
    return (torch.randn(6, 8),)
"""


def events_of(folder: Path, text: str) -> list[Event]:
    path = folder / "model.py"
    path.write_text(dedent(text))
    return analyze(path, stages=(Stage.EXPORT,), keep_graphs=True).events


def shapes(folder: Path, text: str) -> ShapesDocument:
    made = [event for event in events_of(folder, text) if isinstance(event, ArtifactMade) and event.title == "shapes"]
    assert len(made) == 1
    return from_wire(ShapesDocument, json.loads(made[0].content))


def test_the_exported_graph_has_the_targets_names_and_the_exact_expressions(tmp_path: Path) -> None:
    made = [each for each in events_of(tmp_path, LAYERED) if isinstance(each, ArtifactMade) and each.suffix == SUFFIX]
    [graph] = decode(made[0].content).graphs
    arguments = [(node.role, node.detail) for node in graph.nodes if node.op == "placeholder"]
    assert arguments == [
        (NodeRole.PARAMETER, "first.weight"),
        (NodeRole.PARAMETER, "first.bias"),
        (NodeRole.INPUT, "x"),
    ]
    lines = dedent(LAYERED).split("\n")
    places = [(node.op, node.module, node.place.range) for node in graph.nodes if node.place is not None]
    told = [(op, module, lines[at.start.line][at.start.character : at.end.character]) for op, module, at in places]
    assert told == [
        ("aten.linear.default", "first", "self.first(x)"),
        ("aten.sin.default", "", "y.sin()"),
        ("aten.cos.default", "", "y.cos()"),
        ("aten.add.Tensor", "", "y.sin() + y.cos()"),
    ]


def test_what_export_adds_itself_stands_nowhere_in_the_source(tmp_path: Path) -> None:
    text = """
        import torch


        # inductor-debug: inputs=(torch.randn(6, 8),)
        def f(x):
            return x.view(x.shape[0], 2, -1)
    """
    made = [each for each in events_of(tmp_path, text) if isinstance(each, ArtifactMade) and each.suffix == SUFFIX]
    [graph] = decode(made[0].content).graphs
    sizes = [(node.module, node.place) for node in graph.nodes if node.op.startswith("aten.sym_size")]
    assert sizes
    assert all(place == ("", None) for place in sizes)


def test_each_size_is_told_with_the_expression_that_decides(tmp_path: Path) -> None:
    document = shapes(tmp_path, MODEL)
    assert document.exported
    told = {f"{each.input}.{each.dimension}": each for each in document.dimensions}
    assert {name: each.state for name, each in told.items()} == {
        "x.0": DimensionState.DYNAMIC,
        "x.1": DimensionState.DYNAMIC,
        "other.0": DimensionState.TIED,
        "other.1": DimensionState.TIED,
        "pair.0": DimensionState.STATIC,
        "pair.1": DimensionState.SPECIALISED,
    }
    fixed = told["pair.1"]
    assert (fixed.because, fixed.range.start.line if fixed.range else None) == ("range(pair.shape[1])", 6)
    assert (told["other.0"].tied_to, told["other.0"].because) == ("x.shape[0]", "x + other")
    assert told["x.0"].minimum == 2
    assert told["x.1"].asked == ["x.shape[1] % 8 == 0"]
    assert [each.expression for each in document.unbacked] == ["(x > 0).nonzero()"]
    assert document.dynamic_shapes == (
        'dynamic_shapes={"x": {0: Dim.AUTO, 1: Dim.AUTO}, "other": {0: Dim.AUTO, 1: Dim.AUTO}, "pair": None}'
    )
    assert document.marks.splitlines()[0] == "torch._dynamo.mark_dynamic(x, 0)"


def test_people_and_spreadsheets_read_the_same(tmp_path: Path) -> None:
    document = shapes(tmp_path, MODEL)
    text = ShapesText(FileNames(str(tmp_path), None, {}), ShownTexts(), Styler(enabled=False)).text(document)
    assert "model.py::f: torch.export takes it" in text
    assert "pair.shape[1] = 6: specialised, became 6 because of `range(pair.shape[1])` at model.py:7:14" in text
    assert "other.shape[0] = 512: dynamic, the same as x.shape[0] because of `x + other`" in text
    header, *rows = shapes_csv([document], ShownTexts()).splitlines()
    assert header.startswith("target,input,dimension,size,state")
    assert rows[-1].startswith("f,pair,1,6,specialised,")
    assert rows[-1].endswith(",7,14")


def test_what_export_does_not_take_is_said_with_what_was_seen(tmp_path: Path) -> None:
    document = shapes(tmp_path, DECIDING)
    assert not document.exported
    assert "data-dependent" in document.why
    assert document.dynamic_shapes == document.marks == ""
    assert document.dimensions[1].because == "x.view(-1, 8)"


def test_a_part_of_a_size_that_is_fixed_is_said(tmp_path: Path) -> None:
    document = shapes(tmp_path, DIVIDED)
    first = document.dimensions[0]
    assert (first.state, first.asked) == (DimensionState.DYNAMIC, ["x.shape[0]//128 == 4"])


def test_what_a_star_takes_is_called_as_the_code_reaches_it(tmp_path: Path) -> None:
    document = shapes(tmp_path, STARRED)
    assert [each.input for each in document.dimensions] == ["x", "rest[0]", "rest[1]"]
    assert document.marks.splitlines()[1] == "torch._dynamo.mark_dynamic(rest[0], 0)"
