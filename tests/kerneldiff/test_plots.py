"""Pictures are made of any tensor, and their absence is told in words."""

from __future__ import annotations

import math
import struct
import sys

import needed
import pytest
import torch
from inductor_debug.kerneldiff.plots import plots
from inductor_debug.system.matplotlib_figures import MatplotlibUnavailableError

pytestmark = pytest.mark.torch

SHAPES = [(), (1,), (5000,), (0,), (3, 0), (40, 700), (2000, 3), (3, 20, 30), (2, 3, 4, 16, 24)]


@pytest.fixture(autouse=True)
def _needs_matplotlib(request: pytest.FixtureRequest) -> None:
    if "without" not in request.node.name:
        needed.library("matplotlib")


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_tensor_of_any_shape_has_a_heatmap_and_a_histogram(shape: tuple[int, ...]) -> None:
    reference = torch.randn(shape)
    for actual in (reference, reference + 0.01):
        assert min(size_of(plots.heatmap(reference, actual))) > 200
        assert min(size_of(plots.histogram(reference, actual))) > 200


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.int64, torch.complex64, torch.float8_e4m3fn, torch.bfloat16], ids=str
)
def test_every_dtype_has_a_heatmap(dtype: torch.dtype) -> None:
    reference = torch.zeros(4, 4).to(dtype)
    size_of(plots.heatmap(reference, torch.eye(4).to(dtype)))


def test_nan_and_infinities_do_not_spoil_the_picture() -> None:
    reference = torch.randn(10, 10)
    actual = reference + 1e-3
    actual[0, 0], actual[1, 1] = math.nan, math.inf
    size_of(plots.heatmap(reference, actual))
    size_of(plots.histogram(reference, actual))
    size_of(plots.heatmap(reference, torch.full_like(reference, math.nan)))
    size_of(plots.histogram(reference, torch.full_like(reference, math.nan)))


def test_one_wrong_element_of_a_large_tensor_is_seen() -> None:
    reference = torch.zeros(3000, 2000)
    actual = reference.clone()
    actual[1234, 777] = 1
    cells, _ = plots._cells(reference, actual)
    assert max(cells.shape) <= 512
    assert cells.max() == 1
    assert int(cells.count_nonzero()) == 1
    row, column = (cells == 1).nonzero()[0].tolist()
    assert (row, column) == (1234 // 6, 777 // 4)


def test_outputs_and_graphs_have_pictures() -> None:
    outputs = [
        plots.OutputSummary("output", 1e-3, 2e-4, False),
        plots.OutputSummary("a.very.long.name.of.an.output.that.goes.on.and.on", 0.0, 1e-4, True),
        plots.OutputSummary("loss", None, None, False),
    ]
    short, long = size_of(plots.summary(outputs)), size_of(plots.summary(outputs * 10))
    assert long[1] > short[1]
    size_of(plots.summary([]))
    size_of(plots.growth([1e-7, None, 1e-3], [1e-7, 2e-7, 1e-3], [2], "bert"))
    size_of(plots.growth([], []))
    size_of(plots.growth([0.0, None], [0.0, math.inf]))


def test_without_matplotlib_words_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MatplotlibUnavailableError, match="pip install matplotlib"):
        plots.heatmap(torch.ones(2), torch.zeros(2))
