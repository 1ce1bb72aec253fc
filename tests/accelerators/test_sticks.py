"""How tensors lie in sticks of 128 bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.accelerators.sticks import elements_per_stick, stick_layout


@pytest.mark.parametrize(
    ("size", "order", "device_size", "dim_map"),
    [
        ([65], None, (2, 64), (0, 0)),
        ([64], None, (1, 64), (0, 0)),
        ([512, 256], None, (4, 512, 64), (1, 0, 1)),
        ([512, 8, 256], None, (4, 512, 8, 64), (2, 0, 1, 2)),
        ([512, 256], [1, 0], (8, 256, 64), (0, 1, 0)),
        ([512, 256], [0, 1], (4, 512, 64), (1, 0, 1)),
    ],
)
def test_half_precision(size: list[int], order: list[int] | None, device_size: tuple, dim_map: tuple) -> None:
    layout = stick_layout(size, dim_order=order)
    assert (layout.device_size, layout.dim_map) == (device_size, dim_map)


def test_strides_padding_and_waste() -> None:
    layout = stick_layout([3, 65])
    assert layout.device_size == (2, 3, 64)
    assert layout.device_stride == (192, 64, 1)
    assert (layout.padding, layout.sticks, layout.device_bytes) == (63, 6, 768)
    assert layout.waste == pytest.approx(1 - 195 / 384)
    assert layout.partial
    assert not stick_layout([3, 64]).partial


def test_wider_elements_fill_a_stick_sooner() -> None:
    assert [elements_per_stick(width) for width in (1, 2, 4, 8)] == [128, 64, 32, 16]
    assert stick_layout([33], 4).device_size == (2, 32)


@pytest.mark.parametrize(
    ("size", "order", "says"), [([], None, "without dimensions"), ([2, 3], [0, 0], "no|not"), ([-1], None, "negative")]
)
def test_what_has_no_layout_says_so(size: list[int], order: list[int] | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        stick_layout(size, dim_order=order)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=4), st.sampled_from([1, 2, 4]), st.data())
def test_every_element_has_a_place(size: list[int], width: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(size))))
    layout = stick_layout(size, width, dim_order=order)
    assert layout.stick_dimension == order[-1]
    assert layout.device_bytes % 128 == 0
    assert 0 <= layout.padding < layout.elements_per_stick
    per_dimension = dict.fromkeys(range(len(size)), 1)
    for length, dimension in zip(layout.device_size, layout.dim_map, strict=True):
        per_dimension[dimension] *= length
    assert all(per_dimension[dimension] >= length for dimension, length in enumerate(size))
    assert 0 <= layout.waste < 1
