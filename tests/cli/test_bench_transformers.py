"""What `bench transformers` leaves out of its count: what cannot be called by default, once that is proven."""

from __future__ import annotations

import pytest
from inductor_debug_benchmarks.library_sweep import Architecture, promises, table
from inductor_debug_benchmarks.refused_defaults import RefusedDefault

MODEL = """
import torch


class Model(torch.nn.Module):
    def __init__(self, width={}):
        super().__init__()
        self.layer = torch.nn.Linear(width, 4)

    def set_attn_implementation(self, name):
        pass

    set_experts_implementation = set_attn_implementation

    def forward(self, x):
        if x.sum() != x.sum():
            raise KeyError("nothing is equal to itself")
        return self.layer(x)
"""


def row(name: str, refused: str = "", doubt: str = "") -> Architecture:
    return Architecture(name, "text", (), "", True, refused=refused, doubt=doubt)


def test_only_what_is_proven_is_left_out() -> None:
    analysed = Architecture("Fine", "text", (), "", True, "yes")
    rows = [analysed, row("Proven", refused="it has no sections"), row("Doubted", doubt="the call runs")]
    assert promises(rows)[0][1].startswith("1 of 2 architectures analysed")
    told = table(rows)
    assert "cannot be called: Proven: it has no sections" in told
    assert "not proven to be uncallable: Doubted: the call runs" in told


@pytest.mark.torch
@pytest.mark.parametrize(
    ("call", "error", "mended", "told"),
    [
        ("torch.zeros(2, 8)", "RuntimeError: mat1 and mat2", 8, ""),
        ("torch.zeros(2, 4)", "RuntimeError: mat1 and mat2", 4, "the call runs"),
        ("torch.zeros(8)[9]", "RuntimeError: mat1 and mat2", 8, "the call ends otherwise: IndexError"),
        ("torch.zeros(2, 8)", "RuntimeError: mat1 and mat2", 9, "the call does not run with width: RuntimeError"),
    ],
)
def test_a_call_that_runs_or_ends_otherwise_proves_nothing(call: str, error: str, mended: int, told: str) -> None:
    from inductor_debug_benchmarks.processes.default_faults import doubt

    found = doubt(RefusedDefault("", call, error, "width", real=True), [MODEL.format(4)], MODEL.format(mended))
    assert found.startswith(told)
    assert bool(found) == bool(told)


@pytest.mark.torch
def test_a_constructor_is_refused_where_real_tensors_are_refused_for_the_same_reason() -> None:
    from inductor_debug_benchmarks.processes.two_layers import _refusal

    text = (
        "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        {}\n"
    )
    assert _refusal(text.format("torch.zeros(3).tolist()")) == ""
    assert _refusal(text.format("self.x = {}['full']")) == "KeyError: 'full'"
    large = "self.layers = [torch.nn.Linear(1 << 14, 1 << 14) for _ in range(40)]; {}['full']"
    assert _refusal(text.format(large)) == "KeyError: 'full'"
