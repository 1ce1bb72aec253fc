"""The arithmetic of an accelerator that is not there: rounded inputs and results, and nothing else changed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.accelerators.number_formats import BFLOAT16, FLOAT16, SEN169_FP16
from inductor_debug.accelerators.profile import ProfileError, load_document, read_profile
from inductor_debug.capture.tensors.rounding import rounded
from inductor_debug.kerneldiff.emulation.emulation import EmulatedArithmetic
from inductor_debug.kerneldiff.metrics.tensor_comparison import compare_tensors

pytestmark = pytest.mark.torch

aten = torch.ops.aten


@pytest.fixture
def spyre() -> EmulatedArithmetic:
    """Its numbers for tensors of every dtype, so that the dtypes of tests say nothing of them."""
    document = load_document("spyre")
    del document["arithmetic"]["dtypes"]
    return EmulatedArithmetic.from_profile(read_profile(document))


def test_single_precision_is_kept_and_half_precision_becomes_the_short_format() -> None:
    spyre = EmulatedArithmetic.from_profile(read_profile(load_document("spyre")))
    single = torch.randn(8, 16)
    assert torch.equal(spyre.run(aten.add.Tensor, (single, single)), single + single)
    for dtype in (torch.float16, torch.bfloat16):
        half = torch.randn(64, 16).to(dtype)
        inside = rounded(half, SEN169_FP16).float()
        expected = rounded(inside * inside, SEN169_FP16).to(dtype)
        assert torch.equal(spyre.run(aten.mul.Tensor, (half, half)), expected)


def test_the_spyre_profile_computes_in_169(spyre: EmulatedArithmetic) -> None:
    assert (spyre.name, spyre.unit, spyre.piece, spyre.compute_format) == ("spyre", 2**-9, 64, SEN169_FP16)


def test_inputs_and_results_of_every_operation_are_rounded(spyre: EmulatedArithmetic) -> None:
    left, right = torch.randn(8, 16), torch.randn(16, 4)
    found = spyre.run(aten.mm.default, (left, right))
    expected = rounded(rounded(left, SEN169_FP16) @ rounded(right, SEN169_FP16), SEN169_FP16)
    assert torch.equal(found, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_results_have_the_dtypes_that_eager_gives(spyre: EmulatedArithmetic, dtype: torch.dtype) -> None:
    values = torch.randn(4, 8, dtype=torch.float64).to(dtype)
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (aten.mul.Tensor, (values, values)),
        (aten._softmax.default, (values, -1, False)),
        (aten.gt.Scalar, (values, 0.0)),
        (aten.argmax.default, (values, 1)),
        (aten.var_mean.correction, (values, [1])),
    ]
    for func, args in cases:
        ours, theirs = (
            tensors if isinstance(tensors, tuple) else (tensors,) for tensors in (spyre.run(func, args), func(*args))
        )
        assert [(side.dtype, side.shape) for side in ours] == [(side.dtype, side.shape) for side in theirs], func
    assert spyre.run(aten._to_copy.default, (values,), {"dtype": torch.float16}).dtype is torch.float16


def test_a_half_precision_product_is_rounded_once_and_not_to_float16_first() -> None:
    arithmetic = EmulatedArithmetic("wide", BFLOAT16)
    values = torch.tensor([[1.0]], dtype=torch.float16), torch.tensor([[1 + 2**-7 + 2**-8]], dtype=torch.float16)
    assert arithmetic.run(aten.mm.default, values).item() == 1 + 2**-6


def test_views_stay_views_and_writes_write_what_is_rounded(spyre: EmulatedArithmetic) -> None:
    values = torch.full((4, 4), 1 + 2**-12)
    with spyre.mode():
        row = values[1]
        row.add_(1.0)
    assert values[1].tolist() == [2.0] * 4
    assert values[0].tolist() == [1 + 2**-12] * 4


def test_a_whole_model_and_its_gradients_run_under_the_mode(spyre: EmulatedArithmetic) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.LayerNorm(64), torch.nn.Linear(64, 8)
    )
    values = torch.randn(4, 32)
    expected = model(values)
    expected.sum().backward()
    gradients = [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]
    model.zero_grad()
    with spyre.mode():
        found = model(values)
        found.sum().backward()
    assert torch.equal(found, rounded(found, SEN169_FP16))
    rmse = compare_tensors(expected, found).metrics.rmse
    assert rmse is not None
    assert 1e-5 < rmse < 1e-2
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad, gradient, atol=0.05, rtol=0.05)
        assert torch.equal(parameter.grad, rounded(parameter.grad, SEN169_FP16))


def test_a_short_accumulator_loses_more_than_float32_does() -> None:
    torch.manual_seed(0)
    left, right = torch.rand(4, 2048), torch.rand(2048, 4)
    exact = left.double() @ right.double()
    errors = []
    for accumulate in ("float32", "float16", "bfloat16"):
        document = {"name": "x", "sticks": {"bytes": 128}, "arithmetic": {"compute": "fp16", "accumulate": accumulate}}
        found = EmulatedArithmetic.from_profile(read_profile(document)).run(aten.mm.default, (left, right))
        errors.append(compare_tensors(exact, found.double()).metrics.rmse or 0.0)
    assert errors[0] < errors[1] < errors[2]


@pytest.mark.parametrize(
    ("func", "args", "kwargs"),
    [
        (aten.mm.default, (torch.ones(3, 200), torch.ones(200, 2)), {}),
        (aten.bmm.default, (torch.ones(2, 3, 200), torch.ones(2, 200, 2)), {}),
        (aten.addmm.default, (torch.ones(2), torch.ones(3, 200), torch.ones(200, 2)), {"alpha": 2}),
        (aten.sum.default, (torch.ones(3, 20, 4),), {}),
        (aten.sum.dim_IntList, (torch.ones(3, 20, 4), [0, -1], True), {}),
        (aten.sum.dim_IntList, (torch.ones(3, 20, 4), None), {}),
        (aten.mean.dim, (torch.ones(3, 200, 4), [1]), {}),
        (aten.mean.default, (torch.ones(7),), {}),
        (aten.sum.default, (torch.tensor(3.0),), {}),
    ],
    ids=str,
)
def test_sums_of_whole_numbers_are_right_in_any_accumulator(func: Any, args: Any, kwargs: Any) -> None:
    arithmetic = EmulatedArithmetic("short", FLOAT16, FLOAT16)
    found, expected = arithmetic.run(func, args, kwargs), func(*args, **kwargs)
    assert found.shape == expected.shape
    assert torch.equal(found, expected)


def test_the_best_result_is_rounded_once_from_the_exact_one(spyre: EmulatedArithmetic) -> None:
    left, right = torch.randn(8, 300), torch.randn(300, 4)
    exact = rounded(left, SEN169_FP16).double() @ rounded(right, SEN169_FP16).double()
    assert torch.equal(spyre.run_ideal(aten.mm.default, (left, right)), rounded(exact, SEN169_FP16).float())


def test_int64_is_kept_in_32_bits_where_the_profile_says_so(spyre: EmulatedArithmetic) -> None:
    assert spyre.run(aten.add.Tensor, (torch.tensor([2**32 + 5, 7]), 1)).tolist() == [6, 8]


def test_flushing_is_emulated() -> None:
    document = {"name": "x", "arithmetic": {"compute": "float16", "flush_denormals": True}}
    found = EmulatedArithmetic.from_profile(read_profile(document)).run(aten.mul.Tensor, (torch.tensor([1e-3]), 1e-2))
    assert found.item() == 0.0


def test_a_profile_without_arithmetic_cannot_be_emulated() -> None:
    with pytest.raises(ValueError, match="does not say with which numbers"):
        EmulatedArithmetic.from_profile(read_profile({"name": "plain"}))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"compute": "float17"}, "unknown number format 'float17'"),
        ({}, "compute: is missing"),
        ({"compute": "float16", "acumulate": "float32"}, "did you mean 'accumulate'"),
        ({"compute": 16}, "must be a string"),
    ],
)
def test_wrong_arithmetic_in_a_profile_is_refused_by_its_key(table: dict[str, Any], words: str) -> None:
    with pytest.raises(ProfileError, match=words):
        read_profile({"name": "x", "arithmetic": table})
