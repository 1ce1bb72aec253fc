"""What becomes of a tensor's values on the device: converted, rounded to the numbers it has, laid out, read back.

There is no device here: its memory is a tensor of the host's. What comes back is compared block by block, so that large
parameters cost little more than themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from inductor_debug_schema import DeviceLayout, RoundTrip, TransferExample

from inductor_debug.accelerators.number_formats import NumberFormat, format_of
from inductor_debug.accelerators.sticks import tile_dimension
from inductor_debug.capture.tensors.rounding import rounded

_BLOCK = 1 << 20
"""Elements compared together."""
_DIGITS = {torch.bfloat16: 4, torch.float16: 5, torch.float32: 9, torch.float64: 17}
"""Decimal digits that tell any two numbers of a dtype apart."""


@dataclass(frozen=True, slots=True)
class RoundTripped:
    """What came back: how many elements are `rounded` to a number that the device has, how many are something else.

    `example` is the first of the latter, else of the former. `values` are the elements that were asked for.
    """

    outcome: RoundTrip
    rounded: int = 0
    changed: int = 0
    example: TransferExample | None = None
    values: list[TransferExample] = field(default_factory=list)


def round_trip(
    tensor: torch.Tensor, device_dtype: str, held: NumberFormat | None, layout: DeviceLayout | None, values: int = 0
) -> RoundTripped:
    """Sends a tensor to the device's memory and back.

    Args:
        tensor: a strided tensor with values.
        device_dtype: the dtype that it is kept as.
        held: the format of the numbers there; None of integers.
        layout: how it lies there; None where it lies as on the host.
        values: how many of the first and the last elements, and of those that differ, are told.
    """
    with torch.no_grad():
        host = tensor.detach()
        rounds_to = None if held == format_of(device_dtype) else held
        back = to_host(to_device(host, getattr(torch, device_dtype), layout, rounds_to), host, layout)
        before, after = host.reshape(-1), back.reshape(-1)
        changed, near = _Differences(values), _Differences(values)
        for start in range(0, before.numel(), _BLOCK):
            was, became = before[start : start + _BLOCK], after[start : start + _BLOCK]
            different = became != was
            if was.is_floating_point() or was.is_complex():
                different &= ~(became.isnan() & was.isnan())
            if different.any():
                by_rounding = different & _is_rounding(was, became, held)
                near.add(by_rounding, start)
                changed.add(different & ~by_rounding, start)
        outcome = RoundTrip.CHANGED if changed.count else RoundTrip.ROUNDED if near.count else RoundTrip.SAME
        last = range(max(before.numel() - values, 0), before.numel())
        differing = sorted(changed.first + near.first)
        told = {*range(min(values, before.numel())), *differing[:values], *last} if values else set()

        def element(position: int) -> TransferExample:
            index = _index(position, host.shape)
            return TransferExample(index, _shown(before[position]), _shown(after[position]))

        example = next(iter(changed.first or near.first), None)
        return RoundTripped(
            outcome,
            near.count,
            changed.count,
            None if example is None else element(example),
            [element(position) for position in sorted(told)],
        )


class _Differences:
    """Counts elements, and keeps the places of the first `most`, of at least one."""

    def __init__(self, most: int) -> None:
        self._most = max(most, 1)
        self.count = 0
        self.first: list[int] = []

    def add(self, here: torch.Tensor, start: int) -> None:
        """Takes in the elements of a block for which `here` is true."""
        self.count += int(here.sum())
        if len(self.first) < self._most:
            found = here.nonzero()[: self._most - len(self.first), 0].tolist()
            self.first += [start + place for place in found]


def _is_rounding(was: torch.Tensor, became: torch.Tensor, held: NumberFormat | None) -> torch.Tensor:
    """Where what came back is as near as the numbers of the format are to each other there."""
    if held is None or not was.is_floating_point():
        return torch.zeros(was.shape, dtype=torch.bool, device=was.device)
    exact = was.double()
    near = exact.abs().mul_(held.unit).clamp_(min=held.smallest)
    return (became.double() - exact).abs_() <= near


def _index(position: int, shape: Sequence[int]) -> list[int]:
    index = []
    for size in reversed(shape):
        position, place = divmod(position, size)
        index.append(place)
    return index[::-1]


def _shown(value: torch.Tensor) -> str:
    """A number with the digits that tell it from all others of its dtype."""
    digits = _DIGITS.get(value.dtype)
    return repr(value.item()) if digits is None else f"{value.item():.{digits}g}"


def to_device(
    tensor: torch.Tensor, dtype: torch.dtype, layout: DeviceLayout | None, held: NumberFormat | None = None
) -> torch.Tensor:
    """The tensor as the device keeps it: converted, rounded, and laid out in sticks whose padding is zero.

    Returns:
        A contiguous tensor of `layout.size`; of the tensor's own shape without a layout.
    """
    kept = _laid_out(tensor.detach(), layout).to(dtype)
    return kept.contiguous() if held is None else rounded(kept.contiguous(), held)


def _laid_out(tensor: torch.Tensor, layout: DeviceLayout | None) -> torch.Tensor:
    if layout is None:
        return tensor
    flat = _memory_of(tensor)
    if not flat.numel():
        return tensor.new_zeros(layout.size)
    offsets, filled = _host_offsets(layout, tensor.shape)
    return torch.where(filled, flat[offsets.clamp(max=flat.numel() - 1)], flat.new_zeros(()))


def to_host(device: torch.Tensor, host: torch.Tensor, layout: DeviceLayout | None) -> torch.Tensor:
    """What the host reads back: the inverse of `to_device`, padding dropped; of `host`'s shape, strides and dtype."""
    if layout is None:
        return device.to(host.dtype)
    back = torch.empty_strided(host.shape, host.stride(), dtype=host.dtype)
    offsets, filled = _host_offsets(layout, host.shape)
    _memory_of(back)[offsets[filled]] = device.to(host.dtype)[filled]
    return back


def _memory_of(tensor: torch.Tensor) -> torch.Tensor:
    """The memory from a tensor's first element to its last one, as a tensor of one dimension."""
    if not tensor.numel():
        return tensor.new_empty(0)
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.as_strided((reach + 1,), (1,))


def _host_offsets(layout: DeviceLayout, shape: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """For each place on the device the offset of its element in the host's memory, and whether there is one."""
    places = [torch.arange(size) for size in layout.size]
    grid = torch.meshgrid(*places, indexing="ij")
    steps = zip(grid, layout.stride_map, strict=True)
    offsets = sum((place * step for place, step in steps if step >= 0), torch.zeros(layout.size, dtype=torch.int64))
    if layout.stick_dimension is None:
        return offsets, grid[-1] == 0
    along = grid[tile_dimension(layout)] * layout.size[-1] + grid[-1]
    return offsets, along < shape[layout.stick_dimension]
