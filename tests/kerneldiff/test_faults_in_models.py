"""Each fault in each of several models is blamed on its line, or told to change nothing; without one nobody is."""

from __future__ import annotations

import inspect

import breadth
import pytest
import torch
from fault_models import MODELS, inputs
from inductor_debug import KernelDiffHarness
from inductor_debug.kerneldiff.emulation.injected_faults import ArithmeticFault
from inductor_debug.kerneldiff.judging.diff_report import DiffReport, InjectedFault, Verdict
from torch import nn

pytestmark = pytest.mark.torch

CERTAIN = [
    ("drop-last-stick", "spyre", "result"),
    ("zero-output", "spyre", "result"),
    ("reduction-order", "spyre", "sum"),
    ("downcast-int64", "eager", "integers"),
    ("wrong-rounding", "eager", "sum"),
]
"""Faults that spoil something in every model."""
OTHERS = [(fault.value, "spyre", comment) for fault in ArithmeticFault for comment in ("sum", "result")]
"""Faults that may have nothing to spoil where they are put."""


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


def outcome(kind: type[nn.Module], fault: str, backend: str, comment: str) -> InjectedFault:
    """What became of a fault at a line; it is blamed there, or nobody is."""
    line = line_of(kind, comment)
    report = compared(kind, backend, f"{fault}@{line}")
    (told,) = report.faults
    assert told.operations > 0, report.summary()
    blamed = {blame.place.range.start.line + 1 for blame in report.blame if blame.place is not None}
    assert blamed == ({line} if told.found else set()), f"{fault}: {report.summary()}"
    assert report.verdict is not Verdict.PASS or not told.found
    assert told.found or "changes no value here" in report.summary(), f"{fault} was missed: {report.summary()}"
    return told


@breadth.some("kind", MODELS, every=3)
def test_each_fault_is_blamed_on_its_line_and_no_other_is(kind: type[nn.Module]) -> None:
    clean = compared(kind, "spyre")
    assert clean.verdict is Verdict.PASS, clean.summary()
    assert clean.blame == []
    for fault in CERTAIN:
        told = outcome(kind, *fault)
        assert told.found, fault


@breadth.some("kind", MODELS, every=3)
def test_no_fault_that_changes_a_value_is_missed(kind: type[nn.Module]) -> None:
    for fault in OTHERS:
        if fault not in CERTAIN:
            told = outcome(kind, *fault)
            assert told.found == (told.changed > 0), fault
