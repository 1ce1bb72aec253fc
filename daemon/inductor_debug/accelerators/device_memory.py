"""Where a profile would put a tensor: which dtype it keeps and how the elements lie in its memory.

Arithmetic on sizes and strides only; moving values is `capture.script_backends.transfers`' business.
"""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.sticks import StickLayout, stick_layout


def layout_in_sticks(
    profile: Profile, sizes: Sequence[int], strides: Sequence[object], dtype: str, element_bytes: int
) -> StickLayout | None:
    """The stick layout of a tensor; sticks run along the dimension that is innermost in the host's memory.

    A tensor without dimensions lies as one of shape (1,).

    Args:
        profile: the accelerator.
        sizes: sizes of the host tensor.
        strides: its strides, in elements.
        dtype: its dtype, without the `torch.` prefix.
        element_bytes: bytes of one of its elements on the host.

    Returns:
        None where the accelerator has no sticks, or where elements of this dtype do not fill one.
    """
    if profile.stick_bytes is None:
        return None
    last = innermost_dimension(sizes, strides)
    order = [dimension for dimension in range(len(sizes)) if dimension != last]
    try:
        return stick_layout(
            list(sizes) or [1],
            profile.device_bytes(dtype, element_bytes),
            dim_order=[*order, 0 if last is None else last],
            stick_bytes=profile.stick_bytes,
        )
    except ValueError:
        return None


def innermost_dimension(sizes: Sequence[object], strides: Sequence[object]) -> int | None:
    """The dimension whose elements lie next to each other: the last one of stride 1; None for scalars."""
    found: int | None = None
    for index, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        if stride == 1 and size != 1:
            found = index
    return found if found is not None or not sizes else len(sizes) - 1
