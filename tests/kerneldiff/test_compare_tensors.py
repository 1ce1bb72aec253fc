"""`compare_tensors`: each metric is what its definition says, for every dtype and shape, however the tensors lie."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch
from inductor_debug import ComparisonConfig, compare_tensors
from inductor_debug.kerneldiff.metrics.metrics import Metrics
from torch._subclasses.fake_tensor import FakeTensorMode

pytestmark = pytest.mark.torch

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
SMALL_BLOCKS = 7


def noisy(*shape: int, dtype: torch.dtype = torch.float32, scale: float = 1e-3) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(sum(shape))
    reference = torch.randn(shape, generator=generator, dtype=torch.float64)
    actual = reference + scale * torch.randn(shape, generator=generator, dtype=torch.float64)
    return reference.to(dtype), actual.to(dtype)


def by_definition(reference: torch.Tensor, actual: torch.Tensor, atol: float, rtol: float) -> dict[str, Any]:
    left, right = reference.double().flatten(), actual.double().flatten()
    error = (right - left).abs()
    relative = (error / left.abs())[left != 0]
    return {
        "max_abs": error.max().item(),
        "mean_abs": error.mean().item(),
        "max_rel": relative.max().item(),
        "mean_rel": relative.mean().item(),
        "rmse": error.square().mean().sqrt().item(),
        "cosine": torch.nn.functional.cosine_similarity(left, right, dim=0).item(),
        "snr_db": 20 * math.log10(left.norm().item() / error.norm().item()),
        "mismatches": int((error > atol + rtol * left.abs()).sum()),
    }


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("scale", [1e-6, 1e-2, 3.0])
def test_every_metric_is_what_its_definition_says(dtype: torch.dtype, scale: float) -> None:
    reference, actual = noisy(40, 1000, dtype=dtype, scale=scale)
    reference[3, :50] = 0
    actual[3, :49] = 0
    actual[4] = (-reference[4].double()).to(dtype)
    found = compare_tensors(reference, actual)
    expected = by_definition(reference, actual, found.tolerances.atol, found.tolerances.rtol)
    for name, value in expected.items():
        assert getattr(found.metrics, name) == pytest.approx(value, rel=2e-5, abs=2e-7), name


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.complex64, torch.int32], ids=str)
@pytest.mark.parametrize("factor", [1000, -500, 20_000])
def test_the_cosine_of_sides_of_very_different_sizes(dtype: torch.dtype, factor: int) -> None:
    size = {torch.int32: 100, torch.float16: 0.01}.get(dtype, 1)
    reference = (torch.randn(5000, dtype=torch.float64) * size).to(dtype)
    actual = reference.to(torch.complex128) * factor + torch.randn(5000, dtype=torch.float64) * factor * size
    actual = (actual if dtype.is_complex else actual.real).to(dtype)
    left, right = (torch.view_as_real(side.to(torch.complex128)).flatten() for side in (reference, actual))
    expected = torch.nn.functional.cosine_similarity(left, right, dim=0).item()
    for config in (ComparisonConfig(), ComparisonConfig(block_elements=SMALL_BLOCKS)):
        assert compare_tensors(reference, actual, config).metrics.cosine == pytest.approx(expected, abs=1e-6)


def test_integers_of_64_bits_with_and_without_a_sign_are_compared_exactly() -> None:
    signed = torch.tensor([2**53, 2**63 - 1, 0, 7])
    unsigned = torch.tensor([2**53 + 1, 2**64 - 1, 5, 7], dtype=torch.uint64)
    for reference, actual in ((signed, unsigned), (unsigned, signed)):
        found = compare_tensors(reference, actual)
        assert found.metrics.mismatches == 3
        assert found.metrics.max_abs == found.metrics.max_ulp == 2**63
    below = compare_tensors(torch.tensor([-1, 3]), torch.tensor([2**64 - 1, 3], dtype=torch.uint64))
    assert (below.metrics.mismatches, below.metrics.max_abs) == (1, 2.0**64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=str)
def test_large_relative_tolerances_that_would_pass_do(dtype: torch.dtype) -> None:
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        reference, actual = torch.randn(2, 5000, generator=generator, dtype=torch.float64).to(dtype)
        actual = actual * 100
        rtol = compare_tensors(reference, actual).passes_with.rtol
        assert rtol is not None
        assert compare_tensors(reference, actual, ComparisonConfig(rtol=rtol)).passed
        assert not compare_tensors(reference, actual, ComparisonConfig(rtol=rtol * (1 - 1e-5))).passed


def ulp_by_definition(reference: torch.Tensor, actual: torch.Tensor) -> int:
    """Counts by the list of all values of a 16-bit dtype."""
    patterns = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(reference.dtype)
    values = patterns[torch.isfinite(patterns)].double().unique()
    places = torch.searchsorted(values, torch.stack([reference.double(), actual.double()]))
    return int((places[0] - places[1]).abs().max())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_ulp_distances_are_those_counted_over_all_values(dtype: torch.dtype, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    bits = torch.randint(-(2**15), 2**15, (2, 64), generator=generator).to(torch.int16)
    if seed >= 2:
        bits[1] = bits[0] + torch.randint(0, 2 ** (3 * seed - 3), (64,), generator=generator).to(torch.int16)
    reference, actual = bits.view(dtype)
    keep = torch.isfinite(reference) & torch.isfinite(actual)
    reference, actual = reference[keep], actual[keep]
    for config in (
        ComparisonConfig(),
        ComparisonConfig(block_elements=1),
        ComparisonConfig(block_elements=SMALL_BLOCKS),
    ):
        assert compare_tensors(reference, actual, config).metrics.max_ulp == ulp_by_definition(reference, actual)


@pytest.mark.parametrize(
    ("dtype", "reference", "actual", "expected"),
    [
        (torch.float32, 1.0, 1.0 + 2**-23, 1),
        (torch.float32, 1.0, 1.0 - 2**-24, 1),
        (torch.float32, 0.0, -0.0, 0),
        (torch.float32, 1e-45, -1e-45, 2),
        (torch.float32, -3.4028234663852886e38, 3.4028234663852886e38, 2 * 0x7F7FFFFF),
        (torch.float64, -1.7976931348623157e308, 1.7976931348623157e308, 2 * 0x7FEFFFFFFFFFFFFF),
        (torch.float64, 1.0, 1.0 + 2**-52, 1),
        (torch.float16, 1.0, 1.0009765625, 1),
        (torch.bfloat16, -1.0, 1.0, 2 * 0x3F80),
        (torch.float8_e4m3fn, 1.0, 1.125, 1),
        (torch.float8_e8m0fnu, 1.0, 8.0, 3),
        (torch.float32, 1.0, 1e-30, 0x3F800000 - 0x0DA24260),
    ],
)
def test_ulp_distances_are_exact_at_the_edges(
    dtype: torch.dtype, reference: float, actual: float, expected: int
) -> None:
    right = torch.tensor([actual], dtype=torch.float64).to(dtype)
    left = torch.tensor([reference], dtype=torch.float64).to(dtype)
    assert compare_tensors(left, right).metrics.max_ulp == expected


def test_float32_distances_do_not_depend_on_how_blocks_are_cut() -> None:
    reference, actual = noisy(50_000, scale=1e-5)
    reference[100:200] = 0
    actual[150] = -1e-30
    found = {
        compare_tensors(reference, actual, ComparisonConfig(block_elements=n)).metrics.max_ulp
        for n in (13, 999, 60_000)
    }
    keys = torch.stack([reference, actual]).view(torch.int32).long()
    keys = torch.where(keys < 0, -(keys & 0x7FFFFFFF), keys)
    assert found == {int((keys[0] - keys[1]).abs().max())}


INTEGER_CASES = [
    (torch.int64, 2**24, 2**24 + 1, 1),
    (torch.int64, 2**53, 2**53 + 1, 1),
    (torch.int64, -(2**63), 2**63 - 1, 2**64 - 1),
    (torch.uint64, 0, 2**64 - 1, 2**64 - 1),
    (torch.uint16, 0, 65535, 65535),
    (torch.int8, -128, 127, 255),
    (torch.bool, True, False, 1),
]


@pytest.mark.parametrize(("dtype", "reference", "actual", "difference"), INTEGER_CASES)
def test_integers_are_compared_exactly(dtype: torch.dtype, reference: int, actual: int, difference: int) -> None:
    left = torch.tensor([reference, actual, actual], dtype=dtype)
    right = torch.tensor([actual, actual, actual], dtype=dtype)
    found = compare_tensors(left, right)
    assert not found.passed
    assert (found.metrics.mismatches, found.metrics.max_abs, found.metrics.max_ulp) == (1, difference, difference)
    assert found.worst[0].index == (0,)
    assert (found.worst[0].reference, found.worst[0].actual) == (reference, actual)
    assert compare_tensors(left, left).passed
    assert compare_tensors(left, right, ComparisonConfig(atol=found.passes_with.atol)).passed  # type: ignore[union-attr]


def test_imaginary_parts_count() -> None:
    reference = torch.tensor([1 + 1j, 2 + 2j])
    found = compare_tensors(reference, reference + torch.tensor([0j, 0.5j]))
    assert found.metrics.max_abs == pytest.approx(0.5)
    assert found.metrics.mismatches == 1
    assert found.to_dict()["worst"][0] == {"index": [1], "reference": "(2+2j)", "actual": "(2+2.5j)"}


def test_quantised_tensors_are_compared_by_their_values() -> None:
    values = torch.linspace(-1, 1, 100)
    reference = torch.quantize_per_tensor(values, 0.01, 0, torch.qint8)
    actual = torch.quantize_per_tensor(values, 0.02, 3, torch.qint8)
    found = compare_tensors(reference, actual)
    assert found.metrics.max_abs == pytest.approx(float((reference.dequantize() - actual.dequantize()).abs().max()))
    assert compare_tensors(reference, reference).passed


def test_equal_nan_and_infinities_pass_and_others_are_counted_and_shown_first() -> None:
    nan, inf = math.nan, math.inf
    reference = torch.tensor([nan, inf, -inf, 1.0, inf, nan, 5.0, 6.0])
    actual = torch.tensor([nan, inf, -inf, nan, -inf, 2.0, 9.0, 6.0])
    found = compare_tensors(reference, actual)
    metrics = found.metrics
    assert (metrics.nan_reference, metrics.nan_actual, metrics.inf_reference, metrics.inf_actual) == (2, 2, 3, 3)
    assert metrics.nonfinite_mismatches == 3
    assert metrics.mismatches == 4
    assert metrics.max_abs == 4.0
    assert [element.index for element in found.worst] == [(3,), (4,), (5,), (6,)]
    assert found.passes_with is not None
    assert (found.passes_with.atol, found.passes_with.rtol) == (None, None)
    assert compare_tensors(reference, reference).passed
    assert compare_tensors(reference, reference, ComparisonConfig(equal_nan=False)).metrics.mismatches == 2


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
def test_scalars_and_empty_tensors_are_compared(shape: tuple[int, ...]) -> None:
    tensor = torch.full(shape, 2.0)
    found = compare_tensors(tensor, tensor.clone())
    assert found.passed
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["shape"] == list(shape)
    assert (found.metrics.max_abs is None) == (tensor.numel() == 0)


def test_tensors_of_nan_only_have_no_errors_to_tell() -> None:
    tensor = torch.full((5,), math.nan)
    found = compare_tensors(tensor, tensor)
    assert found.passed
    assert found.metrics == Metrics(elements=5, nan_reference=5, nan_actual=5)


def layouts(tensor: torch.Tensor) -> dict[str, torch.Tensor]:
    spaced = torch.zeros(*tensor.shape, 2)[..., 0].copy_(tensor)
    return {
        "contiguous": tensor.contiguous(),
        "transposed": tensor.transpose(0, 2).contiguous().transpose(0, 2),
        "channels last": tensor.to(memory_format=torch.channels_last),
        "with gaps": spaced,
    }


@pytest.mark.parametrize("left", ["contiguous", "transposed", "channels last", "with gaps"])
@pytest.mark.parametrize("right", ["contiguous", "transposed", "channels last", "with gaps"])
@pytest.mark.parametrize("block", [1, 5, 1000])
def test_memory_layouts_change_nothing(left: str, right: str, block: int) -> None:
    reference, actual = noisy(2, 3, 4, 5)
    plain = compare_tensors(reference, actual)
    config = ComparisonConfig(block_elements=block)
    found = compare_tensors(layouts(reference)[left], layouts(actual)[right], config)
    assert [element.index for element in found.worst] == [element.index for element in plain.worst]
    for element in found.worst:
        assert reference[element.index].item() == element.reference
        assert actual[element.index].item() == element.actual
    assert found.metrics.mismatches == plain.metrics.mismatches
    assert found.metrics.rmse == pytest.approx(plain.metrics.rmse)


def test_threads_find_what_one_finds() -> None:
    reference, actual = noisy(3_000_000, scale=1e-5)
    actual[1_234_567] = 100
    count = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = compare_tensors(reference, actual)
        torch.set_num_threads(3)
        three = compare_tensors(reference, actual)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(count)
    assert one.worst == three.worst
    assert one.metrics.mismatches == three.metrics.mismatches
    assert one.metrics.max_ulp == three.metrics.max_ulp
    assert one.metrics.rmse == pytest.approx(three.metrics.rmse)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.complex64, torch.int32], ids=str)
def test_the_tolerances_that_would_pass_do_pass_and_smaller_ones_do_not(dtype: torch.dtype) -> None:
    reference, actual = noisy(500, dtype=torch.float32, scale=0.3)
    reference, actual = (10 * reference + 200).to(dtype), (10 * actual + 200).to(dtype)
    config = ComparisonConfig(atol=1e-3, rtol=1e-4)
    passes = compare_tensors(reference, actual, config).passes_with
    assert passes is not None
    assert passes.atol is not None
    assert passes.rtol is not None
    assert compare_tensors(reference, actual, ComparisonConfig(atol=passes.atol, rtol=1e-4)).passed
    assert compare_tensors(reference, actual, ComparisonConfig(atol=1e-3, rtol=passes.rtol)).passed
    assert not compare_tensors(reference, actual, ComparisonConfig(atol=passes.atol * 0.999, rtol=1e-4)).passed
    assert not compare_tensors(reference, actual, ComparisonConfig(atol=1e-3, rtol=passes.rtol * 0.999)).passed


def test_no_rtol_mends_an_error_at_zero() -> None:
    passes = compare_tensors(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 1.0])).passes_with
    assert passes is not None
    assert (passes.atol, passes.rtol) == (1.0, None)


@pytest.mark.parametrize("scale", [1e-40, 1e-25, 1e25, 1e37])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_very_large_and_very_small_numbers_keep_their_metrics(dtype: torch.dtype, scale: float) -> None:
    reference, actual = ((scale * side.double()).to(dtype) for side in noisy(1000))
    found = compare_tensors(reference, actual, ComparisonConfig(atol=0.0, rtol=1e-3)).metrics
    expected = by_definition(reference.double() / scale, actual.double() / scale, 0.0, 1e-3)
    assert found.rmse == pytest.approx(expected["rmse"] * scale, rel=1e-4)
    assert found.snr_db == pytest.approx(expected["snr_db"], rel=1e-4)
    assert found.cosine == pytest.approx(expected["cosine"], rel=1e-6)


@pytest.mark.parametrize(
    ("actual", "config", "words"),
    [
        (torch.zeros(2, 4), None, "shapes differ: [2, 3] in the reference, [2, 4] in the result"),
        (torch.zeros(2, 3).double(), None, "dtypes differ: torch.float32"),
        (torch.zeros(2, 3, device="meta"), None, "meta device"),
    ],
)
def test_what_does_not_fit_is_a_problem_and_never_a_pass(
    actual: torch.Tensor, config: ComparisonConfig | None, words: str
) -> None:
    found = compare_tensors(torch.zeros(2, 3), actual, config)
    assert not found.passed
    assert words in found.problem
    assert words in json.dumps(found.to_dict(), allow_nan=False)


def test_dtypes_may_differ_where_that_is_asked_for() -> None:
    reference = torch.randn(100, dtype=torch.float64)
    found = compare_tensors(reference, reference.float(), ComparisonConfig(check_dtype=False))
    assert found.passed
    assert 0 < found.metrics.max_abs < 1e-6  # type: ignore[operator]
    assert found.metrics.max_ulp == 0


def test_gradients_sparse_conjugate_and_expanded_tensors_are_compared_by_value() -> None:
    values = torch.randn(4, 4, requires_grad=True)
    assert compare_tensors(values, values.detach().to_sparse()).passed
    complex_values = torch.randn(6, dtype=torch.complex64)
    assert compare_tensors(complex_values.conj(), complex_values.conj().resolve_conj()).passed
    assert compare_tensors(torch.ones(1).expand(100, 3), torch.ones(100, 3)).passed


@pytest.mark.parametrize("name", ["uint4", "float4_e2m1fn_x2"])
def test_dtypes_that_torch_cannot_read_are_a_problem(name: str) -> None:
    if not hasattr(torch, name):
        pytest.skip(f"this torch has no {name}")
    packed = torch.zeros(4, dtype=torch.uint8).view(getattr(torch, name))
    assert "whose values torch cannot read" in compare_tensors(packed, packed).problem


def test_fake_tensors_have_no_values() -> None:
    with FakeTensorMode():
        fake = torch.randn(3)
    assert "has no values" in compare_tensors(fake, fake).problem


def test_tensors_quantised_by_channel_and_conjugates_with_nan_are_compared() -> None:
    scales, zeros = torch.rand(6) + 0.1, torch.zeros(6, dtype=torch.int64)
    by_channel = torch.quantize_per_channel(torch.randn(6, 50), scales, zeros, 0, torch.qint8)
    assert compare_tensors(by_channel, by_channel).passed
    conjugate = torch.tensor([complex(math.nan, 1), 2 + 3j]).conj()
    assert compare_tensors(conjugate, conjugate).passed


def test_exponents_without_a_sign_are_compared() -> None:
    reference, actual = (torch.tensor(side).to(torch.float8_e8m0fnu) for side in ([math.nan, 2.0], [1.0, 8.0]))
    found = compare_tensors(reference, actual)
    assert (found.metrics.max_abs, found.metrics.max_ulp, found.metrics.nonfinite_mismatches) == (6.0, 2, 1)
    assert compare_tensors(reference, reference).passed


def test_configurations_that_make_no_sense_are_refused() -> None:
    for options in ({"atol": -1.0}, {"rtol": math.nan}, {"worst": -1}, {"block_elements": 0}):
        with pytest.raises(ValueError, match="must be"):
            ComparisonConfig(**options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="reference must be a tensor, not list"):
        compare_tensors([1], torch.ones(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64])
def test_default_tolerances_are_those_of_torch(dtype: torch.dtype) -> None:
    reference = torch.tensor([1.0, -100.0, 0.0], dtype=dtype)
    tolerances = ComparisonConfig().tolerances(dtype)
    inside = reference + 0.9 * (tolerances.atol + tolerances.rtol * reference.abs())
    outside = reference + 1.5 * (tolerances.atol + tolerances.rtol * reference.abs()) + 2 * torch.finfo(dtype).eps * 100
    torch.testing.assert_close(inside, reference)
    with pytest.raises(AssertionError):
        torch.testing.assert_close(outside, reference)
    assert compare_tensors(reference, inside).passed
    assert not compare_tensors(reference, outside).passed


def test_infinite_tolerances_pass_everything_finite() -> None:
    reference, actual = noisy(10)
    assert compare_tensors(reference, actual, ComparisonConfig(rtol=math.inf)).passed
    assert compare_tensors(reference, actual, ComparisonConfig(atol=math.inf)).passed


def test_tolerances_and_the_share_that_may_differ_are_given_by_name() -> None:
    reference = torch.zeros(200)
    actual = reference.clone()
    actual[:2] = 0.5
    assert not compare_tensors(reference, actual).passed
    assert compare_tensors(reference, actual, atol=0.5).passed
    assert compare_tensors(reference, actual, max_mismatch=1.0).passed
    assert not compare_tensors(reference, actual, max_mismatch=0.9).passed
    assert not compare_tensors(reference, actual, ComparisonConfig(atol=1.0), atol=0.1).passed
    with pytest.raises(ValueError, match="max_mismatch"):
        compare_tensors(reference, actual, max_mismatch=101)
