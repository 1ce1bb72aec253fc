"""Back to what ran: which pieces of an earlier text are others now, and that each can be put back by itself."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from inductor_debug.engine.fixes.edits import applied
from inductor_debug.engine.fixes.going_back.pieces_put_back import going_back
from inductor_debug.engine.fixes.going_back.text_differences import differences
from inductor_debug.engine.results.working_texts import WorkingTexts
from inductor_debug_schema import (
    FileReport,
    FileStatus,
    Finding,
    Position,
    Range,
    Related,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
)

MODEL = '''\
from torch import nn


class Attention(nn.Module):
    """Heads."""

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)  # all three
        self.out = nn.Linear(width, width)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        scores = (q @ k.transpose(-2, -1)) * C**-0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        y = scores.softmax(dim=-1) @ v
        return self.out(
            y.reshape(B, T, C),
        )
'''
EDITS = {
    "an argument": ("dim=2", "dim=1", ["self.qkv(x).split(C, dim=2)"]),
    "a call that was taken away": ("k.transpose(-2, -1)", "k", ["k.transpose(-2, -1)"]),
    "arguments that changed places": ("nn.Linear(width, 3 * width)", "nn.Linear(3 * width, width)", None),
    "an operator": (") * C**-0.5", ") + C**-0.5", ["(q @ k.transpose(-2, -1)) * C**-0.5"]),
    "an operand that needs its parentheses": ("(q @ k.transpose(-2, -1)) * C", "q * C", ["q @ k.transpose(-2, -1)"]),
    "a name": ("self.out(\n", "self.ouut(\n", None),
    "a parameter": ("forward(self, x", "forward(x", ["def forward(self, x, mask=None)"]),
    "an argument that is gone": ("3 * width)", ")", ["nn.Linear(width, 3 * width)"]),
    "a statement that is gone": ("        self.heads = heads\n", "", ["self.heads = heads"]),
    "the last statement of a block that is gone": ("        self.out = nn.Linear(width, width)\n", "", None),
    "a statement that came": ("        y = scores", "        scores = scores.double()\n        y = scores", [""]),
    "a condition": ("mask is not None", "mask is None", ["mask is not None"]),
    "a text that is written in two lines": ("y.reshape(B, T, C),\n", "y.reshape(\n                B, T),\n", None),
    "two places": ("C, dim=2", "C, dim=1", None),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_is_put_back_gives_the_earlier_text(name: str) -> None:
    right, wrong, was = EDITS[name]
    now = MODEL.replace(right, wrong, 1)
    found = differences(MODEL, now)
    assert found
    assert ast.dump(ast.parse(applied(now, [each.edit for each in found]))) == ast.dump(ast.parse(MODEL))
    if was is not None:
        assert [each.was for each in found] == was


def test_a_statement_that_came_before_one_that_was_changed_is_no_other_form_of_it() -> None:
    now = MODEL.replace("        return self.out(\n", "        y = y * 2\n        return self.oout(\n")
    came, changed = differences(MODEL, now)
    assert (came.was, changed.was) == ("", "self.out( y.reshape(B, T, C), )")
    assert applied(now, [came.edit, changed.edit]) == MODEL


def test_comments_and_blank_lines_are_no_difference() -> None:
    assert differences(MODEL, MODEL.replace("  # all three", "").replace("        B, T", "\n        B, T")) == []


def test_texts_that_do_not_parse_have_no_differences() -> None:
    assert differences(MODEL, MODEL + "(") == []
    assert differences("(", MODEL) == []


def test_line_ends_stay_as_they_are() -> None:
    now = MODEL.replace("y.reshape(B, T, C),", "y,").replace("\n", "\r\n")
    found = differences(MODEL.replace("(B, T, C)", "(B, T,\n                C)"), now)
    [edit] = [each.edit for each in found]
    assert edit.text == "y.reshape(B, T,\r\n                C)"


def finding(line: int, *related: int, severity: Severity = Severity.ERROR, rule: str = "capture-error") -> Finding:
    more = [Related("/model.py", span(each), "declared here") for each in related]
    return Finding(
        rule, severity, "sizes differ", "/model.py", span(line), Stage.PREVIEW, target="Attention", related=more
    )


def span(line: int) -> Range:
    return Range(Position(line, 8), Position(line, 20))


def line_of(text: str) -> int:
    return MODEL[: MODEL.index(text)].count("\n")


def test_the_piece_that_the_finding_is_about_is_tried_first() -> None:
    now = MODEL.replace("dim=2", "dim=1").replace("nn.Linear(width, width)", "nn.Linear(width, 8)")
    split, layer = "self.qkv(x).split(C, dim=2)", "nn.Linear(width, width)"
    at_split = [fix.title for fix in going_back(now, MODEL, finding(line_of("q, k, v")))]
    assert at_split == [
        f"Back to what ran: `{split}`",
        f"Back to what ran: `{layer}`",
        f"Back to what ran: `{layer}`, `{split}`",
    ]
    at_layer = going_back(now, MODEL, finding(line_of("return self.out"), line_of("self.out =")))
    assert at_layer[0].title == f"Back to what ran: `{layer}`"


def test_a_text_that_was_rewritten_is_left_alone() -> None:
    names = {"scores": "weights", "heads": "parts", "width": "size", "mask": "hidden", "qkv": "three"}
    now = MODEL
    for name, other in names.items():
        now = now.replace(name, other)
    assert going_back(now, MODEL, finding(15)) == []


def report(*targets: str, failed: str = "", findings: tuple[Finding, ...] = ()) -> FileReport:
    told = [
        TargetReport(
            name, 3, [StageReport(Stage.PREVIEW, StageState.FAILED if name == failed else StageState.DONE, 0.1)]
        )
        for name in targets
    ]
    return FileReport("/model.py", FileStatus.FINDINGS, told, list(findings))


PLACE = ("python", "/", "/model.py")


def test_the_last_text_that_ran_is_known_for_each_target(tmp_path: Path) -> None:
    texts = WorkingTexts(tmp_path)
    texts.keep(PLACE, "both", report("Attention", "Net"), saved=True)
    texts.keep(PLACE, "one", report("Attention", "Net", failed="Net"), saved=True)
    texts.keep(PLACE, "none", report("Attention", "Net", failed="Net", findings=(finding(3),)), saved=True)
    for known in (texts, WorkingTexts(tmp_path)):
        assert (known.of(PLACE, "Attention"), known.of(PLACE, "Net"), known.of(PLACE, "Other")) == ("one", "both", None)


def test_only_what_was_saved_outlives_the_daemon(tmp_path: Path) -> None:
    texts = WorkingTexts(tmp_path)
    texts.keep(PLACE, "saved", report("Net"), saved=True)
    texts.keep(PLACE, "typed", report("Net"), saved=False)
    assert texts.of(PLACE, "Net") == "typed"
    assert WorkingTexts(tmp_path).of(PLACE, "Net") == "saved"
    assert WorkingTexts().of(PLACE, "Net") is None


@pytest.mark.parametrize("content", ["", "[]", '{"ran": 3}', '{"ran": [{"text": 1, "targets": ["Net"]}]}'])
def test_a_file_that_somebody_spoilt_is_forgotten(tmp_path: Path, content: str) -> None:
    WorkingTexts(tmp_path).keep(PLACE, "saved", report("Net"), saved=True)
    [file] = tmp_path.iterdir()
    file.write_text(textwrap.dedent(content))
    assert WorkingTexts(tmp_path).of(PLACE, "Net") is None
