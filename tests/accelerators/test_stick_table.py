"""A table of layouts that nobody looked at while the layout code was written, from torch-spyre's newest sources.

Sizes are those of its tests of layouts, of conversions between dtypes and of caches for attention, and of its pages on
spans, of September 2026. Where the dimension of the sticks is shorter than one stick, the step from stick to stick is
that of its newest allocator, which ends with the tensor; its tests still had the whole stick then.
"""

from __future__ import annotations

import pytest
from inductor_debug.accelerators.sticks import device_layout

HALF, SINGLE, FP8 = 2, 4, 1


@pytest.mark.parametrize(
    ("size", "width", "device_size", "stride_map"),
    [
        ([120], HALF, [2, 64], [64, 1]),
        ([240], HALF, [4, 64], [64, 1]),
        ([131072], HALF, [2048, 64], [64, 1]),
        ([512, 240], HALF, [4, 512, 64], [64, 240, 1]),
        ([40, 120], HALF, [2, 40, 64], [64, 120, 1]),
        ([1024, 64], HALF, [1, 1024, 64], [64, 64, 1]),
        ([512, 8, 240], HALF, [8, 4, 512, 64], [240, 64, 1920, 1]),
        ([512, 8, 256], HALF, [8, 4, 512, 64], [256, 64, 2048, 1]),
        ([576, 8, 128], HALF, [8, 2, 576, 64], [128, 64, 1024, 1]),
        ([576, 32, 128], HALF, [32, 2, 576, 64], [128, 64, 4096, 1]),
        ([576, 1, 128], HALF, [1, 2, 576, 64], [-1, 64, 128, 1]),
        ([2048, 8, 128], HALF, [8, 2, 2048, 64], [128, 64, 1024, 1]),
        ([1, 8195, 256, 64], HALF, [8195, 256, 1, 1, 64], [16384, 64, 64, -1, 1]),
        ([2, 20, 16, 64], HALF, [20, 16, 1, 2, 64], [1024, 64, 64, 20480, 1]),
        ([4, 16], HALF, [1, 4, 64], [16, 16, 1]),
        ([4, 63], HALF, [1, 4, 64], [63, 63, 1]),
        ([4, 68], HALF, [2, 4, 64], [64, 68, 1]),
        ([8, 192], HALF, [3, 8, 64], [64, 192, 1]),
        ([2, 4, 64], HALF, [4, 1, 2, 64], [64, 64, 256, 1]),
        ([2, 4, 8, 64], HALF, [4, 8, 1, 2, 64], [512, 64, 64, 2048, 1]),
        ([2, 4, 8, 63], HALF, [4, 8, 1, 2, 64], [504, 63, 63, 2016, 1]),
        ([2, 4, 8, 68], HALF, [4, 8, 2, 2, 64], [544, 68, 64, 2176, 1]),
        ([1, 1, 4, 32], HALF, [1, 4, 1, 1, 64], [-1, 32, 32, -1, 1]),
        ([1, 280, 1], HALF, [280, 1, 1, 64], [1, -1, -1, -1]),
        ([2, 4, 1], HALF, [4, 1, 2, 64], [1, -1, 4, -1]),
        ([4, 1], HALF, [1, 4, 64], [-1, 1, -1]),
        ([1, 1], HALF, [1, 1, 64], [-1, -1, -1]),
        ([4, 32], SINGLE, [1, 4, 32], [32, 32, 1]),
        ([4, 64], SINGLE, [2, 4, 32], [32, 64, 1]),
        ([4, 68], SINGLE, [3, 4, 32], [32, 68, 1]),
        ([8, 192], SINGLE, [6, 8, 32], [32, 192, 1]),
        ([2, 4, 8, 64], SINGLE, [4, 8, 2, 2, 32], [512, 64, 32, 2048, 1]),
        ([2, 4, 8, 63], SINGLE, [4, 8, 2, 2, 32], [504, 63, 32, 2016, 1]),
        ([4, 1], SINGLE, [1, 4, 32], [-1, 1, -1]),
        ([4, 128], FP8, [1, 4, 128], [128, 128, 1]),
        ([8, 192], FP8, [2, 8, 128], [128, 192, 1]),
        ([4, 68], FP8, [1, 4, 128], [68, 68, 1]),
    ],
    ids=str,
)
def test_layouts_of_whole_tensors(size: list[int], width: int, device_size: list[int], stride_map: list[int]) -> None:
    layout = device_layout(size, element_bytes=width)
    assert (layout.size, layout.stride_map) == (device_size, stride_map)


