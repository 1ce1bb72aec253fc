"""The `transfers` document: what crosses between the host and an accelerator, and what does not come back as it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.expressions import DeviceLayout


class RoundTrip(str, Enum):
    """What became of a tensor's values on their way to the device and back."""

    SAME = "same"
    """Every element came back as it was (NaN counts as itself)."""
    ROUNDED = "rounded"
    """Some came back as the nearest number that the device has."""
    CHANGED = "changed"
    """Some came back as what no rounding explains: cut off, or beyond what the device can hold."""
    NOT_RUN = "not-run"
    """The tensor has no values (it is fake), or its kind cannot be laid out."""


class Crossing(str, Enum):
    """Which way a tensor goes."""

    TO_DEVICE = "to-device"
    TO_HOST = "to-host"


@dataclass(frozen=True, slots=True)
class TransferExample:
    """An element before and after a round trip, as text."""

    index: list[int]
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferRow:
    """One tensor at a graph's border; a line of the log that is kept.

    `shape` and `stride` are in elements. `digest` is of the values in row-major order, "" where there are none.
    `changed` counts elements that come back as something else, `rounded` those that come back as the nearest number of
    the device; `example` is the first of the former, else of the latter. `values` are, where they were asked for, the
    first and the last elements and the first that differ, in row-major order. `line` counts from zero.
    """

    graph: str
    direction: Crossing
    role: str
    name: str
    shape: list[int]
    stride: list[int]
    dtype: str
    device_dtype: str
    host_bytes: int
    device_bytes: int
    layout: Union[DeviceLayout, None]
    digest: str
    round_trip: RoundTrip
    changed: int
    example: Union[TransferExample, None]
    path: Union[str, None]
    line: Union[int, None]
    note: str
    rounded: int = 0
    values: list[TransferExample] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TransferSummary:
    """All crossings together; `changed` and `rounded` count tensors whose round trip ended so."""

    transfers: int
    host_bytes: int
    device_bytes: int
    changed: int
    rounded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TransfersDocument:
    """The transfers of one target. `problem` says why values are missing, `error` what the target raised.

    `values` is how many of a tensor's first and last elements, and of those that differ, were asked for.
    """

    schema: int
    target: str
    accelerator: str
    transfers: list[TransferRow]
    summary: TransferSummary
    problem: Union[str, None]
    error: Union[str, None]
    values: int = 0
