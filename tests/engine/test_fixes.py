"""Guesses of fixes: a text with its finding between « and », and the texts that the fixes make of it, in order."""

from __future__ import annotations

import ast
import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.accelerators.profile import load_document
from inductor_debug.engine.fixes.edits import TextEdit, applied, overlap
from inductor_debug.engine.fixes.fix_candidates import FIXABLE, guesses
from inductor_debug.engine.fixes.proof import proves
from inductor_debug.source.text_lines import split_lines, utf16_length
from inductor_debug_schema import (
    BreakCause,
    ExportFault,
    ExportStop,
    Facts,
    FileReport,
    FileStatus,
    Finding,
    GraphBreak,
    Misalignment,
    OddSize,
    Position,
    Range,
    Severity,
    ShapeFault,
    Stage,
    StageReport,
    StageState,
    StatedBy,
    StatedShape,
    TargetReport,
    UnwantedDtype,
)

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\n"
MOCK, SPYRE = load_document("mock"), load_document("spyre")
DOUBLE = UnwantedDtype(["float64"])


def position(before: str) -> Position:
    lines = split_lines(before)
    return Position(len(lines) - 1, utf16_length(lines[-1]))


def odd(size: int | str, multiple: int = 64, *, declared: bool = True) -> Misalignment:
    following = -(-size // multiple) * multiple if isinstance(size, int) else None
    return Misalignment([OddSize(size, following)], multiple, "float16", declared)


def marked(text: str, rule: str, facts: Facts | None = None) -> tuple[str, Finding]:
    before, inside, after = re.split("[«»]", text)
    span = Range(position(before.removeprefix("\ufeff")), position((before + inside).removeprefix("\ufeff")))
    finding = Finding(rule, Severity.WARNING, "told", "/p/model.py", span, Stage.MOCK, facts=facts)
    return before + inside + after, finding


def outcomes(text: str, rule: str, facts: Facts | None, profile: dict[str, object] = MOCK) -> list[str]:
    plain, finding = marked(text, rule, facts)
    return [applied(plain, fix.edits) for fix in guesses(plain, finding, profile)]


DTYPE = [
    ("y = «x.double()» + 1", ["y = x.float() + 1"]),
    ("y = «f(x).double()».sum()", ["y = f(x).float().sum()"]),
    ("y = «x.to(torch.float64)»", ["y = x.to(torch.float32)"]),
    ("y = «x.to(dtype=torch.double, copy=True)»", ["y = x.to(dtype=torch.float32, copy=True)"]),
    ("y = «x.type(torch.DoubleTensor)»", ["y = x.type(torch.FloatTensor)"]),
    ('y = «x.type("torch.float64")»', ['y = x.type("torch.float32")']),
    ("y = «torch.ones(3, dtype=float)»", ["y = torch.ones(3, dtype=torch.float32)"]),
    ("w = «nn.Linear(8, 8)».double().eval()", ["w = nn.Linear(8, 8).float().eval()"]),
    ("w = «nn.Linear(8, 8)».to('cpu', torch.float64)", ["w = nn.Linear(8, 8).to('cpu', torch.float32)"]),
    ("w = f(«nn.Linear(8, 8)»).double()", []),
    (
        "y = «torch.cat([x.double(), torch.ones(2, dtype=torch.float64)])»",
        [
            "y = torch.cat([x.float(), torch.ones(2, dtype=torch.float64)])",
            "y = torch.cat([x.double(), torch.ones(2, dtype=torch.float32)])",
            "y = torch.cat([x.float(), torch.ones(2, dtype=torch.float32)])",
        ],
    ),
    ("y = «torch.from_numpy(np.ones((2, 3)))»", ["y = torch.from_numpy(np.ones((2, 3), dtype=np.float32))"]),
    ("y = «np.ones(3, dtype=np.float64)»", ["y = np.ones(3, dtype=np.float32)"]),
    ("y = «np.ones(3, 'float64')»", ["y = np.ones(3, 'float32')"]),
    ("y = «np.random.randn(3)»", ["y = np.random.randn(3).astype(np.float32)"]),
    ("y = «np.array(i for i in x)»", []),
    (
        "y = «np.zeros(\n    (3, 4),  # rows, columns\n)»",
        ["y = np.zeros(\n    (3, 4),  # rows, columns\n dtype=np.float32)"],
    ),
    ("y = «torch.tensor(values)»", ["y = torch.tensor(values, dtype=torch.float32)"]),
    ("y = «torch.from_numpy(a)»", ["y = torch.from_numpy(a.astype(np.float32))"]),
    ("y = «torch.from_numpy(a + b)»", ["y = torch.from_numpy((a + b).astype(np.float32))"]),
    ("y = «g(x)»", []),
    ("y = «other.float64»", []),
    ("def f(x):\n\tif x:\n\t\treturn «x.double()»\n", ["def f(x):\n\tif x:\n\t\treturn x.float()\n"]),
    ("'😀'; y = «x.double()» # 😀", ["'😀'; y = x.float() # 😀"]),
    ("y = «f('😀').double()»", ["y = f('😀').float()"]),
    ("y = «(x\n     .double()\n     )»\n", ["y = (x\n     .float()\n     )\n"]),
    ("y = «x.double()»\r\nz = 1\r\n", ["y = x.float()\r\nz = 1\r\n"]),
    ("«y = x.double()»\n", ["y = x.float()\n"]),
    ('y = f"{«x.double()»}"', []),
    ("y = «x.double()»\n)", []),
]


@pytest.mark.parametrize(("text", "expected"), DTYPE)
def test_a_forbidden_dtype_is_said_otherwise(text: str, expected: list[str]) -> None:
    assert outcomes(HEAD + text, "dtype", DOUBLE) == [HEAD + after for after in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = «x.double()»", ["y = x.float()"]),
        ("y = «x.to(torch.complex128)»", ["y = x.to(torch.complex64)"]),
        ("y = «np.zeros(3)»", ["y = np.zeros(3, dtype=np.float32)"]),
    ],
)
def test_double_precision_that_nobody_needs_is_halved(text: str, expected: list[str]) -> None:
    assert outcomes(HEAD + text, "float64", UnwantedDtype(["float64", "complex128"])) == [
        HEAD + after for after in expected
    ]


