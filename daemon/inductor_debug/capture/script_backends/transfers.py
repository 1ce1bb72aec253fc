"""What crosses between host and accelerator at the border of each compiled graph, under a profile.

Every tensor is really converted, laid out in the profile's memory (sticks and padding included), read back and
compared, so that what the transfer alone would change is seen before any kernel is suspected. There is no device here,
and nothing is changed: the graph gets the tensors it was called with.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from inductor_debug_schema import Crossing, DeviceLayout, Location, RoundTrip, TransferExample, TransferRow
from torch._subclasses.fake_tensor import FakeTensor

from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.device_memory import allocated_layout
from inductor_debug.accelerators.sticks import tile_dimension

_DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class Transfer:
    """One tensor at a graph's border.

    `to_device` is False for results. `shape` and `stride` are in elements; dtypes have no `torch.` prefix. `digest` is
    of the values in row-major order, "" where there are none. `changed` counts elements that a round trip changes, and
    `example` is the first of them as (index, before, after).
    """

    graph: str
    to_device: bool
    role: str
    name: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    device_dtype: str
    host_bytes: int
    device_bytes: int
    layout: DeviceLayout | None
    digest: str
    round_trip: RoundTrip
    changed: int = 0
    example: tuple[list[int], str, str] | None = None
    place: Location | None = None
    note: str = ""

    def on_wire(self) -> TransferRow:
        """For JSON."""
        return TransferRow(
            graph=self.graph,
            direction=Crossing.TO_DEVICE if self.to_device else Crossing.TO_HOST,
            role=self.role,
            name=self.name,
            shape=list(self.shape),
            stride=list(self.stride),
            dtype=self.dtype,
            device_dtype=self.device_dtype,
            host_bytes=self.host_bytes,
            device_bytes=self.device_bytes,
            layout=self.layout,
            digest=self.digest,
            round_trip=self.round_trip,
            changed=self.changed,
            example=None if self.example is None else TransferExample(*self.example),
            path=self.place.path if self.place is not None else None,
            line=self.place.range.start.line if self.place is not None else None,
            note=self.note,
        )

    def line(self) -> str:
        """One line for a log."""
        arrow = "host -> device" if self.to_device else "device -> host"
        shape = "x".join(map(str, self.shape)) or "scalar"
        dtype = self.dtype if self.dtype == self.device_dtype else f"{self.dtype} as {self.device_dtype}"
        words = [f"graph {self.graph}: {arrow} {self.role} {self.name} {dtype} [{shape}]", f"{self.host_bytes} B"]
        if self.layout is not None:
            words.append(f"on device {self.layout.size} {self.device_bytes} B")
            words.append(f"{self.layout.waste:.0%} padding")
        if self.digest:
            words.append(f"digest {self.digest}")
        words.append(f"round trip: {self.round_trip.value}")
        if self.example is not None:
            index, before, after = self.example
            words.append(f"{self.changed} changed, first at {index}: {before} -> {after}")
        return ", ".join(words) + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True, slots=True)
class Border:
    """What is known of one input of a graph: its role, the user's name for it, and where it was declared."""

    role: str
    name: str
    place: Location | None = None


def transfer_of(tensor: torch.Tensor, profile: Profile, *, graph: str, to_device: bool, border: Border) -> Transfer:
    """Sends a tensor to the profile's memory and back, and says what came of it."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    stored = profile.stored_as.get(dtype)
    device_dtype = stored.dtype if stored is not None else dtype
    element_bytes = profile.device_bytes(dtype, tensor.element_size())
    note = "" if stored is None or not stored.reason else stored.reason
    if not profile.supports(dtype):
        note = f"{profile.name} has no {dtype}"
    sizes = tuple(int(size) for size in tensor.shape)
    strided = tensor.layout == torch.strided and not tensor.is_quantized
    strides = tuple(map(int, tensor.stride())) if strided else ()
    layout = allocated_layout(profile, sizes, strides, dtype, tensor.element_size()) if strided else None
    valued = strided and not isinstance(tensor, FakeTensor) and tensor.device.type != "meta"
    changed, example, outcome = _round_trip(tensor, device_dtype, layout) if valued else (0, None, RoundTrip.NOT_RUN)
    return Transfer(
        graph=graph,
        to_device=to_device,
        role=border.role,
        name=border.name,
        shape=sizes,
        stride=strides,
        dtype=dtype,
        device_dtype=device_dtype,
        host_bytes=tensor.numel() * tensor.element_size(),
        device_bytes=layout.bytes if layout is not None else tensor.numel() * element_bytes,
        layout=layout,
        digest=digest_of(tensor) if valued else "",
        round_trip=outcome,
        changed=changed,
        example=example,
        place=border.place,
        note=note,
    )


def to_device(tensor: torch.Tensor, dtype: torch.dtype, layout: DeviceLayout | None) -> torch.Tensor:
    """The tensor as the device keeps it: converted, and laid out in sticks whose padding is zero.

    Returns:
        A contiguous tensor of `layout.size`; of the tensor's own shape without a layout.
    """
    if layout is None:
        return tensor.detach().to(dtype).contiguous()
    flat = _memory_of(tensor.detach())
    if not flat.numel():
        return torch.zeros(layout.size, dtype=dtype)
    offsets, filled = _host_offsets(layout, tensor.shape)
    return torch.where(filled, flat[offsets.clamp(max=flat.numel() - 1)], flat.new_zeros(())).to(dtype)


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


def digest_of(tensor: torch.Tensor) -> str:
    """Hexadecimal digest of a tensor's values in row-major order; equal values of equal dtype have equal digests."""
    plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    size = plain.numel() * plain.element_size()
    content = (ctypes.c_char * size).from_address(plain.data_ptr()) if size else b""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def _round_trip(
    tensor: torch.Tensor, device_dtype: str, layout: DeviceLayout | None
) -> tuple[int, tuple[list[int], str, str] | None, RoundTrip]:
    with torch.no_grad():
        host = tensor.detach()
        device = to_device(host, getattr(torch, device_dtype), layout)
        back = to_host(device, host, layout)
        different = back != host
        if host.is_floating_point() or host.is_complex():
            different &= ~(back.isnan() & host.isnan())
        changed = int(different.sum())
        if not changed:
            return 0, None, RoundTrip.SAME
        index = different.nonzero()[0].tolist()
        before, after = host[tuple(index)].item(), back[tuple(index)].item()
        return changed, (index, repr(before), repr(after)), RoundTrip.CHANGED
