"""`compare_tensors` against definitions in plain Python, over values that break arithmetic."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from inductor_debug import ComparisonConfig, compare_tensors

pytestmark = pytest.mark.torch

SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-45, 1e-30, 1e30, 3e38, -3e38, math.nan, math.inf, -math.inf, 1 + 2**-23, 65504.0]
VALUES = st.sampled_from(SPECIAL) | st.floats(width=32, min_value=-100, max_value=100)
PAIRS = st.lists(st.tuples(VALUES, VALUES) | VALUES.map(lambda value: (value, value)), min_size=1, max_size=60)
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]


def agree(reference: float, actual: float, atol: float, rtol: float) -> bool:
    if math.isfinite(reference) and math.isfinite(actual):
        return abs(actual - reference) <= atol + rtol * abs(reference)
    return reference == actual or (math.isnan(reference) and math.isnan(actual))


@settings(max_examples=250, deadline=None)
@given(PAIRS, st.sampled_from(DTYPES), st.integers(1, 70))
def test_what_is_counted_and_shown_is_what_plain_python_finds(
    pairs: list[tuple[float, float]], dtype: torch.dtype, block: int
) -> None:
    reference, actual = (torch.tensor(side, dtype=torch.float64).to(dtype) for side in zip(*pairs, strict=True))
    # Powers of two, so that float32 decides at the edge as Python does.
    found = compare_tensors(reference, actual, ComparisonConfig(atol=2**-10, rtol=0.0, worst=5, block_elements=block))
    left, right = reference.double().tolist(), actual.double().tolist()
    metrics = found.metrics
    differing = [not agree(*pair, 2**-10, 0.0) for pair in zip(left, right, strict=True)]
    finite = [pair for pair in zip(left, right, strict=True) if all(map(math.isfinite, pair))]
    errors = [abs(y - x) for x, y in finite]
    assert metrics.mismatches == sum(differing)
    assert metrics.nan_reference == sum(map(math.isnan, left))
    assert metrics.inf_actual == sum(map(math.isinf, right))
    assert metrics.nonfinite_mismatches == sum(
        bad and not all(map(math.isfinite, pair))
        for bad, pair in zip(differing, zip(left, right, strict=True), strict=True)
    )
    assert (metrics.max_abs is None) == (not finite)
    if finite:
        assert metrics.max_abs == pytest.approx(max(errors), rel=1e-6)
        assert metrics.mean_abs == pytest.approx(sum(errors) / len(finite), rel=1e-5)
        assert metrics.rmse == pytest.approx(math.hypot(*errors) / math.sqrt(len(finite)), rel=1e-5)
        relative = [abs(y - x) / abs(x) for x, y in finite if x]
        if relative and max(relative) < math.inf:
            assert metrics.max_rel == pytest.approx(max(relative), rel=1e-5)
    for element in found.worst:
        (index,) = element.index
        assert str(element.reference) == str(left[index])
        assert str(element.actual) == str(right[index])
    shown = [
        math.inf if not math.isfinite(abs(e.actual - e.reference)) else abs(e.actual - e.reference) for e in found.worst
    ]
    assert shown == sorted(shown, reverse=True)


@settings(max_examples=150, deadline=None)
@given(PAIRS, st.integers(1, 70))
def test_distances_are_those_of_bits(pairs: list[tuple[float, float]], block: int) -> None:
    reference, actual = (torch.tensor(side, dtype=torch.float32) for side in zip(*pairs, strict=True))
    keep = torch.isfinite(reference) & torch.isfinite(actual)
    bits = torch.stack([reference, actual]).view(torch.int32).long()[:, keep]
    places = torch.where(bits < 0, -(bits & 0x7FFFFFFF), bits)
    expected = int((places[0] - places[1]).abs().max()) if bool(keep.any()) else None
    assert compare_tensors(reference, actual, ComparisonConfig(block_elements=block)).metrics.max_ulp == expected
