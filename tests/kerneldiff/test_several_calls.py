"""Comparisons call a target with each set of inputs in turn, and know the backends that the file itself defines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from inductor_debug.kerneldiff.execution.precise import Precise
from inductor_debug.kerneldiff.execution.structure import cloned
from test_diff_task import Diff, diff

pytestmark = pytest.mark.torch

HEAD = """\
import torch

def spoils_nine(graph_module, example_inputs):
    def run(*args):
        rows = [value.shape[0] for value in args if isinstance(value, torch.Tensor) and value.dim() == 2]
        return tuple(value + (9 in rows) / 2 for value in graph_module.forward(*args))
    return run

"""
ROWS = """\
# inductor-debug: inputs=[(torch.randn(8, 4),), (torch.randn(9, 4),)]
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
"""
REMEMBERS = """\
# inductor-debug: inputs=[(torch.ones(3, 4),), (torch.ones(3, 4),)]
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x):
        self.total = self.total + x.sum(0)
        return x * self.total
"""
COUNTS = """\
# inductor-debug: inputs=(torch.randn(8, 4),), train
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.norm = torch.nn.BatchNorm1d(4)

    def forward(self, x):
        self.calls += 1
        return self.norm(x) * self.calls
"""


def results(done: Diff, kind: str = "outputs") -> dict[str, str]:
    return {result["name"]: result["verdict"] for result in done.document[kind]}


def blamed(text: str, document: dict[str, Any]) -> str:
    found = document["blame"][0]["range"]
    line = text.splitlines()[found["start"]["line"]]
    return line[found["start"]["character"] : found["end"]["character"]]


def test_a_backend_of_the_file_that_spoils_the_second_call_is_caught(tmp_path: Path) -> None:
    done = diff(tmp_path, HEAD + ROWS, backend="spoils_nine", gradients=True)
    assert done.document["verdict"] == "wrong"
    assert done.document["why"].startswith("call 2, output")
    assert results(done) == {"call 1, output": "pass", "call 2, output": "wrong"}
    assert results(done, "gradients") == {"call 1, grad of args[0]": "pass", "call 2, grad of args[0]": "pass"}
    assert blamed(HEAD + ROWS, done.document) == "torch.relu(x)"


def test_a_call_meets_what_the_one_before_left_behind(tmp_path: Path) -> None:
    done = diff(tmp_path, "import torch\n" + REMEMBERS, backend="aot_eager")
    assert done.document["verdict"] == "pass", done.document["why"]
    norms = [result["metrics"]["norm_reference"] for result in done.document["outputs"][:2]]
    assert norms[1] == pytest.approx(2 * norms[0])


def test_a_write_that_spoils_gradients_is_blamed(tmp_path: Path) -> None:
    """What the forward writes to, the backward of torch 2.13 reads once more."""
    text = "import torch\n" + COUNTS
    done = diff(tmp_path, text, backend="aot_eager", gradients=True)
    if done.document["verdict"] == "pass":
        pytest.skip("this torch computes the gradient right")
    assert blamed(text, done.document) == "self.calls += 1"
    assert "buffer calls" in done.document["blame"][0]["why"]


def test_an_unknown_backend_is_told_beside_those_that_there_are(tmp_path: Path) -> None:
    assert "unknown backend 'Model'" in diff(tmp_path, HEAD + ROWS, backend="Model").document["why"]


def test_inputs_of_several_calls_are_copied_each_on_its_own_whatever_a_mode_makes_of_them() -> None:
    """What a mode converts on the way lies where the next conversion will lie."""
    inputs = [torch.full((64,), float(number)) for number in range(50)]
    with Precise(torch.float32):
        copies = cloned(inputs)
    assert [copied.dtype for copied in copies] == [torch.float32] * 50
    for given, copied in zip(inputs, copies, strict=True):
        assert torch.equal(given, copied)
