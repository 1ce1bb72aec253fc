"""Many compiled instances of a class are more than torch makes versions of a function; guards are readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import Job, analyze
from inductor_debug_schema import Stage

pytestmark = pytest.mark.torch

BLOCKS = """
import torch

class Block(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x) * {value}

x = torch.randn(4, 8)
for number in range({count}):
    x = torch.compile(Block(number))(x)
"""


def job_of(tmp_path: Path, text: str) -> Job:
    return analyze(tmp_path / "model.py", text, stages=(Stage.PREVIEW, Stage.MOCK), accelerator="none")


def test_the_tenth_version_of_a_function_runs_eagerly_and_is_told_once(tmp_path: Path) -> None:
    job = job_of(tmp_path, BLOCKS.format(value="self.number", count=10))
    [told] = job.of("recompile")
    assert told.message.startswith("10 instances of `Block` are compiled, each as one more version of `Block.forward`")
    assert job.marked(told) == "Block"


@pytest.mark.parametrize(("value", "count"), [("2", 10), ("self.number", 3)], ids=["one version", "few instances"])
def test_instances_that_torch_can_keep_up_with_are_not_told(tmp_path: Path, value: str, count: int) -> None:
    assert job_of(tmp_path, BLOCKS.format(value=value, count=count)).of("recompile") == []


def test_a_counter_is_blamed_by_the_name_of_its_item(tmp_path: Path) -> None:
    text = """
from collections import Counter
import torch

seen = Counter()

# inductor-debug: inputs=[(torch.randn(4),), (torch.randn(4),)]
def count(x):
    seen["calls"] += 1
    return x * seen["calls"]
"""
    [told] = job_of(tmp_path, text).of("recompile")
    assert "`count` is compiled again for call 2: `seen['calls']` is there" in told.message
