"""What crosses between host and accelerator at the border of each compiled graph, under a profile.

Every tensor is really converted, rounded to the profile's numbers, laid out in its memory (sticks and padding
included), read back and compared (`round_trips`), so that what the transfer alone would change is seen before any
kernel is suspected. There is no device here, and nothing is changed: the graph gets the tensors it was called with.
"""

from __future__ import annotations

import ctypes
import hashlib
from dataclasses import dataclass

import torch
from inductor_debug_schema import Crossing, DeviceLayout, Location, RoundTrip, TransferRow
from torch._subclasses.fake_tensor import FakeTensor

from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.device_memory import allocated_layout
from inductor_debug.capture.script_backends.round_trips import RoundTripped, round_trip

_DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class Transfer:
    """One tensor at a graph's border.

    `to_device` is False for results. `shape` and `stride` are in elements; dtypes have no `torch.` prefix. `digest` is
    of the values in row-major order, "" where there are none. `came_back` says what a round trip makes of them.
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
    came_back: RoundTripped
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
            round_trip=self.came_back.outcome,
            changed=self.came_back.changed,
            rounded=self.came_back.rounded,
            example=self.came_back.example,
            values=self.came_back.values,
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
        back, example = self.came_back, self.came_back.example
        words.append(f"round trip: {back.outcome.value}")
        if example is not None:
            which = f"{back.changed} changed" if back.changed else f"{back.rounded} rounded"
            words.append(f"{which}, first at {example.index}: {example.before} -> {example.after}")
        return ", ".join(words) + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True, slots=True)
class Border:
    """What is known of one input of a graph: its role, the user's name for it, and where it was declared."""

    role: str
    name: str
    place: Location | None = None


def transfer_of(
    tensor: torch.Tensor, profile: Profile, *, graph: str, to_device: bool, border: Border, values: int = 0
) -> Transfer:
    """Sends a tensor to the profile's memory and back, and says what came of it.

    Args:
        tensor: what crosses the border.
        profile: the accelerator.
        graph: which graph's border it is.
        to_device: whether it comes from the host.
        border: what is known of it there.
        values: how many of its first and last elements, and of those that differ, are told.
    """
    dtype = str(tensor.dtype).removeprefix("torch.")
    stored = profile.stored_as.get(dtype)
    kept_as = stored.dtype if stored is not None else dtype
    held = profile.format_held(dtype)
    element_bytes = profile.device_bytes(dtype, tensor.element_size())
    note = "" if stored is None or not stored.reason else stored.reason
    if not profile.supports(dtype):
        note = f"{profile.name} has no {dtype}"
    sizes = tuple(int(size) for size in tensor.shape)
    strided = tensor.layout == torch.strided and not tensor.is_quantized
    strides = tuple(map(int, tensor.stride())) if strided else ()
    layout = allocated_layout(profile, sizes, strides, dtype, tensor.element_size()) if strided else None
    valued = strided and not isinstance(tensor, FakeTensor) and tensor.device.type != "meta"
    nothing = RoundTripped(RoundTrip.NOT_RUN)
    return Transfer(
        graph=graph,
        to_device=to_device,
        role=border.role,
        name=border.name,
        shape=sizes,
        stride=strides,
        dtype=dtype,
        device_dtype=kept_as if held is None else held.name,
        host_bytes=tensor.numel() * tensor.element_size(),
        device_bytes=layout.bytes if layout is not None else tensor.numel() * element_bytes,
        layout=layout,
        digest=digest_of(tensor) if valued else "",
        came_back=round_trip(tensor, kept_as, held, layout, values) if valued else nothing,
        place=border.place,
        note=note,
    )


def digest_of(tensor: torch.Tensor) -> str:
    """Hexadecimal digest of a tensor's values in row-major order; equal values of equal dtype have equal digests."""
    plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    size = plain.numel() * plain.element_size()
    content = (ctypes.c_char * size).from_address(plain.data_ptr()) if size else b""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
