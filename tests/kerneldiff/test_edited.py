"""The task `same-results`: whether a model computes the same after an edit of its text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from forked import in_child
from inductor_debug.accelerators.profile import load_document
from inductor_debug.kerneldiff.same_results import perform
from inductor_debug_schema import Answered, Event, Finished, JobRequest, SameResultsTask, to_wire

pytestmark = pytest.mark.torch

WITNESS = "saw_it"
HEAD = """\
import math
import torch
import torch.nn.functional as F
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 48)
        self.norm = nn.BatchNorm1d(16)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
"""
TAIL = "\n\ndef get_inputs():\n    return [torch.randn(4, 8, 16)]\n"


def text_of(*lines: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in lines) + TAIL


def answer(tmp_path: Path, before: str, after: str, **options: Any) -> dict[str, Any]:
    path = tmp_path / "model.py"
    path.write_text(before)
    task = SameResultsTask(after, **{"witness": WITNESS, **options})
    request = JobRequest(1, str(path), before, str(tmp_path), [], load_document("none"), task=task)

    def work() -> list[Event]:
        made: list[Event] = []
        perform(request, made.append)
        return made

    events = in_child(work)[0]
    assert isinstance(events[-1], Finished)
    assert len([event for event in events if isinstance(event, Finished)]) == 1
    [answered] = [event for event in events if isinstance(event, Answered)]
    document: dict[str, Any] = to_wire(answered.document)
    return document


SPLIT = "q, k, v = self.first(x).chunk(3, -1)"
BY_HAND = (
    SPLIT,
    "scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])",
    "return self.dropout(scores.softmax(-1)) @ v",
)


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (BY_HAND, (SPLIT, "return F.scaled_dot_product_attention(q, k, v, dropout_p=0.2 * self.training)"), True),
        (BY_HAND, (SPLIT, "return F.scaled_dot_product_attention(q, k, v, scale=1.0)"), False),
        (BY_HAND, (SPLIT, "return F.scaled_dot_product_attention(q, k, v)"), False),
        (("return x / x.max().item()",), ("return x / x.max().detach()",), True),
        (("return self.first(x) / x.abs().max().item()",), ("return self.first(x) / x.abs().max()",), False),
        (("return self.norm(x.mT)",), ("print(x.shape)", "return self.norm(x.mT)"), True),
        (("return x.relu()",), ("return x.relu().double()",), False),
        (("return x.relu() if x.sum() > 0 else x",), ("return torch.where(x.sum() > 0, x.relu(), x)",), True),
        (("return x.relu() if x.sum() > 0 else x",), ("return x.relu()",), False),
        (("return x + torch.rand(4, 8, 16)",), ("return torch.rand(4, 8, 16) + x",), True),
        (("x += 1", "return x",), ("x = x + 1", "return x"), False),
    ],
)  # fmt: skip
def test_an_edit_is_judged_by_what_the_model_computes(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], same: bool
) -> None:
    found = answer(tmp_path, text_of(*before), text_of(*after))
    assert (found["same"], bool(found["why"])) == (same, not same)


def test_both_ways_of_a_branch_are_seen(tmp_path: Path) -> None:
    before = text_of(f"if {WITNESS}(x.sum() > 0):", "    return x.relu()", "return x")
    after = text_of("return torch.where(x.sum() > 0, x.relu(), x)")
    found = answer(tmp_path, before, after, condition=True)
    assert (found["same"], found["ran"], found["ways"]) == (True, True, [False, True])
    never = text_of(f"if {WITNESS}(x.isnan().any()):", "    return x.relu()", "return x")
    found = answer(tmp_path, never, text_of("return x"), condition=True)
    assert (found["same"], found["ways"]) == (True, [False])


def test_what_never_ran_is_told(tmp_path: Path) -> None:
    before = text_of("if x.dim() == 7:", f"    x = {WITNESS}(x.relu())", "return x")
    found = answer(tmp_path, before, text_of("if x.dim() == 7:", "    x = x", "return x"))
    assert (found["same"], found["ran"]) == (True, False)


def test_what_cannot_be_compared_is_not_called_the_same(tmp_path: Path) -> None:
    found = answer(tmp_path, text_of("return self.nothing"), text_of("return x"))
    assert found["same"] is None
    assert "nothing" in found["why"]
    found = answer(tmp_path, text_of("return x"), text_of("return x / 'a'"))
    assert found["same"] is False
    assert "raises" in found["why"]


def test_a_buffer_that_the_model_writes_to_is_no_constant(tmp_path: Path) -> None:
    before = text_of("steps = torch.arange(16.0)", "steps += x.mean()", "return x + steps")
    registered = before.replace(
        "self.dropout =", 'self.register_buffer("steps", torch.arange(16.0))\n        self.dropout ='
    )
    after = registered.replace("steps = torch.arange(16.0)", "steps = self.steps")
    found = answer(tmp_path, before, after)
    assert found["same"] is False
    after = after.replace("steps += x.mean()", "steps = steps + x.mean()")
    assert answer(tmp_path, before, after)["same"] is True


def test_a_class_without_inputs_is_compared_with_inferred_ones(tmp_path: Path) -> None:
    before = text_of("y = self.first(x)", f"if {WITNESS}(y.sum() > 0):", "    y = -y", "return y").replace(TAIL, "")
    after = text_of("y = self.first(x)", "y = torch.where(y.sum() > 0, -y, y)", "return y").replace(TAIL, "")
    found = answer(tmp_path, before, after, condition=True)
    assert (found["same"], found["ways"]) == (True, [False, True])
