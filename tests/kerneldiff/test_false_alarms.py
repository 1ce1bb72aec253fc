"""Right arithmetic is never blamed: expressions that cancel, jump, overflow the precision or add up long chains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from inductor_debug import KernelDiffHarness
from inductor_debug.kerneldiff.judging.diff_report import Verdict
from torch import Tensor, nn
from torch.nn import functional

pytestmark = pytest.mark.torch

PROFILE = """\
schema = 1
name = "{name}"
title = "{name}"
[dtypes]
supported = ["float32"]
[arithmetic]
compute = "{compute}"
accumulate = "{accumulate}"
"""
HALF, FULL = torch.float16, torch.float32
MASK = torch.ones(8, 8).triu(1).bool()

Expression = Callable[[Tensor, Tensor], Tensor]


class Model(nn.Module):
    def __init__(self, expression: Expression) -> None:
        super().__init__()
        self.expression = expression

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.expression(x, y)


def doubled(x: Tensor, sign: int) -> Tensor:
    return torch.cat([x, sign * x], -1)


def equal_numbers(x: Tensor, y: Tensor) -> Tensor:
    return functional.layer_norm(x * 0 + 5.1, (96,))


def masked_attention(x: Tensor, y: Tensor) -> Tensor:
    return functional.softmax((x @ y.t()).masked_fill(MASK, -torch.inf), -1) @ x


CASES: list[tuple[str, str, str, torch.dtype, Expression]] = [
    ("cancels", "sen169_fp16", "float32", HALF, lambda x, y: (x + y) - x),
    ("cancels", "sen169_fp16", "float32", FULL, lambda x, y: (x * 100 + y) - x * 100),
    ("cancels", "bfloat16", "float32", HALF, lambda x, y: (x + y) - x),
    ("cancels to nothing", "float16", "float16", HALF, lambda x, y: doubled(x, -1).sum(-1)),
    ("cancels to nothing", "float16", "float16", FULL, lambda x, y: doubled(x, -1).sum(-1)),
    ("cancels to nothing", "float16", "float32", FULL, lambda x, y: (x - x.flip(-1)).sum(-1)),
    ("a product that cancels", "float16", "float16", FULL, lambda x, y: doubled(x, -1) @ doubled(y, 1).t()),
    ("a long chain", "float16", "float16", HALF, lambda x, y: torch.full((2000,), 0.1, dtype=x.dtype).sum() + x),
    ("equal numbers are normalised", "sen169_fp16", "float32", FULL, equal_numbers),
    ("jumps", "sen169_fp16", "float32", HALF, lambda x, y: torch.fmod(x * 7, 1.3)),
    ("jumps", "bfloat16", "float32", torch.bfloat16, lambda x, y: torch.remainder(x * 7, 1.3)),
    ("jumps", "sen169_fp16", "float32", FULL, lambda x, y: torch.round(x / 0.05) * 0.05),
    ("ties", "sen169_fp16", "float32", FULL, lambda x, y: torch.round(x).argmax(-1)),
    ("a format without infinities", "float8_e4m3fn", "float32", FULL, masked_attention),
]  # fmt: skip


@pytest.mark.parametrize(
    ("compute", "accumulate", "dtype", "expression"),
    [case[1:] for case in CASES],
    ids=[f"{name}, {compute}, {str(dtype)[6:]}" for name, compute, _, dtype, _ in CASES],
)
def test_arithmetic_that_is_as_good_as_its_formats_passes(
    tmp_path: Path, compute: str, accumulate: str, dtype: torch.dtype, expression: Expression
) -> None:
    profile = tmp_path / "own.toml"
    profile.write_text(PROFILE.format(name="own", compute=compute, accumulate=accumulate))
    generator = torch.Generator().manual_seed(102)
    x, y = (torch.randn(8, 96, generator=generator).to(dtype) for _ in range(2))
    report = KernelDiffHarness(Model(expression), (x, y), test_backend=str(profile)).compare()
    assert report.verdict is Verdict.PASS, report.summary()
    assert not report.blame


def distances_in_buckets(x: Tensor, y: Tensor) -> Tensor:
    """As relative positions are: the logarithm of 0 becomes the lowest integer, which nobody reads."""
    distances = (torch.arange(96) - torch.arange(8)[:, None]).abs()
    far = 4 + (torch.log(distances / 4) * 3).to(torch.long)
    return x + torch.where(distances < 4, distances, far.clamp_max(7))


def unwritten_corners(x: Tensor, y: Tensor) -> Tensor:
    framed = torch.empty(10, 98)
    framed[1:9, 1:97] = x
    framed[0], framed[9], framed[:, 0], framed[:, 97] = 1, 2, 3, 4
    return framed * 2


@pytest.mark.parametrize(
    "expression",
    [
        distances_in_buckets,
        unwritten_corners,
        lambda x, y: torch.cond(x.sum() > 0, lambda value: value.sin(), lambda value: value.cos(), (x * 2,)),
        lambda x, y: torch.linalg.cholesky(x @ x.t() + torch.eye(8)),
        lambda x, y: torch.normal(x, torch.ones_like(x)),
    ],
    ids=["integers nobody reads", "unwritten memory", "control flow", "an operation that may print", "drawn around"],
)
def test_an_emulated_accelerator_that_is_right_passes(expression: Expression) -> None:
    generator = torch.Generator().manual_seed(102)
    x, y = (torch.randn(8, 96, generator=generator) for _ in range(2))
    report = KernelDiffHarness(Model(expression).eval(), (x, y), test_backend="spyre").compare()
    assert report.verdict is Verdict.PASS, report.summary()
    assert not report.blame
    assert not any("does not run in float64" in note for note in report.notes), report.notes


@pytest.mark.parametrize(
    "expression",
    [
        lambda x, y: torch.softmax(x * 4, -1),
        lambda x, y: functional.layer_norm(x * 0.01 + 5, (96,)),
        lambda x, y: functional.kl_div(torch.log_softmax(x, -1), torch.softmax(x, -1), reduction="batchmean"),
        lambda x, y: functional.cross_entropy(x * 3, torch.arange(8)),
        lambda x, y: torch.stack([torch.dot(x.roll(n, -1).flatten(), y.flatten()) for n in range(8)]),
        lambda x, y: torch.stack([x.roll(n, -1) @ y[0] for n in range(8)]),
    ],
    ids=["softmax", "layer_norm", "a loss of nothing", "cross_entropy", "products of vectors", "and of matrices"],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_other_decompositions_pass_in_the_precision_that_everything_is_measured_in_too(
    dtype: torch.dtype, expression: Expression
) -> None:
    generator = torch.Generator().manual_seed(102)
    x, y = (torch.randn(8, 96, generator=generator).to(dtype) for _ in range(2))
    report = KernelDiffHarness(Model(expression), (x, y), test_backend="aot_eager_decomp_partition").compare()
    assert report.verdict is Verdict.PASS, report.summary()


@pytest.mark.parametrize(
    ("fault", "compute", "accumulate", "expression"),
    [
        ("zero-output", "sen169_fp16", "float32", lambda x, y: torch.fmod(x * 7, 1.3)),
        ("wrong-rounding", "bfloat16", "float32", lambda x, y: torch.fmod(x * 7, 1.3)),
        ("drop-last-stick", "float16", "float16", lambda x, y: torch.cat([x, -y], -1).sum(-1)),
        ("reduction-order", "float16", "float32", lambda x, y: doubled(x, -1).sum(-1)),
        ("wrong-rounding", "sen169_fp16", "float32", lambda x, y: functional.layer_norm(x, (96,))),
        ("zero-output", "float8_e4m3fn", "float32", lambda x, y: functional.softmax(x @ y.t(), -1)),
    ],
)
def test_the_closer_look_excuses_no_fault(
    tmp_path: Path, fault: str, compute: str, accumulate: str, expression: Expression
) -> None:
    profile = tmp_path / "own.toml"
    profile.write_text(PROFILE.format(name="own", compute=compute, accumulate=accumulate))
    generator = torch.Generator().manual_seed(102)
    x, y = (torch.randn(8, 96, generator=generator) for _ in range(2))
    report = KernelDiffHarness(Model(expression), (x, y), test_backend=str(profile), inject=[fault]).compare()
    assert report.verdict in (Verdict.WRONG, Verdict.SUSPICIOUS), report.summary()
    assert report.blame
