"""Rounding to number formats is exact: torch's own casts agree where it has the format, exact fractions where not."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from inductor_debug.accelerators.number_formats import (
    BFLOAT16,
    FLOAT8_E4M3FN,
    FLOAT8_E5M2,
    FLOAT16,
    FLOAT32,
    SEN169_FP16,
    NumberFormat,
    Overflow,
    number_format,
)
from inductor_debug.capture.tensors.rounding import rounded

pytestmark = pytest.mark.torch

CASTS = [
    (FLOAT16, torch.float16),
    (BFLOAT16, torch.bfloat16),
    (FLOAT8_E5M2, torch.float8_e5m2),
    (FLOAT8_E4M3FN, torch.float8_e4m3fn),
]


def as_torch_does(known: NumberFormat, dtype: torch.dtype) -> NumberFormat:
    """Torch 2.13 converts numbers too large for e4m3fn to its largest one, older versions to NaN."""
    if known is FLOAT8_E4M3FN and bool(torch.tensor(1e9).to(dtype).float().isnan()):
        return replace(known, overflow=Overflow.NAN)
    return known


def all_values(dtype: torch.dtype) -> torch.Tensor:
    integers = torch.int16 if dtype.itemsize == 2 else torch.int8
    return torch.arange(256**dtype.itemsize, dtype=torch.int32).to(integers).view(dtype).to(torch.float32)


def assert_same(found: torch.Tensor, expected: torch.Tensor, source: torch.Tensor) -> None:
    same = (found == expected) & (found.signbit() == expected.signbit()) | (found.isnan() & expected.isnan())
    assert bool(same.all()), (source[~same][:5], found[~same][:5], expected[~same][:5])


def halfway(dtype: torch.dtype) -> torch.Tensor:
    """All numbers between two of `dtype`, and their neighbours on both sides."""
    values = all_values(dtype)
    values = values[torch.isfinite(values)].unique()
    middle = ((values[1:].double() + values[:-1].double()) / 2).float()
    above, below = (torch.nextafter(middle, torch.full_like(middle, end)) for end in (math.inf, -math.inf))
    return torch.cat([middle, above, below])


SOURCES = {
    "every float16": lambda dtype: all_values(torch.float16),
    "every bfloat16": lambda dtype: all_values(torch.bfloat16),
    "halfway": halfway,
    "random bits": lambda dtype: (
        torch.randint(-(2**31), 2**31, (300_000,), generator=torch.Generator().manual_seed(1))
        .to(torch.int32)
        .view(torch.float32)
    ),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("known", "dtype"), CASTS, ids=lambda value: getattr(value, "name", ""))
def test_rounding_is_that_of_torch(known: NumberFormat, dtype: torch.dtype, source: str) -> None:
    values = SOURCES[source](dtype)
    expected = values.to(dtype).to(torch.float32)
    assert_same(rounded(values, as_torch_does(known, dtype)), expected, values)
    assert_same(rounded(values.double(), as_torch_does(known, dtype)).float(), expected, values)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("known", [known for known, _ in CASTS] + [SEN169_FP16], ids=lambda known: known.name)
def test_half_precision_is_rounded_as_the_same_numbers_in_float32_are(known: NumberFormat, dtype: torch.dtype) -> None:
    source = all_values(dtype)
    found = rounded(source.to(dtype), known)
    assert found.dtype is dtype
    assert_same(found.float(), rounded(source, known).to(dtype).float(), source)


def test_float64_is_rounded_once_and_not_by_way_of_float32() -> None:
    value = torch.tensor([1 + 2**-11 + 2**-40], dtype=torch.float64)
    assert rounded(value, FLOAT16).item() == 1 + 2**-10
    assert rounded(torch.tensor([1e-50, 1 + 2**-30, 1e300], dtype=torch.float64), FLOAT32).tolist() == [0, 1, math.inf]


def nearest_169(value: Fraction) -> float:
    """1-6-9 by its definition: nearest, halfway away from zero, no subnormal numbers, exponents from -31 to 32."""
    sign, size = (-1 if value < 0 else 1), abs(value)
    if size == 0:
        return 0.0
    exponent = math.floor(math.log2(size))
    exponent += (size >= Fraction(2) ** (exponent + 1)) - (size < Fraction(2) ** exponent)
    steps = size / Fraction(2) ** (exponent - 9)
    whole = math.floor(steps) + (steps - math.floor(steps) >= Fraction(1, 2))
    result = whole * Fraction(2) ** (exponent - 9)
    if result <= Fraction(2) ** -31:
        return 0.0 * sign
    return sign * (math.inf if result > Fraction(2) ** 32 * (2 - Fraction(2, 512)) else float(result))


@settings(max_examples=400, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_169_is_what_exact_fractions_say_of_any_float32(values: list[float]) -> None:
    source = torch.tensor(values, dtype=torch.float32)
    expected = torch.tensor([nearest_169(Fraction(value)) for value in values], dtype=torch.float32)
    found = rounded(source, SEN169_FP16)
    assert found.tolist() == expected.tolist()
    assert found.signbit().tolist() == source.signbit().tolist()


@settings(max_examples=400, deadline=None)
@given(st.integers(-35, 34), st.integers(0, 1023), st.sampled_from([-1, 0, 1]), st.booleans())
def test_169_is_exact_halfway_between_numbers_and_beside(
    exponent: int, steps: int, beside: int, negative: bool
) -> None:
    value = Fraction(2) ** exponent * (1 + Fraction(steps, 1024)) * (1 + Fraction(beside, 2**22))
    value = -value if negative else value
    found = rounded(torch.tensor([float(value)], dtype=torch.float64), SEN169_FP16).item()
    assert found == nearest_169(Fraction(float(value)))


def test_169_holds_what_is_published_of_it() -> None:
    assert SEN169_FP16.largest == 2.0**32 * (1 + 510 / 512)
    assert SEN169_FP16.smallest == 2.0**-31 * (1 + 1 / 512)
    assert SEN169_FP16.unit == 2**-9
    special = rounded(torch.tensor([math.nan, math.inf, -math.inf, 1e10, -0.0, 2.0**-31]), SEN169_FP16)
    assert special.isnan().tolist() == [True] + 5 * [False]
    assert special.tolist()[1:] == [math.inf, -math.inf, math.inf, 0.0, 0.0]
    assert bool(special[4].signbit())


@pytest.mark.parametrize("known", [known for known, _ in CASTS] + [SEN169_FP16], ids=lambda known: known.name)
def test_rounding_twice_changes_nothing_more(known: NumberFormat) -> None:
    values = SOURCES["random bits"](torch.float32)
    once = rounded(values, known)
    assert_same(rounded(once, known), once, values)


@pytest.mark.parametrize("known", [FLOAT16, BFLOAT16, FLOAT8_E5M2], ids=lambda known: known.name)
def test_flushing_makes_subnormal_results_zero_and_leaves_others(known: NumberFormat) -> None:
    lowest = 2.0**known.lowest_exponent
    values = torch.tensor(
        [lowest, -lowest, 0.75 * lowest, -0.75 * lowest, lowest * (1 - 2**-20), 1.0], dtype=torch.float64
    )
    expected = [lowest, -lowest, 0.0, -0.0, lowest, 1.0]
    assert rounded(values, known.flushing()).tolist() == expected
    assert bool(rounded(values, known.flushing())[3].signbit())
    assert rounded(values, known).tolist()[2:4] == [0.75 * lowest, -0.75 * lowest]


def test_saturating_formats_have_no_infinities() -> None:
    saturating = replace(FLOAT16, overflow=Overflow.SATURATE)
    found = rounded(torch.tensor([1e9, -1e9, math.inf, math.nan]), saturating)
    assert found.tolist()[:3] == [65504.0, -65504.0, 65504.0]
    assert bool(found[3].isnan())


def test_shapes_strides_and_dtypes_are_kept() -> None:
    values = torch.randn(3, 4, 5).transpose(0, 2)
    found = rounded(values, SEN169_FP16)
    assert (found.shape, found.stride()) == (values.shape, values.stride())
    assert torch.equal(found, rounded(values.contiguous(), SEN169_FP16))
    assert torch.equal(rounded(values[::2], SEN169_FP16), found[::2])
    assert rounded(torch.tensor(1.3), SEN169_FP16).shape == ()
    assert rounded(torch.empty(0, 3), SEN169_FP16).shape == (0, 3)
    assert rounded(values.bfloat16(), FLOAT8_E5M2).dtype is torch.bfloat16
    with pytest.raises(TypeError, match="only floating-point tensors"):
        rounded(torch.tensor([1]), FLOAT16)


def test_formats_are_found_by_name() -> None:
    assert number_format("SEN169_FP16") is number_format("dlfloat16") is SEN169_FP16
    assert number_format("torch.bfloat16") is number_format("bf16") is BFLOAT16
    generic = number_format("e5m10")
    assert (generic.largest, generic.smallest) == (FLOAT16.largest, FLOAT16.smallest)
    for name in ("fp17", "e9m3", "e5m24", ""):
        with pytest.raises(ValueError, match="unknown number format"):
            number_format(name)
