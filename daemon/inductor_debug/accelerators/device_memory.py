"""Where a profile would put a tensor: how the elements lie in its memory, and how many bytes they take there.

Arithmetic on sizes and strides only; moving values is `capture.script_backends.transfers`' business.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from inductor_debug_schema import DeviceLayout

from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.sticks import device_layout


def placed_layout(
    profile: Profile,
    sizes: Sequence[int],
    strides: Sequence[int],
    dtype: str,
    element_bytes: int,
    *,
    from_host: bool,
    stick: int | None,
) -> DeviceLayout | None:
    """The layout of a tensor of a run.

    Args:
        profile: the accelerator.
        sizes: sizes of the tensor.
        strides: its strides in the host's memory, in elements.
        dtype: its dtype, without the `torch.` prefix.
        element_bytes: bytes of one of its elements on the host.
        from_host: whether no operation of the run made it.
        stick: the dimension that lies in sticks; None where each element has a stick of its own.
    """
    if from_host:
        return allocated_layout(profile, sizes, strides, dtype, element_bytes)
    sparse = stick is None and math.prod(sizes) > 1
    return layout_in_sticks(profile, sizes, strides, dtype, element_bytes, stick=stick, sparse=sparse)


def allocated_layout(
    profile: Profile, sizes: Sequence[int], strides: Sequence[int], dtype: str, element_bytes: int
) -> DeviceLayout | None:
    """The layout of a tensor that comes from the host: sticks run along its last dimension, whatever its strides.

    Args:
        profile: the accelerator.
        sizes: sizes of the host tensor.
        strides: its strides, in elements.
        dtype: its dtype, without the `torch.` prefix.
        element_bytes: bytes of one of its elements on the host.

    Returns:
        None where the accelerator has no sticks, or where elements of this dtype do not fill one.
    """
    return _layout(profile, sizes, strides, dtype, element_bytes, list(range(len(sizes))), sparse=False)


def layout_in_sticks(
    profile: Profile,
    sizes: Sequence[int],
    strides: Sequence[int],
    dtype: str,
    element_bytes: int,
    *,
    stick: int | None = None,
    sparse: bool = False,
) -> DeviceLayout | None:
    """The layout of a tensor that was made on the device, or is a view of one.

    The other dimensions are ordered as the memory has them, so that a view lies as what it is a view of. A dimension
    that repeats the same memory counts as one of size 1, as it was before it was expanded.

    Args:
        profile: the accelerator.
        sizes: sizes of the tensor.
        strides: its strides in the host's memory, in elements.
        dtype: its dtype, without the `torch.` prefix.
        element_bytes: bytes of one of its elements on the host.
        stick: the dimension that lies in sticks; the one that is innermost in memory where it is not given.
        sparse: whether none does.
    """
    held = [1 if stride == 0 else size for size, stride in zip(sizes, strides, strict=True)]
    order = sorted(range(len(held)), key=lambda dimension: -(strides[dimension] if held[dimension] != 1 else 1 << 62))
    along = innermost_dimension(sizes, strides) if stick is None else stick
    if not sparse and along is not None:
        order = [*(dimension for dimension in order if dimension != along), along]
    return _layout(profile, held, strides, dtype, element_bytes, order, sparse=sparse)


def _layout(
    profile: Profile,
    sizes: Sequence[int],
    strides: Sequence[int],
    dtype: str,
    element_bytes: int,
    order: Sequence[int],
    *,
    sparse: bool,
) -> DeviceLayout | None:
    own = profile.own_layout(sizes, strides, dtype, element_bytes)
    if own is not None or profile.stick_bytes is None:
        return own
    width = profile.device_bytes(dtype, element_bytes)
    try:
        return device_layout(sizes, strides, width, dim_order=order, sparse=sparse, stick_bytes=profile.stick_bytes)
    except ValueError:
        return None


def innermost_dimension(sizes: Sequence[object], strides: Sequence[object]) -> int | None:
    """The dimension whose elements lie next to each other: the last one of stride 1; None for scalars."""
    found: int | None = None
    for index, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        if stride == 1 and size != 1:
            found = index
    return found if found is not None or not sizes else len(sizes) - 1