@pytest.mark.parametrize(
    ("dtypes", "profile", "text", "expected"),
    [
        (["float64"], {"supported": ["float16"]}, "x.double()", ["x.half()"]),
        (["float64"], {"supported": ["int8"]}, "x.double()", []),
        (["float32"], {"supported": ["bfloat16"]}, "x.float()", ["x.bfloat16()"]),
        (["int16"], {"supported": ["int32"]}, "x.short()", ["x.int()"]),
        (
            ["float64", "complex128"],
            {"supported": ["float32", "complex64"]},
            "x.to(torch.float64) + x.to(torch.cdouble)",
            ["x.to(torch.float32) + x.to(torch.cdouble)", "x.to(torch.float64) + x.to(torch.complex64)"],
        ),
        ([], {"supported": ["int32"]}, "x.long()", []),
    ],
)
def test_the_stand_in_is_a_dtype_that_the_accelerator_has(
    dtypes: list[str], profile: dict[str, object], text: str, expected: list[str]
) -> None:
    document = {"schema": 1, "name": "x", "title": "x", "dtypes": profile}
    facts = UnwantedDtype(dtypes)
    assert outcomes(f"{HEAD}y = «{text}»", "dtype", facts, document) == [f"{HEAD}y = {after}" for after in expected]


@pytest.mark.parametrize(
    ("imports", "text", "expected"),
    [
        ("import torch as t", "x.to(t.double)", ["x.to(t.float32)"]),
        ("import numpy", "numpy.ones(2)", ["numpy.ones(2, dtype=numpy.float32)"]),
        ("import torch", "torch.from_numpy(a)", ['torch.from_numpy(a.astype("float32"))']),
        ("from torch import float64", "x.to(float64)", []),
        ("import torch.nn as nn", "x.to(torch.float64)", []),
    ],
)
def test_names_are_those_under_which_the_file_imports(imports: str, text: str, expected: list[str]) -> None:
    assert outcomes(f"{imports}\ny = «{text}»", "dtype", DOUBLE) == [f"{imports}\ny = {after}" for after in expected]


