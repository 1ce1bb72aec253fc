"""How accelerators that move memory in sticks lay a tensor out: device sizes, strides, padding and waste.

A stick holds a fixed number of bytes of one dimension, the stick dimension. On the device that dimension is split in
two, sticks and elements within a stick, and the last stick is padded. This is arithmetic only; no device is asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

STICK_BYTES = 128


@dataclass(frozen=True, slots=True)
class StickLayout:
    """A tensor as it lies on the device.

    `device_size` and `device_stride` are in elements, outermost dimension first; `dim_map` says which dimension of the
    host tensor each of them walks along. `padding` is the number of elements added to the stick dimension.
    """

    host_size: tuple[int, ...]
    device_size: tuple[int, ...]
    device_stride: tuple[int, ...]
    dim_map: tuple[int, ...]
    elements_per_stick: int
    element_bytes: int
    padding: int

    @property
    def stick_dimension(self) -> int:
        """The host dimension that lies in sticks."""
        return self.dim_map[-1]

    @property
    def sticks(self) -> int:
        """How many sticks the tensor occupies."""
        return math.prod(self.device_size[:-1])

    @property
    def device_bytes(self) -> int:
        """The memory it occupies, padding included."""
        return math.prod(self.device_size) * self.element_bytes

    @property
    def waste(self) -> float:
        """The share of that memory that is padding, from 0 to 1."""
        occupied = math.prod(self.device_size)
        return 1 - math.prod(self.host_size) / occupied if occupied else 0.0

    @property
    def partial(self) -> bool:
        """Whether the last stick of every row is only partly filled."""
        return self.padding > 0


def elements_per_stick(element_bytes: int, stick_bytes: int = STICK_BYTES) -> int:
    """How many elements one stick holds: 64 of float16 in 128 bytes.

    Raises:
        ValueError: elements do not fit in a stick a whole number of times.
    """
    if element_bytes < 1 or stick_bytes % element_bytes:
        raise ValueError(f"a stick of {stick_bytes} bytes cannot hold elements of {element_bytes} bytes")
    return stick_bytes // element_bytes


def stick_layout(
    size: Sequence[int],
    element_bytes: int = 2,
    *,
    dim_order: Sequence[int] | None = None,
    stick_bytes: int = STICK_BYTES,
) -> StickLayout:
    """Lays a tensor out in sticks.

    Args:
        size: the sizes of the host tensor, at least one of them.
        element_bytes: bytes of one element on the device (2 for float16).
        dim_order: the host dimensions from the outermost to the innermost; the last one is the stick dimension. The
            order of the host tensor if it is not given.
        stick_bytes: bytes of one stick.

    Returns:
        Sticks outermost, then the other dimensions in order, then the elements of a stick: `[512, 256]` of float16
        becomes `[4, 512, 64]`.

    Raises:
        ValueError: the tensor has no dimension, or `dim_order` is no permutation of its dimensions.
    """
    order = tuple(range(len(size))) if dim_order is None else tuple(dim_order)
    if not size:
        raise ValueError("a tensor without dimensions has no stick layout; give it the shape (1,)")
    if sorted(order) != list(range(len(size))):
        raise ValueError(f"{list(order)} is not an order of {len(size)} dimensions")
    if any(length < 0 for length in size):
        raise ValueError(f"sizes cannot be negative: {list(size)}")
    per_stick = elements_per_stick(element_bytes, stick_bytes)
    *outer, stick = order
    count = -(-size[stick] // per_stick)
    device_size = (count, *(size[dimension] for dimension in outer), per_stick)
    return StickLayout(
        host_size=tuple(size),
        device_size=device_size,
        device_stride=_row_major(device_size),
        dim_map=(stick, *outer, stick),
        elements_per_stick=per_stick,
        element_bytes=element_bytes,
        padding=count * per_stick - size[stick],
    )


def _row_major(size: tuple[int, ...]) -> tuple[int, ...]:
    stride = [1]
    for length in reversed(size[1:]):
        stride.append(stride[-1] * length)
    return tuple(reversed(stride))