@pytest.mark.parametrize(
    ("size", "strides", "width", "order", "device_size", "stride_map"),
    [
        ([512, 256], [256, 1], HALF, [1, 0], [8, 256, 64], [16384, 1, 256]),
        ([512, 8, 256], [2048, 256, 1], HALF, [0, 2, 1], [256, 1, 512, 64], [1, 2048, 2048, 256]),
        ([512, 8, 256], [2048, 256, 1], HALF, [1, 0, 2], [512, 4, 8, 64], [2048, 64, 256, 1]),
        ([512, 8, 256], [2048, 256, 1], HALF, [1, 2, 0], [256, 8, 8, 64], [1, 131072, 256, 2048]),
        ([512, 8, 256], [2048, 256, 1], HALF, [2, 0, 1], [512, 1, 256, 64], [2048, 2048, 1, 256]),
        ([512, 8, 256], [2048, 256, 1], HALF, [2, 1, 0], [8, 8, 256, 64], [256, 131072, 1, 2048]),
        ([3, 2, 2048], [4096, 2048, 1], HALF, [1, 0, 2], [3, 32, 2, 64], [4096, 64, 2048, 1]),
        ([68, 4], [4, 1], HALF, [1, 0], [2, 4, 64], [256, 1, 4]),
        ([68, 4], [4, 1], SINGLE, [1, 0], [3, 4, 32], [128, 1, 4]),
        ([132, 4], [4, 1], SINGLE, [1, 0], [5, 4, 32], [128, 1, 4]),
        ([1, 4, 32], [128, 32, 1], SINGLE, [1, 2, 0], [32, 1, 4, 32], [1, -1, 32, -1]),
        ([2, 3, 32], [96, 32, 1], SINGLE, [2, 1, 0], [3, 1, 32, 32], [32, 192, 1, 96]),
        ([4, 63], [1, 4], HALF, [1, 0], [1, 63, 64], [4, 4, 1]),
        ([63, 1], [1, 1], SINGLE, [1, 0], [2, 1, 32], [32, -1, 1]),
        ([40, 60], [1, 40], HALF, [0, 1], [1, 40, 64], [2400, 1, 40]),
        ([40, 60], [1, 40], HALF, [1, 0], [1, 60, 64], [40, 40, 1]),
    ],
    ids=str,
)
def test_layouts_in_other_orders_and_with_other_strides(
    size: list[int], strides: list[int], width: int, order: list[int], device_size: list[int], stride_map: list[int]
) -> None:
    layout = device_layout(size, strides, width, dim_order=order)
    assert (layout.size, layout.stride_map) == (device_size, stride_map)


@pytest.mark.parametrize(
    ("size", "device_size", "stride_map"),
    [
        ([512, 256], [256, 1, 512, 64], [1, -1, 256, -1]),
        ([1, 8195, 256], [8195, 256, 1, 1, 64], [256, 1, -1, -1, -1]),
        ([64], [1, 64, 64], [-1, 1, -1]),
    ],
    ids=str,
)
def test_layouts_with_one_element_a_stick(size: list[int], device_size: list[int], stride_map: list[int]) -> None:
    layout = device_layout(size, sparse=True)
    assert (layout.size, layout.stride_map) == (device_size, stride_map)