LAYOUT = [
    ("y = «x.transpose(0, 1)».relu()", ["y = x.transpose(0, 1).contiguous().relu()"]),
    ("y = f(«x[:, ::2]», 1)", ["y = f(x[:, ::2].contiguous(), 1)"]),
    ("y = «x.mT» * 2", ["y = x.mT.contiguous() * 2"]),
    ("y = («a if b else c»)", ["y = ((a if b else c).contiguous())"]),
    ("y = «a @ b» + 1", ["y = (a @ b).contiguous() + 1"]),
    ("y = -«await x»", ["y = -(await x).contiguous()"]),
    ("y = «(x\n    .transpose(0, 1))»", []),
    ("y = («x\n\t.transpose(\n\t\t0, 1)»)", ["y = (x\n\t.transpose(\n\t\t0, 1).contiguous())"]),
    ("y = f(g(«x.t()»))", ["y = f(g(x.t().contiguous()))"]),
    ("a = '𝄞𝄞'; y = «x.t()»\r\nz = y\r\n", ["a = '𝄞𝄞'; y = x.t().contiguous()\r\nz = y\r\n"]),
    ("«x.t_()»\n", ["x.t_().contiguous()\n"]),
    ("«x[0]» = y", []),
    ("y = lambda x: «x.t()»", ["y = lambda x: x.t().contiguous()"]),
    ("\ufeffy = «x.t()»", ["\ufeffy = x.t().contiguous()"]),
    ("a = 1\ry = «x.t()»\r", ["a = 1\ry = x.t().contiguous()\r"]),
    ("y = f(a, «*b»)", []),
    ("y = a[«1:2»]", []),
]


@pytest.mark.parametrize(("text", "expected"), LAYOUT)
def test_a_copy_is_made_where_the_tensor_stops_being_contiguous(text: str, expected: list[str]) -> None:
    assert outcomes(text, "layout", None) == expected


@pytest.mark.parametrize(
    ("write", "keeps"),
    [
        ("y = y + 1", True),
        ("y.__enter__()", True),
        ("y += 1", False),
        ("y[0] = 1", False),
        ("y.add_(1)", False),
        ("torch.add(y, 1, out=y)", False),
    ],
)
def test_a_copy_of_what_may_be_written_to_is_not_made_unseen(write: str, keeps: bool) -> None:
    text, finding = marked(f"def f(x):\n    y = «x.t()»\n    {write}\n\ndef g(x):\n    x += 1\n", "layout")
    assert [fix.keeps_results for fix in guesses(text, finding, MOCK)] == [keeps]


PAIR = """\
class Model(nn.Module):
    def __init__(self):
        self.a = «nn.Linear(64, 63)»
        self.b = nn.Sequential(nn.Linear(63, 8), nn.Linear(8, 63))
        self.register_buffer("c", torch.zeros(1, 63))

    def forward(self, x):
        return x.view(63, 1)
"""
ALIGNMENT = [
    (True, 63, "self.a = «nn.Linear(64, 63)»", ["self.a = nn.Linear(64, 64)"]),
    (True, 63, "self.a = «nn.Linear(64, out_features=63, bias=False)»", None),
    (True, 65, "self.a = «nn.Linear(64, 65)»", ["self.a = nn.Linear(64, 128)"]),
    (True, 63, "w = «nn.Parameter(torch.zeros((2, 63)))»", ["w = nn.Parameter(torch.zeros((2, 64)))"]),
    (True, 63, "w = «nn.Linear(64, size)»", []),
    (True, 63, "w = «nn.Linear(64, 60 + 3)»", []),
    (True, 63, "w = «nn.Linear(64, 0x3F)»", ["w = nn.Linear(64, 64)"]),
    (True, "63*s0", "w = «nn.Linear(64, 63)»", []),
    (True, 1, "w = «nn.Dropout(True)»", []),
    (
        True,
        63,
        "w = «nn.Linear(63, 63)»",
        ["w = nn.Linear(64, 63)", "w = nn.Linear(63, 64)", "w = nn.Linear(64, 64)"],
    ),
    (False, 63, "y = «torch.zeros(2, 63)»", ["y = torch.zeros(2, 64)"]),
    (False, 63, "y = «x[:, :63]»", []),
    (False, 63, "y = «x.view(63, 2)»", []),
    (False, 63, "y = «make(63)»", []),
    (
        True,
        63,
        PAIR,
        [
            PAIR.replace("«nn.Linear(64, 63)»", "nn.Linear(64, 64)"),
            PAIR.replace("«nn.Linear(64, 63)»", "nn.Linear(64, 64)")
            .replace("Linear(63, 8)", "Linear(64, 8)")
            .replace("Linear(8, 63)", "Linear(8, 64)")
            .replace("zeros(1, 63)", "zeros(1, 64)"),
        ],
    ),
]


