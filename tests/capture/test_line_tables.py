"""What runs after a graph break is told at its place, also behind an expression of several lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_targets import build, excerpt
from inductor_debug.capture.stages.mock import run_mock

pytestmark = pytest.mark.torch

MODEL = """
def model(x):
    print("a break")
    y = (
        x.permute(
            1, 0
        )
        .relu()
        .sigmoid()
    )
    return y.tanh() + 1


inputs = (torch.ones(4, 8),)
"""


def places(folder: Path, text: str) -> dict[str, str]:
    """The expression of each operation."""
    folder.mkdir()
    target, sources = build(folder, text)
    ops = run_mock(target, sources).recording.ops
    return {op.overload.split(".")[1]: excerpt(op.frames[0].location) for op in ops}


def test_places_behind_a_break_are_true_where_calls_go_over_several_lines(tmp_path: Path) -> None:
    told = places(tmp_path / "broken", MODEL)
    assert told == places(tmp_path / "whole", MODEL.replace('print("a break")', "pass"))
    assert told["add"] == "y.tanh() + 1"
    assert told["relu"].endswith("relu()")
