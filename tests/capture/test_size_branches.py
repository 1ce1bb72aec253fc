"""Graph breaks in branches that an inferred size chose are no warning; with the user's own inputs they are."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import analyze
from inductor_debug_schema import Finding, GraphBreak, Severity, SizeCondition, Stage
from torch.fx.experimental.symbolic_shapes import ShapeEnv

pytestmark = pytest.mark.torch

_MODEL = """
import torch
from torch import nn

def warned(quiet, number):
    if number < 700:
        print("below")
    return quiet

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.layer = nn.Embedding(100, 32), nn.Linear(32, 32)

    def forward(self, tokens, quiet=True):
        length = tokens.shape[1]
        x = self.embedding(tokens)
"""


def breaks(path: Path, body: str, after: str = "", before: str = "") -> list[Finding]:
    lines = "\n".join("        " + line for line in dedent(body).strip().splitlines())
    model = _MODEL.replace("class Reader", f"{before}class Reader")
    text = f"{model}{lines}\n        return self.layer(x)\n{after}"
    job = analyze(path / "model.py", text, stages=(Stage.PREVIEW, Stage.MOCK), accelerator="none")
    return [finding for finding in job.findings if finding.rule == "graph-break"]


def condition_of(finding: Finding) -> SizeCondition | None:
    assert isinstance(finding.facts, GraphBreak)
    return finding.facts.only_where


@pytest.mark.parametrize(
    ("body", "condition", "holds"),
    [
        ("if length < 700:\n    print('short')", "length < 700", True),
        ("if length >= 700:\n    x = x + 1\nelse:\n    print('short')", "length >= 700", False),
        ("if length > 700:\n    x = x + 1\nelif length < 99:\n    print('short')", "length < 99", True),
        ("if quiet and not length >= 700:\n    print('short')", "quiet and not length >= 700", True),
        ("if not quiet or length < 700:\n    print('short')", "not quiet or length < 700", True),
        ("short = length < 700\nif short:\n    print('short')", "short", True),
        ("x = x + (1 if length > 700 else len(str(print('short'))))", "length > 700", False),
        ("warned(quiet, length)", "number < 700", True),
    ],
)
def test_a_break_under_a_size_of_ours_is_information(tmp_path: Path, body: str, condition: str, holds: bool) -> None:
    [found] = breaks(tmp_path, body)
    asked = condition_of(found)
    assert asked is not None
    assert (asked.expression, asked.holds, list(asked.sizes)) == (condition, holds, ["length"])
    assert found.severity is Severity.INFORMATION
    said = "holds" if holds else "does not hold"
    size = asked.sizes["length"]
    assert f"It is met only where `{condition}` {said}, as with length = {size}, which was inferred." in found.message


@pytest.mark.parametrize(
    "body",
    [
        "print('always')",
        "if length > 1:\n    print('with every length')",
        "if length < 700 or quiet:\n    print('quiet')",
        "if length > 700 and quiet:\n    x = x + 1\nelse:\n    print('no long one, or not quiet')",
        "if length < 700:\n    x = x + 1\nprint('behind')",
        "if self.layer.out_features < 700:\n    print('small')",
        "warned(quiet, 5)\nwarned(quiet, length)",
        "warned(quiet, length)\nwarned(quiet, 5)",
    ],
)
def test_what_other_sizes_may_meet_as_well_is_a_warning(tmp_path: Path, body: str) -> None:
    [found] = breaks(tmp_path, body)
    assert (condition_of(found), found.severity) == (None, Severity.WARNING)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# inductor-debug: inputs=(torch.zeros(2, 16, dtype=torch.long),)\n", ""),
        ("", "\ndef example_inputs():\n    return (torch.zeros(2, 16, dtype=torch.long),)\n"),
    ],
)
def test_with_inputs_that_were_given_it_is_a_warning(tmp_path: Path, before: str, after: str) -> None:
    [found] = breaks(tmp_path, "if length < 700:\n    print('short')", after, before)
    assert (condition_of(found), found.severity) == (None, Severity.WARNING)


def test_what_follows_in_the_same_branch_is_told_in_the_same_way(tmp_path: Path) -> None:
    evaluate = ShapeEnv.evaluate_expr
    found = breaks(tmp_path, "if length < 700:\n    print('one')\n    x = x + 1\n    print('two')\nprint('behind')")
    assert [finding.severity for finding in found] == [Severity.INFORMATION, Severity.INFORMATION, Severity.WARNING]
    assert ShapeEnv.evaluate_expr is evaluate


def test_what_is_called_in_such_a_branch_that_runs_eagerly_is_told_in_the_same_way(tmp_path: Path) -> None:
    body = """
    for number in range(2):
        if length < 700:
            print("one")
            x = made(x)
    """
    before = "def made(x):\n    print('two')\n    return x * 2\n\n"
    found = breaks(tmp_path, body, before=before)
    assert [finding.severity for finding in found] == [Severity.INFORMATION, Severity.INFORMATION]
