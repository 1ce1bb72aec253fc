"""What operators cost at least on an H100, against calculations by hand: 3,352 GB/s, 989.4 TFLOPS in 16 bits.

The figures of the card are those of its whitepaper; those of each operator are worked out in the table.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from capture_targets import build
from forked import analyze
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.rules.costing.run_costs import RunCosts
from inductor_debug_schema import ArtifactKind, ArtifactMade, CostBound, ExpressionsSeen, Roof, Stage

pytestmark = pytest.mark.torch

MIB = 1 << 20


@dataclass(frozen=True)
class ByHand:
    """An expression of a, b and c, whose shapes and dtypes are `tensors`, and what it comes to in microseconds."""

    expression: str
    tensors: tuple[str, ...]
    read: int
    written: int
    operations: int
    bound: float
    roof: Roof


BY_HAND = {
    # 2 * 4096^3 operations; the three matrices of 32 MiB alone would take 30 µs
    "mm": ByHand("a @ b", ("4096, 4096",) * 2, 64 * MIB, 32 * MIB, 2 * 4096**3, 138.9, Roof.COMPUTE),
    # 512 * 2 * 128 * 64 * 128 operations would take 1.1 µs
    "bmm": ByHand("torch.bmm(a, b)", ("512, 128, 64", "512, 64, 128"), 16 * MIB, 16 * MIB, 1 << 30, 10.01, Roof.MEMORY),
    # 2 * 2048 * 1024 * 4096 operations; 4 + 8 MiB and the bias of 8 KiB are read, 16 MiB written
    "addmm": ByHand(
        "torch.addmm(c, a, b)", ("2048, 1024", "1024, 4096", "4096"), 12 * MIB + 8192, 16 * MIB, 1 << 34, 17.36,
        Roof.COMPUTE,
    ),
    # 2 * 32 * 56 * 56 * 128 * 64 * 3 * 3 operations
    "conv2d": ByHand(
        "F.conv2d(a, b, padding=1)", ("32, 64, 56, 56", "128, 64, 3, 3"), 2 * (6_422_528 + 73_728), 2 * 12_845_056,
        14_797_504_512, 14.96, Roof.COMPUTE,
    ),
    # 64 MiB read, 64 MiB written
    "softmax": ByHand("torch.softmax(a, -1)", ("4096, 8192",), 64 * MIB, 64 * MIB, 0, 40.04, Roof.MEMORY),
    # 16 MiB read and written, weight and bias of 2 KiB
    "layer_norm": ByHand(
        "F.layer_norm(a, (1024,), b, c)", ("8192, 1024", "1024", "1024"), 16 * MIB + 4096, 16 * MIB, 0, 10.01,
        Roof.MEMORY,
    ),
    # 8,192 positions of 8 bytes and rows of 1,536; as these may all be one row, the bound is that of 64 KiB and 12 MiB
    "embedding": ByHand(
        "F.embedding(a, b)", ("8, 1024, dtype=torch.int64", "50257, 768"), 12 * MIB + 65_536, 12 * MIB, 0, 3.773,
        Roof.MEMORY,
    ),
    # 2 * 2 * 64 * 1024 * 1024 * 64 operations; query, key, value and result of 8 MiB
    "attention": ByHand(
        "F.scaled_dot_product_attention(a, b, c)", ("4, 16, 1024, 64",) * 3, 24 * MIB, 8 * MIB, 1 << 34, 17.36,
        Roof.COMPUTE,
    ),
    # 32 MiB twice read, once written
    "add": ByHand("a + b", ("1 << 24",) * 2, 64 * MIB, 32 * MIB, 0, 30.03, Roof.MEMORY),
    # 64 MiB read and written
    "transpose": ByHand("a.t().contiguous()", ("8192, 4096",), 64 * MIB, 64 * MIB, 0, 40.04, Roof.MEMORY),
}  # fmt: skip


def total(tmp_path: Path, expression: str, *tensors: str, dtype: str = "bfloat16") -> CostBound:
    inputs = ", ".join(
        f"torch.zeros({sizes if 'dtype' in sizes else f'{sizes}, dtype=torch.{dtype}'})" for sizes in tensors
    )
    code = f"""
        import torch.nn.functional as F

        def model(a, b=None, c=None):
            return {expression}

        inputs = ({inputs},)
        """
    target, sources = build(tmp_path, code)
    cost = RunCosts(read_profile(load_document("h100"))).total(run_preview(target, sources).recording)
    assert cost is not None
    return cost.total


@pytest.mark.parametrize("name", BY_HAND)
def test_operators_cost_what_they_cost_by_hand(tmp_path: Path, name: str) -> None:
    known = BY_HAND[name]
    cost = total(tmp_path, known.expression, *known.tensors)
    assert (cost.bytes_read, cost.bytes_written, cost.operations) == (known.read, known.written, known.operations)
    assert cost.seconds == pytest.approx(known.bound * 1e-6, rel=0.01)
    assert cost.limited_by is known.roof


def test_float32_products_are_rounded_to_tf32_where_the_user_allows_it(tmp_path: Path) -> None:
    exact = total(tmp_path, "a @ b", "4096, 4096", "4096, 4096", dtype="float32")
    assert exact.seconds == pytest.approx(2 * 4096**3 / 66.9e12, rel=0.01)
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("high")
        rounded = total(tmp_path, "a @ b", "4096, 4096", "4096, 4096", dtype="float32")
    finally:
        torch.set_float32_matmul_precision(before)
    assert rounded.seconds == pytest.approx(2 * 4096**3 / 494.7e12, rel=0.01)


def test_causal_attention_needs_half_of_the_scores(tmp_path: Path) -> None:
    shapes = ("4, 16, 1024, 64",) * 3
    cost = total(tmp_path, "F.scaled_dot_product_attention(a, b, c, is_causal=True)", *shapes)
    assert cost.operations == (1 << 34) * 1025 // 2048


MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(64, 128),)
class Model(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 8))

    def forward(self, x):
        y = super().forward(x)
        return (y * 2).sum()
"""


