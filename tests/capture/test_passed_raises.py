"""A graph break that stands behind an expression which always raises is not told: nobody gets there."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from capture_targets import build
from forked import analyze
from inductor_debug.capture.running.raising import Raising
from inductor_debug.capture.stages.mock import run_mock
from inductor_debug.capture.stages.preview import run_preview, times_until_raised
from inductor_debug_schema import Stage
from torch._dynamo.symbolic_convert import InstructionTranslatorBase

pytestmark = pytest.mark.torch

_OLD = """
import torch
from torch import nn

class Old(torch.autograd.Function):
    def forward(self, x):
        return x * 2

"""


def told(path: Path, body: str) -> set[tuple[str, str]]:
    """Rule and marked source of what is found in the forward of a model."""
    lines = "\n".join("        " + line for line in dedent(body).strip().splitlines())
    text = f"""{_OLD}
def part(x, old):
    if old:
        x = Old()(x)
    return x.permute(1, 0)

class Model(nn.Module):
    def forward(self, x):
{lines}

def example_inputs():
    return (torch.ones(4, 4),)
"""
    job = analyze(path / "model.py", text, stages=(Stage.PREVIEW, Stage.MOCK), accelerator="none")
    return {(finding.rule, job.marked(finding)) for finding in job.findings}


def test_what_breaks_behind_what_always_raises_is_not_told(tmp_path: Path) -> None:
    body = """
    for old in (False, False, True):
        x = part(x, old)
    print(x.shape)
    return x
    """
    assert told(tmp_path, body) == {("capture-error", "Old()(x)")}


def test_what_breaks_before_it_is_told_also_where_it_stands_below(tmp_path: Path) -> None:
    body = """
    for old in (False, True):
        if old:
            x = Old()(x)
        print(old)
        x = x.permute(1, 0)
    return x
    """
    assert told(tmp_path, body) == {("capture-error", "Old()(x)"), ("graph-break", "print(old)")}


def test_what_breaks_behind_an_exception_that_is_caught_is_told(tmp_path: Path) -> None:
    body = """
    try:
        x = Old()(x)
    except RuntimeError:
        x = x * 2
    print(x.shape)
    return Old()(x)
    """
    assert ("graph-break", "print(x.shape)") in told(tmp_path, body)


def test_how_often_the_place_was_come_to_is_counted_and_nothing_stays_watched(tmp_path: Path) -> None:
    text = f"""{_OLD}
def model(x):
    for number in range(3):
        x = (Old() if number == 2 else torch.relu)(x)
    return x
inputs = (torch.ones(4),)
"""
    target, sources = build(tmp_path, text)
    raising = run_preview(target, sources).raising
    assert raising is not None
    assert (raising.function, times_until_raised(raising, target, sources)) == ("model", 3)
    elsewhere = Raising(raising.path, raising.function, raising.first_line, 0)
    assert times_until_raised(elsewhere, target, sources) == 0
    step = InstructionTranslatorBase.step
    target.raising = raising
    run_mock(target, sources)
    assert InstructionTranslatorBase.step is step
