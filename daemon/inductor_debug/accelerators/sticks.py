"""How accelerators that move memory in sticks lay a tensor out: device sizes, the map of strides, padding.

A stick holds a fixed number of bytes of one dimension of the host's tensor. On the device that dimension is split in
two, sticks and elements within a stick, and the last stick is padded; the sticks themselves are arranged as tiles along
the outermost dimension. This is arithmetic only; no device is asked. It agrees with Torch-Spyre's allocator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from inductor_debug_schema import DeviceLayout

STICK_BYTES = 128
_NOWHERE = -1
"""Stands in a map of strides where a step goes to no other element of the host."""


def elements_per_stick(element_bytes: int, stick_bytes: int = STICK_BYTES) -> int:
    """How many elements one stick holds: 64 of float16 in 128 bytes.

    Raises:
        ValueError: elements do not fit in a stick a whole number of times.
    """
    if element_bytes < 1 or stick_bytes % element_bytes:
        raise ValueError(f"a stick of {stick_bytes} bytes cannot hold elements of {element_bytes} bytes")
    return stick_bytes // element_bytes


def device_layout(
    size: Sequence[int],
    stride: Sequence[int] | None = None,
    element_bytes: int = 2,
    *,
    dim_order: Sequence[int] | None = None,
    sparse: bool = False,
    stick_bytes: int = STICK_BYTES,
) -> DeviceLayout:
    """Lays a tensor out in sticks.

    Args:
        size: the sizes of the host tensor; a tensor without dimensions takes one stick.
        stride: its strides in elements; row-major if they are not given.
        element_bytes: bytes of one element on the device (2 for float16).
        dim_order: the host dimensions from the outermost to the innermost; sticks run along the last one. The order of
            the host tensor if it is not given.
        sparse: whether no dimension lies in sticks, so that each element has a stick of its own.
        stick_bytes: bytes of one stick.

    Returns:
        The dimensions but for the outermost one, in order, that of the sticks counted in sticks; then the outermost
        one; then the elements of a stick. `[128, 256, 512]` of float16 becomes `[256, 8, 128, 64]`.

    Raises:
        ValueError: `dim_order` is no permutation of the dimensions, a size is negative, or elements do not fill sticks.
    """
    order = list(range(len(size))) if dim_order is None else list(dim_order)
    strides = _row_major(size) if stride is None else list(stride)
    if sorted(order) != list(range(len(size))) or len(strides) != len(size):
        raise ValueError(f"order {order} and strides {strides} do not fit {len(size)} dimensions")
    if any(length < 0 for length in size):
        raise ValueError(f"sizes cannot be negative: {list(size)}")
    capacity = elements_per_stick(element_bytes, stick_bytes)
    if not order:
        return _measured([1, capacity], [_NOWHERE, _NOWHERE], size, element_bytes, None, sparse)
    stick = None if sparse else order[-1]
    inner = [*order[1:], None] if sparse else order[1:]
    # The dimensions of the device, but for the elements of a stick, as the dimensions of the host that they walk along.
    walked = [*inner, order[0]]
    device_size = [
        1 if along is None else -(-size[along] // capacity) if along == stick else size[along] for along in walked
    ]
    steps = [
        _NOWHERE if along is None or size[along] == 1 else _step(along, strides, size, capacity, stick)
        for along in walked
    ]
    within = _NOWHERE if stick is None or size[stick] == 1 else strides[stick]
    return _measured([*device_size, capacity], [*steps, within], size, element_bytes, stick, sparse)


def tile_dimension(layout: DeviceLayout) -> int:
    """The index in `layout.size` that counts the sticks of the stick dimension."""
    return max(len(layout.size) - 3, 0)


def least_span(layout: DeviceLayout, cores: int) -> int:
    """The bytes of the longest piece that one of `cores` has to reach, in the best division of a tensor among them.

    A dimension is divided into equal parts, each a whole number of sticks, and there are at most as many pieces as
    cores. A piece is as long as its share of the outermost dimension that it has more than one index of, so that
    dividing an inner one helps only where the outer ones are divided into single indexes.
    """
    left, beyond = cores, layout.bytes
    for size in layout.size[:-1]:
        beyond //= size or 1
        parts = max(part for part in range(1, max(min(left, size), 1) + 1) if size % part == 0)
        if parts < size:
            return size // parts * beyond
        left //= parts
    return beyond


def _step(along: int, strides: Sequence[int], size: Sequence[int], capacity: int, stick: int | None) -> int:
    """The host's elements from one index of a device dimension to the next; of sticks no further than the last one."""
    if along != stick:
        return strides[along]
    return min(strides[along] * capacity, strides[along] * size[along])


def _measured(
    device_size: list[int],
    stride_map: list[int],
    size: Sequence[int],
    element_bytes: int,
    stick: int | None,
    sparse: bool,
) -> DeviceLayout:
    whole = math.prod(device_size) * element_bytes
    return DeviceLayout(device_size, stride_map, whole, whole - math.prod(size) * element_bytes, stick, sparse)


def _row_major(size: Sequence[int]) -> list[int]:
    stride = [1]
    for length in reversed(size[1:]):
        stride.append(stride[-1] * length)
    return stride[::-1] if size else []