def test_a_job_tells_what_expressions_and_runs_cost_where_the_accelerators_speed_is_known(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL, encoding="utf-8")
    job = analyze(path, accelerator="h100")
    (stage,) = job.stages
    assert stage.report.cost is not None
    assert (stage.report.cost.accelerator, stage.report.cost.total.operations) == ("h100", 2 * 64 * 512 * (128 + 8))
    (seen,) = (event for event in job.events if isinstance(event, ExpressionsSeen))
    costs = {job.marked(fact): fact.cost for fact in seen.expressions}
    layers = costs["super().forward(x)"]
    assert layers is not None
    assert (layers.ops, layers.operations, layers.limited_by) == (3, 2 * 64 * 512 * (128 + 8), Roof.COMPUTE)
    assert costs["y * 2"] == CostBound(1, 2048, 2048, 0, 0, 0.0, 4096 / 3352e9, None, 0.0)
    (plain,) = analyze(path, accelerator="none").stages
    assert plain.report.cost is None


UNCACHED = """\
schema = 1
name = "uncached"
gpu = { platform = "cuda", l2_bytes = 1 }
speed = { bytes_per_second = "1 TB" }
"""
ATTENTION = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 128, 64),)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.query, self.key, self.value, self.out = (nn.Linear(64, 64) for _ in range(4))
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)

    def forward(self, x):
        y = self.norm(x)
        scores = self.query(y) @ self.key(y).transpose(1, 2) / 8
        x = x + self.out(torch.softmax(scores, -1) @ self.value(y))
        return x + self.down(torch.relu(self.up(x)))
"""


def test_what_inductors_kernels_move_is_more_than_has_to_cross(tmp_path: Path) -> None:
    path, profile = tmp_path / "model.py", tmp_path / "uncached.toml"
    path.write_text(ATTENTION, encoding="utf-8")
    profile.write_text(UNCACHED, encoding="utf-8")
    stages = (Stage.AOT, Stage.INDUCTOR)
    job = analyze(path, stages=stages, accelerator=str(profile), keep_graphs=True, keep_costs=True)
    made = {
        (event.title, event.stage): json.loads(event.content)
        for event in job.events
        if isinstance(event, ArtifactMade) and event.kind is ArtifactKind.STATISTICS
    }
    kernels = made["statistics", Stage.INDUCTOR]["kernels"]
    assert kernels["unknown"] == 0
    for stage in stages:
        total = made["costs", stage]["run"]["total"]
        moved = kernels["bytes_read"] + kernels["bytes_written"]
        assert total["crossing_bytes"] < moved < total["bytes_read"] + total["bytes_written"]
