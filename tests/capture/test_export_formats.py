"""Which formats take an exported program, and the expressions that stop the others."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug.capture.export import format_rows, program_formats
from inductor_debug.capture.export.program_formats import Conversion, Format
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.formats_text import FormatsText
from inductor_debug_schema import ArtifactMade, Severity, Stage, from_wire
from inductor_debug_schema.answers.formats_document import ExportFormat, FormatsDocument, FormatState
from torch.export import ExportedProgram

pytestmark = pytest.mark.torch

MODEL = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))
        self.project = torch.nn.Linear(64, 64)

    def forward(self, x):
        y = self.project(x) * self.scale
        u, s, v = torch.linalg.svd(y)
        return torch.linalg.svd(y.sin())[1] + torch.special.i1(s)


def example_inputs():
    return (torch.randn(4, 64),)
"""
DECIDING = """
import torch


# inductor-debug: inputs=(torch.randn(4, 8),)
def f(x):
    return x if x.sum() > 0 else -x
"""


UNSAVED = """
import torch
from torch.utils import _pytree


class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second


_pytree.register_pytree_node(Pair, lambda pair: ([pair.first, pair.second], None), lambda leaves, _: Pair(*leaves))


# inductor-debug: inputs=(torch.randn(4, 8),)
def f(x):
    return Pair(x.sin(), x.cos())
"""


def exported(folder: Path, text: str, *, asked: bool = True) -> Job:
    path = folder / "model.py"
    path.write_text(dedent(text))
    return analyze(path, stages=(Stage.EXPORT,), export_formats=asked)


def formats(folder: Path, text: str, *, asked: bool = True) -> list[FormatsDocument]:
    job = exported(folder, text, asked=asked)
    made = [event for event in job.events if isinstance(event, ArtifactMade) and event.title == "formats"]
    return [from_wire(FormatsDocument, json.loads(each.content)) for each in made]


def of(document: FormatsDocument, name: str) -> ExportFormat:
    return next(each for each in document.formats if each.format == name)


def stops(program: ExportedProgram) -> Conversion:
    """A converter that knows no singular values."""
    for node in program.graph.nodes:
        if str(node.target) == "aten.linalg_svd.default":
            raise NotImplementedError(f"nothing for {node.target}")
    return Conversion()


def test_what_torch_saves_is_taken_and_what_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_formats, "find_spec", lambda name: None)
    [document] = formats(tmp_path, MODEL)
    assert document.exported
    assert of(document, "pt2").state is FormatState.TAKEN
    onnx, executorch = of(document, "onnx"), of(document, "executorch")
    assert (onnx.state, onnx.why) == (FormatState.NOT_INSTALLED, "pip install onnx onnxscript")
    assert (executorch.state, executorch.why) == (FormatState.NOT_INSTALLED, "pip install executorch")


def test_what_stops_a_format_is_told_at_its_expression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_rows, "FORMATS", (Format("other", "other.convert", (), stops),))
    [document] = formats(tmp_path, MODEL)
    [refused] = document.formats
    assert (refused.state, refused.fixed_sizes) == (FormatState.REFUSED, False)
    assert [(each.operator, each.expression) for each in refused.obstacles] == [
        ("aten.linalg_svd.default", "torch.linalg.svd(y)")
    ]
    text = FormatsText(FileNames(str(tmp_path), None, {}), ShownTexts(), Styler(enabled=False)).text(document)
    assert "  other (other.convert): no: NotImplementedError: nothing for aten.linalg_svd.default" in text
    assert "    aten.linalg_svd.default, from `torch.linalg.svd(y)` at model.py:13:19" in text


def test_what_stops_formats_is_one_finding_at_each_expression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_stop(program: ExportedProgram) -> Conversion:
        nodes = [node for node in program.graph.nodes if "linalg" in str(node.target) or "i1" in str(node.target)]
        return Conversion(NotImplementedError("nothing for these"), tuple(nodes))

    def taken(program: ExportedProgram) -> Conversion:
        return Conversion()

    converters = [("onnx", all_stop), ("pt2", taken), ("executorch", stops)]
    monkeypatch.setattr(format_rows, "FORMATS", [Format(name, name, (), convert) for name, convert in converters])
    job = exported(tmp_path, MODEL)
    found = job.of("export")
    assert [(job.marked(finding), finding.message.partition(", but ")[2], finding.count) for finding in found] == [
        ("torch.linalg.svd(y)", "ONNX and ExecuTorch do not take what becomes of it, `aten.linalg_svd.default`.", 1),
        ("torch.linalg.svd(y.sin())", "ONNX does not take what becomes of it, `aten.linalg_svd.default`.", 1),
        ("torch.special.i1(s)", "ONNX does not take what becomes of it, `aten.special_i1.default`.", 1),
    ]
    assert {finding.severity for finding in found} == {Severity.INFORMATION}


def test_what_stops_a_format_without_an_operator_is_told_at_the_target(tmp_path: Path) -> None:
    [finding] = exported(tmp_path, UNSAVED).findings
    assert (finding.rule, finding.severity, finding.range.start.line) == ("export", Severity.INFORMATION, 14)
    assert "torch.export takes this, but .pt2 does not: " in finding.message
    assert "No registered serialization name for" in finding.message


def test_of_a_format_whose_library_is_not_installed_nothing_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_formats, "find_spec", lambda name: None)
    assert exported(tmp_path, MODEL).findings == []


def test_a_format_that_takes_fixed_sizes_alone_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wants_numbers(program: ExportedProgram) -> Conversion:
        return Conversion(ValueError("a size is open") if program.range_constraints else None)

    monkeypatch.setattr(format_rows, "FORMATS", (Format("other", "other.convert", (), wants_numbers),))
    [document] = formats(tmp_path, MODEL)
    [taken] = document.formats
    assert (taken.state, taken.fixed_sizes) == (FormatState.TAKEN, True)
    assert "a size is open" in taken.why


def test_what_is_not_exported_is_not_tried(tmp_path: Path) -> None:
    [document] = formats(tmp_path, DECIDING)
    assert not document.exported
    assert "data-dependent" in document.why
    assert of(document, "pt2").state is FormatState.NOT_TRIED


def test_nobody_who_did_not_ask_waits_for_it(tmp_path: Path) -> None:
    assert formats(tmp_path, MODEL, asked=False) == []


@pytest.mark.skipif(
    importlib.util.find_spec("onnxscript") is None or importlib.util.find_spec("onnx") is None,
    reason="onnx and onnxscript are no part of our set-up",
)
def test_onnx_names_every_operator_that_it_does_not_have(tmp_path: Path) -> None:
    [document] = formats(tmp_path, MODEL)
    onnx = of(document, "onnx")
    assert onnx.state is FormatState.REFUSED
    assert [(each.operator, each.expression) for each in onnx.obstacles] == [
        ("aten._linalg_svd.default", "torch.linalg.svd(y)"),
        ("aten._linalg_svd.default", "torch.linalg.svd(y.sin())"),
        ("prims.bessel_i1.default", "torch.special.i1(s)"),
    ]


@pytest.mark.skipif(importlib.util.find_spec("executorch") is None, reason="executorch is no part of our set-up")
def test_executorch_names_every_operator_that_it_does_not_take(tmp_path: Path) -> None:
    [document] = formats(tmp_path, MODEL)
    executorch = of(document, "executorch")
    assert executorch.state is FormatState.REFUSED
    assert [each.operator for each in executorch.obstacles] == ["aten._linalg_svd.default"] * 2 + [
        "aten.special_i1.default"
    ]