@pytest.mark.parametrize(("declared", "size", "text", "expected"), ALIGNMENT)
def test_a_size_goes_up_to_the_next_multiple(
    declared: bool, size: int | str, text: str, expected: list[str] | None
) -> None:
    if expected is None:
        expected = [re.sub("[«»]", "", text).replace("63", "64")]
    assert outcomes(HEAD + text, "alignment", odd(size, declared=declared)) == [HEAD + after for after in expected]


def test_a_multiple_of_bytes_is_counted_in_elements() -> None:
    assert outcomes("w = «nn.Linear(64, 40)»", "alignment", odd(40, 32), SPYRE) == ["w = nn.Linear(64, 64)"]


def test_a_condition_that_export_cannot_decide_is_said_before_it() -> None:
    facts = ExportStop(ExportFault.SIZE, "n > 3", "n > 3", "x.sum().item()")
    text = "import torch\ndef f(x):\n    n = x.sum().item()\n    if «n > 3»:\n        x = x + 1\n"
    always, never = outcomes(text, "export", facts)
    assert "    n = x.sum().item()\n    torch._check(n > 3)\n    if n > 3:\n" in always
    assert "    torch._check(not (n > 3))\n    if n > 3:\n" in never
    assert outcomes(text, "export", ExportStop(ExportFault.VALUE, "n > 3")) == []


def test_a_comment_says_the_shape_that_the_run_has_told() -> None:
    text = "def f(x):\n    B, T, C = x.shape\n    y = x.mT  # «(B, T, C)» turned\n"
    facts = StatedShape(StatedBy.COMMENT, ShapeFault.SIZE, "y", "f", "(B, T, C)", ["2", "4", "3"], "float32")
    assert outcomes(text, "shape-annotation", facts) == []
    (fixed,) = outcomes(text, "shape-annotation", dataclasses.replace(facts, instead="(B, C, T)"))
    assert fixed == text.replace("«(B, T, C)»", "(B, C, T)")


@pytest.mark.parametrize("rule", sorted(FIXABLE))
def test_where_nothing_can_be_told_nothing_is_guessed(rule: str) -> None:
    text, finding = marked("y = «x.double()»", rule)
    if rule != "layout":  # which says what to do by its name alone
        assert guesses(text, finding, MOCK) == []
    assert guesses("y = (", finding, MOCK) == []
    assert guesses("", finding, MOCK) == []
    assert guesses("# " + "x" * (300 << 10) + f"\n{text}", finding, MOCK) == []
    assert guesses(text, finding, {"nonsense": 1}) == []


def edit(line: int, start: int, end: int, text: str) -> TextEdit:
    return TextEdit(Range(Position(line, start), Position(line, end)), text)


def test_edits_speak_of_the_text_before_all_of_them() -> None:
    edits = [edit(1, 0, 1, "bb"), edit(0, 3, 4, ""), edit(0, 0, 0, "(")]
    assert applied("a𝄞c\r\nb", edits) == "(a𝄞\r\nbb"
    assert applied("abcd\nb", [edit(0, 1, 2, "X"), edit(0, 2, 3, "Y")]) == "aXYd\nb"
    assert overlap([edit(0, 1, 3, "")], [edit(0, 2, 2, "x")])
    assert not overlap([edit(0, 1, 3, "")], [edit(1, 2, 2, "x")])
    with pytest.raises(ValueError, match="overlap"):
        applied("abcd", [edit(0, 0, 2, ""), edit(0, 1, 3, "")])


