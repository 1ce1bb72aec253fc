"""An edit of blank lines and plain comments is known to change nothing, and where lines are then; no other edit is."""

from __future__ import annotations

import ast
import random

import pytest
from inductor_debug.source.silent_edits import LineMoves, silent_edit
from inductor_debug_schema import Position, Range

MODEL = '''\
"""A model."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(
            width,
            width,  # as wide
        )

    def forward(self, x):
        """Adds.

        # no comment
        """
        # as papers have it
        b, t, c = x.shape  # (B, T, C)
        if t > 1:
            x = x + self.project(x)

        return x.view(
            b, t,
            c)
'''


def moves(new: str, old: str = MODEL, *, inferred: bool = False) -> LineMoves | None:
    return silent_edit(old, new, inferred=inferred)


def edited(old: str, new: str) -> str:
    assert MODEL.count(old) == 1
    return MODEL.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        # as papers have it\n", ""),
        ("        # as papers have it\n", "        # as it is, in other words\n        # and more of them.\n"),
        ("        # as papers have it\n", "\n        # ----\n   \n"),
        ("import torch\n", "# what it needs\nimport torch  # of course\n"),
        ("            x = x + self", "            # mixes: heads, then tokens\n\n            x = x + self"),
        ("    def forward", "    # what is called\n    def forward"),
        ("class Block", "\n\n\nclass Block"),
        ("            c)\n", "            c)\n\n# the end"),
    ],
)
def test_blank_lines_and_plain_comments_say_nothing(old: str, new: str) -> None:
    text = edited(old, new)
    found = moves(text)
    assert found is not None
    before, after = MODEL.split("\n"), text.split("\n")
    for line, moved in found.lines.items():
        assert before[line].split("  #")[0] == after[moved].split("  #")[0]
    back = moves(MODEL, text)
    assert back is not None
    assert back.lines == {moved: line for line, moved in found.lines.items()}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + self", "x - self"),
        ("x + self", "x  +  self"),
        ("t > 1", "t > 2"),
        ("            x = x + self.project(x)\n", "            pass\n"),
        ("b, t, c = x.shape", "n, t, c = x.shape"),
        ("# (B, T, C)", "# (B, C, T)"),
        ("x + self.project(x)", "x + self.project(x)  # B x T"),
        ("x + self.project(x)", "x + self.project(x)  # (B, T, C)"),
        ("x + self.project(x)", "x + self.project(x)  # inductor-debug: ignore"),
        ("import torch\n", "import torch  # for cuda\n"),
        ("        # as papers have it\n", "        # as papers have it ->\n"),
        ("        # no comment\n", "        # a comment\n"),
        ("        # no comment\n", ""),
        ("Adds.\n\n", "Adds.\n\n\n"),
        ("            width,\n", "            width,\n            # and then\n"),
        ("            b, t,\n", "            b, t,\n\n"),
        ("            width,  # as wide", "            width,  # as wide as that"),
        ("class Block", "# inductor-debug: inputs=(1,)\nclass Block"),
        ("    def forward(self, x):\n", "    def forward(self, y):\n"),
        ("return x.view", "return x.view  # so\\\n"),
    ],
)
def test_whatever_may_say_something_is_none(old: str, new: str) -> None:
    assert moves(edited(old, new)) is None
    assert moves(MODEL, edited(old, new)) is None


def test_what_a_comment_goes_on_with_stays_with_it() -> None:
    text = edited("class Block", "# inductor-debug: inputs=(1,)\nclass Block")
    assert moves(text.replace("inputs=(1,)\n", "inputs=(1,)\n# and more\n"), text) is None
    assert moves(text.replace("import torch\n", "# and more\nimport torch\n"), text) is not None


def test_with_inferred_inputs_comments_beside_shapes_are_shapes() -> None:
    beside = edited("x + self.project(x)", "x + self.project(x)  # mixed")
    assert moves(beside) is not None
    assert moves(beside, inferred=True) is None
    elsewhere = edited("class Block", "# a block\nclass Block")
    assert moves(elsewhere, inferred=True) is not None
    near = edited("        # as papers have it\n", "        # as others have it\n")
    assert moves(near) is not None
    assert moves(near, inferred=True) is None
    text = "import torch\n\n\n# a\ndef f(x):\n    return x\n"
    assert silent_edit(text, text.replace("# a\n", "# b\n\n"), inferred=True) is not None


def test_ranges_move_by_whole_lines() -> None:
    found = moves(edited("class Block", "# a block\nclass Block"))
    assert found is not None
    assert not found.stays
    assert found.moved(Range(Position(14, 4), Position(26, 14))) == Range(Position(15, 4), Position(27, 14))
    assert found.moved(Range(Position(2, 0), Position(2, 5))) == Range(Position(2, 0), Position(2, 5))
    assert found.moved(Range(Position(1, 0), Position(2, 5))) is None
    assert moves(edited("        # as papers have it\n", "        # as it is\n")) == LineMoves(
        {line: line for line in (moves(MODEL) or found).lines}, True
    )


LINES = [
    "",
    "   ",
    "# words",
    "    # words, and more words.",
    "        x = x + 1",
    "        # (B, T)",
    '"""',
    "        '''",
    "        )",
    "        # cuda",
    "class Other: pass",
    "\\",
]


@pytest.mark.parametrize("seed", range(300))
def test_what_is_called_silent_has_the_same_code_at_the_lines_that_it_names(seed: int) -> None:
    choose = random.Random(seed)
    lines = MODEL.split("\n")
    for _ in range(choose.randint(1, 3)):
        at = choose.randrange(len(lines))
        if choose.random() < 0.6:
            lines.insert(at, choose.choice(LINES))
        elif choose.random() < 0.5:
            del lines[at]
        else:
            lines[at] += choose.choice(["  # words", " ", "  # (B, T)", "#"])
    text = "\n".join(lines)
    found = moves(text, inferred=choose.random() < 0.5)
    if found is None:
        return
    one, other = ast.parse(MODEL), ast.parse(text)
    assert ast.dump(one) == ast.dump(other)
    for before, after in zip(ast.walk(one), ast.walk(other), strict=True):
        if isinstance(before, ast.expr | ast.stmt) and isinstance(after, ast.expr | ast.stmt):
            assert found.moved_line(before.lineno - 1) == after.lineno - 1
            assert found.moved_line((before.end_lineno or 0) - 1) == (after.end_lineno or 0) - 1
            assert (before.col_offset, before.end_col_offset) == (after.col_offset, after.end_col_offset)
