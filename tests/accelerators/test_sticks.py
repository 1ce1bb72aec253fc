"""How tensors lie in sticks of 128 bytes: the shapes that Torch-Spyre's documentation and its users' reports show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.accelerators.device_memory import allocated_layout, layout_in_sticks
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.accelerators.sticks import device_layout, elements_per_stick, least_span, tile_dimension

SPYRE = read_profile(load_document("spyre"))


@pytest.mark.parametrize(
    ("size", "device_size", "stride_map"),
    [
        ((128, 256, 512), [256, 8, 128, 64], [512, 64, 131072, 1]),
        ((5, 100, 150), [100, 3, 5, 64], [150, 64, 15000, 1]),
        ((50, 10, 200), [10, 4, 50, 64], [200, 64, 2000, 1]),
        ((2, 8, 128, 64), [8, 128, 1, 2, 64], [8192, 64, 64, 65536, 1]),
        ((512, 256), [4, 512, 64], [64, 256, 1]),
        ((2048, 768), [12, 2048, 64], [64, 768, 1]),
        ((512, 2816), [44, 512, 64], [64, 2816, 1]),
        ((64, 64), [1, 64, 64], [64, 64, 1]),
        ((1, 12, 1), [12, 1, 1, 64], [1, -1, -1, -1]),
        ((1, 8, 1, 64), [8, 1, 1, 1, 64], [64, -1, 64, -1, 1]),
        ((1, 1, 128), [1, 2, 1, 64], [-1, 64, -1, 1]),
        ((1, 1, 4096), [1, 64, 1, 64], [-1, 64, -1, 1]),
        ((65,), [2, 64], [64, 1]),
        ((), [1, 64], [-1, -1]),
    ],
    ids=str,
)
def test_layouts_of_half_precision(size: tuple[int, ...], device_size: list[int], stride_map: list[int]) -> None:
    layout = device_layout(size)
    assert (layout.size, layout.stride_map) == (device_size, stride_map)


def test_another_order_inverts_the_tiles() -> None:
    layout = device_layout((5, 100, 150), dim_order=[1, 0, 2])
    assert (layout.size, layout.stride_map) == ([5, 3, 100, 64], [15000, 64, 150, 1])


@pytest.mark.parametrize(
    ("dtype", "width", "size", "device_size"),
    [
        ("float32", 4, (3, 33), [2, 3, 32]),
        ("bool", 1, (3, 65), [2, 3, 64]),
        ("bfloat16", 2, (3, 64), [1, 3, 64]),
        ("int64", 8, (3, 64), [2, 3, 32]),
        ("float8_e4m3fn", 1, (3, 128), [1, 3, 128]),
    ],
)
def test_each_dtype_has_its_own_number_of_elements_in_a_stick(
    dtype: str, width: int, size: tuple[int, ...], device_size: list[int]
) -> None:
    strides = (size[1], 1)
    layout = allocated_layout(SPYRE, size, strides, dtype, width)
    assert layout is not None
    assert layout.size == device_size


def test_padding_is_counted_in_bytes() -> None:
    layout = device_layout((3, 65))
    assert (layout.bytes, layout.padding_bytes) == (768, 768 - 390)
    assert device_layout((3, 64)).padding_bytes == 0
    assert device_layout((65,)).padding_bytes == 126


def test_a_result_of_a_reduction_over_the_sticks_has_one_element_a_stick() -> None:
    layout = device_layout((512, 8), sparse=True)
    assert (layout.size, layout.stick_dimension, layout.sparse) == ([8, 1, 512, 64], None, True)
    assert layout.bytes == 64 * 512 * 8 * 2


def test_what_comes_from_the_host_has_its_sticks_along_its_last_dimension_and_a_view_those_of_its_memory() -> None:
    transposed = ((256, 512), (1, 256))
    allocated = allocated_layout(SPYRE, *transposed, "float16", 2)
    viewed = layout_in_sticks(SPYRE, *transposed, "float16", 2)
    assert allocated is not None
    assert viewed is not None
    assert (allocated.stick_dimension, allocated.size, allocated.stride_map) == (1, [8, 256, 64], [16384, 1, 256])
    assert (viewed.stick_dimension, viewed.size, viewed.stride_map) == (0, [4, 512, 64], [64, 256, 1])


def test_a_permuted_view_lies_as_what_it_is_a_view_of() -> None:
    base = device_layout((128, 256, 512))
    viewed = layout_in_sticks(SPYRE, (256, 512, 128), (512, 1, 131072), "float16", 2)
    assert viewed is not None
    assert (viewed.size, viewed.stride_map, viewed.bytes) == (base.size, base.stride_map, base.bytes)


def test_an_expanded_view_takes_no_memory_of_its_own() -> None:
    viewed = layout_in_sticks(SPYRE, (32, 7, 64), (0, 64, 1), "float16", 2)
    assert viewed is not None
    assert viewed.bytes == 7 * 128


def test_wider_elements_fill_a_stick_sooner() -> None:
    assert [elements_per_stick(width) for width in (1, 2, 4, 8)] == [128, 64, 32, 16]


@pytest.mark.parametrize(
    ("size", "order", "says"), [([2, 3], [0, 0], "do not fit"), ([2], [], "do not fit"), ([-1], None, "negative")]
)
def test_what_has_no_layout_says_so(size: list[int], order: list[int] | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        device_layout(size, dim_order=order)


@given(st.lists(st.integers(1, 70), min_size=1, max_size=3), st.sampled_from([2, 4]), st.booleans(), st.data())
def test_walking_the_device_meets_every_element_of_the_host_once(
    size: list[int], width: int, sparse: bool, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(size))))
    layout = device_layout(size, element_bytes=width, dim_order=order, sparse=sparse)
    assert layout.bytes % 128 == 0
    filled = 1 if layout.stick_dimension is None else size[layout.stick_dimension]
    places = np.indices(layout.size).reshape(len(layout.size), -1)
    along = places[tile_dimension(layout)] * layout.size[-1] + places[-1]
    real = (along < filled) | (sparse & (places[-1] == 0))
    met = np.maximum(layout.stride_map, 0) @ places[:, real]
    assert np.array_equal(np.sort(met), np.arange(math.prod(size)))


@pytest.mark.parametrize(
    ("size", "cores", "span"),
    [
        ((8192, 64), 32, 8192 // 32 * 128),
        ((8191, 64), 32, 8191 * 128),
        ((1, 8195, 256, 64), 32, 8195 // 11 * 256 * 128),
        ((64, 16, 300, 64), 32, 300 // 2 * 64 * 128),
        ((16, 2, 64), 32, 128),
        ((65, 64), 1, 65 * 128),
        ((), 32, 128),
    ],
    ids=str,
)
def test_what_a_core_has_to_reach_in_the_best_division(size: tuple[int, ...], cores: int, span: int) -> None:
    assert least_span(device_layout(size), cores) == span
