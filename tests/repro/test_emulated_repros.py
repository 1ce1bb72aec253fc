"""What an emulated accelerator computes wrongly becomes a script of plain torch that carries its number format."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch
from inductor_debug.accelerators.number_formats import number_format
from inductor_debug.capture.tensors.rounding import rounded
from inductor_debug.repro.backend.backend_oracle import Manner
from inductor_debug.repro.backend.emulated_checks import Numbers, arithmetic_text
from repro_jobs import reproduce

pytestmark = pytest.mark.torch

INPUTS = """

def get_inputs():
    torch.manual_seed(0)
    return [torch.randn(4, 8)]
"""
NORM = """
class Model(nn.Module):
    def forward(self, x):
        x = torch.tanh(x) * 1e-6
        return torch.relu(x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-12))
"""
EXPONENTIAL = """
class Model(nn.Module):
    def forward(self, x):
        y = torch.exp(torch.sin(x) + 30)
        return torch.relu(y / y.sum(-1, keepdim=True))
"""
INTEGERS = """
class Model(nn.Module):
    def forward(self, x):
        return torch.tanh(x), torch.arange(8) * 1000000007 % 13
"""
MASKED = """
class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x + (x > 0).float() * torch.finfo(torch.float32).min, -1)
"""


@pytest.mark.parametrize(
    ("model", "needed", "cure"),
    [
        pytest.param(NORM, "rsqrt", ("4.665707820095122e-10", "0.0"), id="flushed to zero"),
        pytest.param(EXPONENTIAL, "exp", ("8573157376.0", 'float("inf")'), id="overflow"),
        pytest.param(INTEGERS, "1000000007", ("torch.int32", "torch.int64"), id="integers"),
    ],
)
def test_wrong_numbers_of_an_accelerator_need_torch_alone(
    tmp_path: Path, model: str, needed: str, cure: tuple[str, str]
) -> None:
    found = reproduce(tmp_path, model + INPUTS, backend="spyre")
    imported = {
        alias.name for node in ast.walk(ast.parse(found.script)) if isinstance(node, ast.Import) for alias in node.names
    }
    assert imported == {"sys", "traceback", "torch"}
    assert any(needed in line for line in found.lines)
    assert "not what a device did" in found.script
    assert found.document["nodes_after"] < found.document["nodes_before"]
    assert found.status() == 0
    assert found.status(found.script.replace(*cure)) == 1  # a format without that limit is fine


def test_a_mask_that_becomes_infinite_does_no_harm(tmp_path: Path) -> None:
    found = reproduce(tmp_path, MASKED + INPUTS, backend="spyre")
    assert found.document["script"] is None
    assert "no worse on Model than the 9 mantissa bits of sen169_fp16 explain" in found.why


def test_an_accelerator_whose_numbers_are_unknown_is_said_to_be(tmp_path: Path) -> None:
    why = reproduce(tmp_path, MASKED + INPUTS, backend="mock").why
    assert why == (
        "the profile 'mock' does not say with which numbers the accelerator computes, "
        "so its arithmetic cannot be emulated"
    )


@pytest.mark.parametrize("name", ["sen169_fp16", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_script_rounds_as_the_comparison_does(name: str, dtype: torch.dtype) -> None:
    form = number_format(name)
    namespace: dict[str, Any] = {"torch": torch, "TorchDispatchMode": object}
    exec(arithmetic_text(Numbers("any", form), Manner()), namespace)
    torch.manual_seed(0)
    values = torch.randint(-(2**31), 2**31 - 1, (20_000,)).to(torch.int32).view(torch.float32)
    edges = [0.0, -0.0, torch.inf, -torch.inf, torch.nan, form.largest, form.smallest, form.smallest / 2]
    given = torch.cat([values, -values, torch.tensor(edges)]).to(dtype)
    torch.testing.assert_close(namespace["rounded"](given), rounded(given, form), rtol=0, atol=0, equal_nan=True)
