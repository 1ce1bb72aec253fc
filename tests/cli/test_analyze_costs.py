"""`analyze` of costs and kernels as a user of a terminal meets it: with sizes of theirs, against sums done by hand."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from inductor_debug.cli.main import main

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


class Inferred(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(1024, 1024, bias=False), nn.ReLU())


# inductor-debug: inputs=(torch.randn(8, 1024),), eval
class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1024, 1024, bias=False)

    def forward(self, x):
        return torch.softmax(self.layer(x), -1).amax(0)
"""
MIB = 1 << 20


@pytest.fixture(autouse=True)
def model(write: Callable[[str, str], Path]) -> Path:
    return write("model.py", MODEL)


def test_kernels_cost_what_their_bytes_and_products_cost_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["analyze", "model.py::Named", "--type", "kernels", "--accelerator", "h100", "--size", "batch=4096", "-q"]
    assert main([*words, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert all(row["bytes_read"] and row["seconds"] and row["limited_by"] for row in rows)
    product = next(row for row in rows if row["language"] == "extern")
    assert (product["kernel"], product["source"]) == ("extern_kernels.mm", "self.layer(x)")
    assert int(product["bytes_read"]) + int(product["bytes_written"]) == (16 + 4 + 16) * MIB
    assert int(product["operations"]) == 2 * 4096 * 1024 * 1024
    assert (float(product["seconds"]), product["limited_by"]) == (pytest.approx(2 * 4096 * 2**20 / 66.9e12), "compute")
    softmax = next(row for row in rows if "softmax" in row["kernel"])
    assert float(softmax["seconds"]) == pytest.approx(
        max((int(softmax["bytes_read"]) + int(softmax["bytes_written"])) / 3352e9, 3.25e-6), rel=0.01
    )


def test_costs_say_what_nobody_wrote_down_and_take_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["analyze", "--type", "cost", "--accelerator", "h100", "-q", "--color", "never"]
    assert main([*words, "model.py::Inferred", "--size", "batch=512"]) == 0
    told = capsys.readouterr().out
    assert "with inferred inputs, " in told
    assert "with batch = 512" in told
    assert "FLOPs       2.147 G" in told  # 2 * 512 * 1024 * 1024, and as much for the gradient of the weight
    assert main([*words, "model.py::Named"]) == 0
    assert "with" not in capsys.readouterr().out.split("bound")[0]


@pytest.mark.parametrize("words", [["analyze", "--type", "cost"], ["graph"], ["suggest"]], ids=lambda words: words[0])
def test_a_size_that_nothing_has_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "model.py::Named", "--accelerator", "h100", "--size", "bach=7", "-q"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "--size bach=7: unknown size 'bach'; did you mean 'batch'?" in said.err


ATTENTION = """\
import torch
from torch import nn
from torch.nn import functional as F


# inductor-debug: inputs=(torch.randn(64, 1024, 768),)
class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(768, 3 * 768) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            q, k, v = layer(x).view(64, 1024, 3, 12, 64).permute(2, 0, 3, 1, 4)
            x = F.scaled_dot_product_attention(q, k, v, None, 0.1).transpose(1, 2).reshape(64, 1024, 768)
        return x.sum()
"""


def test_attention_is_what_the_card_runs_and_not_what_the_processor_would(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """With dropout the processor writes all scores out: 3 GiB several times a layer, which a card never holds."""
    write("attention.py", ATTENTION)
    write("refused.py", ATTENTION.replace("None, 0.1", "torch.ones(1024, 1024, dtype=torch.int64)"))
    words = ["--accelerator", "rtx-4090", "-q", "--color", "never"]
    assert main(["check", "attention.py", "--format", "json", *words]) == 0
    [file] = json.loads(capsys.readouterr().out)["files"]
    assert file["findings"] == []
    assert all(stage["ops"] < 60 for stage in file["targets"][0]["stages"])
    assert main(["check", "refused.py", *words]) == 2
    assert "refused.py:15:17: error[capture-error]" in capsys.readouterr().out
    assert main(["analyze", "attention.py::Attending", "--type", "cost", *words]) == 0
    told = capsys.readouterr().out
    assert "aten._scaled_dot_product_efficient_attention_backward.default" in told
    assert "softmax" not in told


FLASH = """\
import torch
from torch.nn import functional as F


# inductor-debug: inputs=tuple(torch.randn(4, 16, 1024, 64, dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
def attending(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)
"""


@pytest.mark.parametrize(
    ("accelerator", "name", "rate"), [("rtx-4090", "flash", 165.2e12), ("h100", "cudnn", 989.4e12)]
)
def test_attentions_backward_pass_computes_at_the_rate_of_its_dtype(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str], accelerator: str, name: str, rate: float
) -> None:
    """Beside queries, keys and values it is given the state of the random numbers, which nobody multiplies."""
    write("flash.py", FLASH)
    words = ["analyze", "flash.py", "--type", "cost", "--accelerator", accelerator, "--format", "csv", "-q"]
    assert main(words) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    [backward] = [row for row in rows if f"_scaled_dot_product_{name}_attention_backward.default" in str(row)]
    operations = 5 * 2 * 4 * 16 * 1024 * 1024 * 64
    assert int(backward["operations"]) == operations
    assert float(backward["seconds"]) == pytest.approx(operations / rate, rel=0.01)


PRODUCTS = """\
import torch
import torch.nn.functional as F
from torch import nn


# inductor-debug: inputs=(torch.randn(2, 4, 128, 64), torch.randn(8, 64, 56, 56)), train=True
class Products(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(64, 128, 3, padding=1)

    def forward(self, x, images):
        x = x.half()
        seen = F.scaled_dot_product_attention(x, x, x, is_causal=True)
        return seen.float().sum() + self.conv(images).relu().mean()
"""
SCORED = 4 * 2 * 4 * 64 * (128 * 129 // 2)  # two products for 128 * 129 / 2 pairs of positions
CONVOLVED = 2 * 8 * 56 * 56 * 128 * 64 * 9


def test_each_product_counts_once_and_in_costs_as_in_kernels(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write("products.py", PRODUCTS)

    def rows(kind: str) -> list[dict[str, str]]:
        assert (
            main(["analyze", "products.py", "--type", kind, "--accelerator", "rtx-4090", "--format", "csv", "-q"]) == 0
        )
        return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))

    expressions = [row for row in rows("cost") if row["of"] == "expression" and int(row["operations"])]
    kernels = [row for row in rows("kernels") if int(row["operations"])]
    for table in (expressions, kernels):
        assert sorted(int(row["operations"]) for row in table) == [SCORED, CONVOLVED, CONVOLVED]
    # The bias is added, and the gradient spread, by kernels of their own, which compute no product.
    assert [row["language"] for row in kernels] == ["extern"] * 3
    assert {row["source"] for row in kernels} == {
        "F.scaled_dot_product_attention(x, x, x, is_causal=True)",
        "self.conv(images)",
    }
    for product in (SCORED, CONVOLVED):
        (bound,) = {float(row["seconds"]) for row in kernels if int(row["operations"]) == product}
        (same,) = {float(row["seconds"]) for row in expressions if int(row["operations"]) == product}
        assert bound >= same
        if product == CONVOLVED:
            assert bound == same == pytest.approx(CONVOLVED / 82.6e12, rel=0.01)
