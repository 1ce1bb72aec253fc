"""Tables of errors for the KernelDiff page: nothing large is lost, small files, bounded memory."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import msgpack
import pytest
import torch
from inductor_debug.kerneldiff.execution.structure import Pair
from inductor_debug.kerneldiff.judging.diff_report import DiffReport, TensorResult, Verdict
from inductor_debug.kerneldiff.metrics.tensor_comparison import compare_tensors
from inductor_debug.kerneldiff.plots import error_maps

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("shape", "bins"),
    [
        ((), ()),
        ((5,), (5,)),
        ((5000,), (1000,)),
        ((8, 64), (8, 64)),
        ((300, 513), (150, 171)),
        ((2, 3, 70, 9), (2, 3, 70, 9)),
        ((12, 12, 16, 16), (6, 6, 16, 16)),
        ((3000, 2, 2, 2), (6, 2, 2, 2)),
        ((0, 4), (0, 4)),
        ((64, 200, 200), (64, 100, 100)),
    ],
)
def test_every_cell_is_the_largest_error_in_it(
    shape: tuple[int, ...], bins: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(error_maps, "_BLOCK", 1000)
    torch.manual_seed(0)
    errors = torch.rand(shape)
    found = error_maps.error_map("x", torch.zeros(shape), errors)
    if shape != (3000, 2, 2, 2):
        assert tuple(found.cells.shape) == bins
    expected = errors
    for dimension, step in enumerate(found.steps):
        parts = expected.split(step, dimension) if expected.shape[dimension] else ()
        if parts:
            expected = torch.stack([part.amax(dimension) for part in parts], dimension)
    assert torch.equal(found.cells, expected)
    assert found.cells.numel() <= 1 << 20
    assert found.histogram.equal + found.histogram.invalid + int(found.histogram.counts.sum()) == math.prod(shape)


def test_values_that_are_not_finite_stand_out_where_only_one_side_has_them() -> None:
    reference = torch.tensor([1.0, math.nan, math.inf, 1.0])
    found = error_maps.error_map("x", reference, torch.tensor([1.0, math.nan, math.inf, math.nan]))
    assert found.cells.tolist() == [0, 0, 0, math.inf]
    assert (found.histogram.equal, found.histogram.invalid, float(found.histogram.counts.sum())) == (3, 1, 0)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.complex64, torch.float64, torch.bfloat16])
def test_every_dtype_has_errors(dtype: torch.dtype) -> None:
    reference = torch.tensor([0, 1, 1]).to(dtype)
    found = error_maps.error_map("x", reference, torch.tensor([0, 1, 0]).to(dtype))
    assert found.cells.tolist() == [0, 0, 1]
    assert (found.histogram.equal, float(found.histogram.counts.sum())) == (2, 1)


def test_the_file_has_the_worst_outputs_first_and_leaves_out_what_is_no_pair() -> None:
    good, bad = torch.ones(4), torch.tensor([1.0, 1.0, 1.0, 1.5])
    report = DiffReport("Net", "eager", "spyre")
    report.outputs = [
        TensorResult("output[0]", Verdict.PASS, comparison=compare_tensors(good, good)),
        TensorResult("output[1]", Verdict.WRONG, comparison=compare_tensors(good, bad)),
        TensorResult("output[2]", Verdict.WRONG, "a shape"),
    ]
    compared = [
        Pair("output[0]", good, good),
        Pair("output[1]", good, bad),
        Pair("output[2]", good, torch.ones(3), "a shape"),
    ]
    content = msgpack.unpackb(error_maps.error_maps(report, compared))
    assert (content["format"], content["schema"], content["target"]) == ("inductor-debug-diff-maps", 1, "Net")
    assert [found["name"] for found in content["outputs"]] == ["output[1]", "output[0]"]
    first = content["outputs"][0]
    assert (first["shape"], first["bins"], first["steps"]) == ([4], [4], [1])
    assert array("f", first["cells"]).tolist() == [0, 0, 0, 0.5]
    assert (first["first_decade"], sum(array("d", first["counts"])), first["equal"]) == (-1, 1, 3)


def golden_content() -> bytes:
    """What the golden file has, which TypeScript reads, too: two outputs, the first with three dimensions."""
    values = torch.arange(2 * 2 * 3, dtype=torch.float32).reshape(2, 2, 3)
    other = values.clone()
    other[1, 0, 2] += 0.5
    other[0, 1, 1] = math.nan
    ones = torch.ones(3)
    report = DiffReport("Net", "eager", "spyre")
    report.outputs = [
        TensorResult("output['a']", Verdict.WRONG, comparison=compare_tensors(values, other)),
        TensorResult("output['b']", Verdict.PASS, comparison=compare_tensors(ones, ones)),
    ]
    return error_maps.error_maps(report, [Pair("output['a']", values, other), Pair("output['b']", ones, ones)])


def test_the_golden_file_is_what_is_written() -> None:
    golden = Path(__file__).resolve().parents[2] / "shared_schema" / "golden" / "ErrorMaps.maps"
    assert golden.read_bytes() == golden_content()