@given(st.lists(st.sampled_from(["a", "é", "𝄞", "\n", "\r", "\r\n", "\t", " "])), st.data())
def test_an_edit_replaces_exactly_its_range(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    start = data.draw(st.integers(0, len(pieces)))
    end = data.draw(st.integers(start, len(pieces)))
    before, after = "".join(pieces[:start]), "".join(pieces[end:])
    if (before + "|").endswith("\r|") and text[len(before) :].startswith("\n"):
        return  # between the two halves of a line end nothing can be addressed
    if text[: len(text) - len(after)].endswith("\r") and after.startswith("\n"):
        return
    span = Range(position(before), position(text[: len(text) - len(after)]))
    assert applied(text, [TextEdit(span, "<>")]) == f"{before}<>{after}"


@pytest.mark.parametrize("text", [case[0] for case in LAYOUT if case[1]])
def test_a_copy_leaves_the_rest_of_the_program_alone(text: str) -> None:
    (after,) = outcomes(text, "layout", None)
    tree = ast.parse(after.removeprefix("\ufeff"))
    copies = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "contiguous"]
    assert len(copies) == 1


OLD, NEW = "a = f(x.t())\nb = 1\n", "a = f(x.t().contiguous())\nb = 1\n"


def found(rule: str, line: int, start: int, end: int, severity: Severity = Severity.WARNING) -> Finding:
    return Finding(rule, severity, "m", "/p/model.py", Range(Position(line, start), Position(line, end)), Stage.MOCK)


def report(
    *findings: Finding, status: FileStatus = FileStatus.FINDINGS, state: StageState = StageState.DONE
) -> FileReport:
    stages = [StageReport(stage, state, 0.1) for stage in (Stage.PREVIEW, Stage.MOCK)]
    return FileReport("/p/model.py", status, [TargetReport("Model", 0, stages)], list(findings))


LAYOUT_FOUND = found("layout", 0, 6, 11)
AROUND = found("dtype", 0, 4, 12)
BELOW = found("dtype", 1, 4, 5)


@pytest.mark.parametrize(
    ("after", "proved"),
    [
        (report(status=FileStatus.CLEAN), True),
        (report(found("dtype", 0, 4, 25), BELOW), True),
        (report(LAYOUT_FOUND), False),
        (report(found("layout", 0, 6, 24)), False),
        (report(found("alignment", 1, 4, 5)), False),
        (report(found("dtype", 1, 4, 5, Severity.ERROR)), False),
        (report(found("dtype", 1, 4, 5, Severity.HINT)), True),
        (report(found("capture-error", 0, 4, 12)), False),
        (report(status=FileStatus.FAILED), False),
        (report(status=FileStatus.TIMEOUT), False),
        (report(status=FileStatus.CRASHED), False),
        (report(status=FileStatus.NO_TARGET), False),
        (report(state=StageState.FAILED), False),
        (FileReport("/p/model.py", FileStatus.CLEAN), False),
    ],
)
def test_a_fix_is_proved_when_the_finding_went_and_none_came(after: FileReport, proved: bool) -> None:
    before = report(LAYOUT_FOUND, AROUND, BELOW)
    assert proves(after, before, [LAYOUT_FOUND], OLD, NEW) is proved


@pytest.mark.parametrize(
    ("before", "body", "pure"),
    [
        ("SCALE = 2.0\n", "return «f.g(x)» * SCALE", True),
        ("def double(x):\n    return x * 2\n", "return double(«f.g(x)»)", True),
        ("def double(x):\n    print(x)\n    return x * 2\n", "return double(«f.g(x)»)", False),
        ("SCALE = 2.0\nSCALE = 3.0\n", "return «f.g(x)» * SCALE", False),
        ("weight = torch.ones(3)\n", "return «f.g(x)» * weight", False),
        ("seen = []\n", "seen.append(1)\n    return «f.g(x)»", False),
        ("import random\n", "return «f.g(x)» * random.random()", False),
        ("", "x.add_(1)\n    return «f.g(x)»", False),
        ("", "x[0] = 1\n    return «f.g(x)»", False),
        ("", "torch.manual_seed(0)\n    return «f.g(x)»", False),
        ("calls = 0\n", "global calls\n    calls = 1\n    return «f.g(x)»", False),
    ],
)
def test_only_a_pure_function_is_put_into_the_graph_as_a_whole(before: str, body: str, pure: bool) -> None:
    text = f"import functools as f\nimport torch\n{before}\n\ndef own(x):\n    {body}\n\n\nown(torch.ones(3))\n"
    found = outcomes(text, "graph-break", GraphBreak(BreakCause.INSPECTION, "f.g(x)"))
    assert ["@torch._dynamo.nonstrict_trace\ndef own(x)" in each for each in found] == [True] * pure
