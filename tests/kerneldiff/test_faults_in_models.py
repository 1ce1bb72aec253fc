"""Each fault in each of a dozen models is found and blamed on its line; without a fault nobody is blamed."""

from __future__ import annotations

import inspect

import pytest
import torch
from fault_models import MODELS, inputs
from inductor_debug import KernelDiffHarness
from inductor_debug.kerneldiff.report import DiffReport, Verdict
from torch import nn

pytestmark = pytest.mark.torch

FAULTS = [
    ("drop-last-stick", "spyre", "result"),
    ("zero-output", "spyre", "result"),
    ("reduction-order", "spyre", "sum"),
    ("downcast-int64", "eager", "integers"),
]


class Floats(nn.Module):
    """A model without its integers, which the accelerator cuts to 32 bits on its own."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *args: torch.Tensor) -> list[torch.Tensor]:
        return [made for made in self.model(*args) if made.is_floating_point()]


def compared(kind: type[nn.Module], backend: str, *faults: str) -> DiffReport:
    torch.manual_seed(1)
    model = kind().eval() if backend == "eager" else Floats(kind()).eval()
    return KernelDiffHarness(model, inputs(kind), test_backend=backend, inject=faults).compare()


def line_of(kind: type[nn.Module], comment: str) -> int:
    """The line whose comment names it, counted from one."""
    lines, first = inspect.getsourcelines(kind)
    return first + next(number for number, text in enumerate(lines) if comment in text.partition("# ")[2])


@pytest.mark.parametrize("kind", MODELS)
def test_each_fault_is_blamed_on_its_line_and_no_other_is(kind: type[nn.Module]) -> None:
    clean = compared(kind, "spyre")
    assert clean.verdict is Verdict.PASS, clean.summary()
    assert clean.blame == []
    for fault, backend, comment in FAULTS:
        line = line_of(kind, comment)
        report = compared(kind, backend, f"{fault}@{line}")
        assert report.verdict in (Verdict.WRONG, Verdict.SUSPICIOUS), f"{fault}: {report.summary()}"
        blamed = {blame.place.range.start.line + 1 for blame in report.blame if blame.place is not None}
        assert blamed == {line}, f"{fault}: {report.summary()}"
