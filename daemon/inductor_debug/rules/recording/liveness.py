"""How much memory a recording needs at once, and when: liveness over the storages of its tensors.

What is counted is what a compiled graph would hold. Parameters, buffers, constants and inputs live throughout; what an
op makes lives from that op to the last one that touches its storage, so views and in-place writes count as nothing
new. What is made and never looked at again (but to make views) is a result of the run and lives to the end, but for a
further result of an op of the forward pass whose other results are used (the indices of a max-pool). Where a recording
has the backward pass as well, what the forward saved for it lives until the backward has used it, because both touch
the same storage.

Not counted, because nobody can know: workspaces of kernels, fragmentation, and what the allocator keeps. Sizes that are
symbols count with the smallest value they can have. So the peak is a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.recording.ops import Op, Origin, Recording, TensorMeta
from inductor_debug.rules.recording.stick_flow import StickFlow
from inductor_debug.rules.recording.strides import covers_storage
from inductor_debug.rules.recording.symbolic_sizes import at_least

Measure = Callable[[TensorMeta], int]
"""The bytes that the storage of a tensor takes."""


@dataclass(slots=True)
class Holding:
    """One storage: its bytes, the indexes of the first and the last op between which it lives, and who made it.

    `meta` is the tensor that it was first seen as. `maker` is None for what no op made, `origin` for what one did.
    `used` says that an op has read it, and not just made a view of it.
    """

    meta: TensorMeta
    bytes: int
    first: int
    last: int
    maker: Op | None = None
    origin: Origin | None = None
    used: bool = False

    @property
    def kind(self) -> str:
        """The origin's kind ("parameter", "buffer", "input", "constant"), "activation" where an op made it."""
        return self.origin.kind if self.origin is not None else "activation"


@dataclass(frozen=True, slots=True)
class Peak:
    """The most memory that is needed at once.

    `op` is the first op during which it is needed, None where there are no ops; `holdings` are the storages alive then,
    largest first; `exact` says that no size was a symbol.
    """

    bytes: int
    op: Op | None
    holdings: list[Holding] = field(default_factory=list)
    exact: bool = True

    def by_kind(self) -> dict[str, int]:
        """Bytes of each kind of holding at the peak."""
        found: dict[str, int] = {}
        for holding in self.holdings:
            found[holding.kind] = found.get(holding.kind, 0) + holding.bytes
        return found


def storage_bytes(meta: TensorMeta) -> int:
    """The bytes of a tensor's whole storage, as the host has it."""
    return at_least(meta.storage_bytes)


def on_device(profile: Profile, sticks: StickFlow | None) -> Measure:
    """Measures the bytes of a storage as the accelerator has it: in its own dtypes, and padded where it has sticks.

    Args:
        profile: what the accelerator can do.
        sticks: how the recording's tensors lie there; None where that is as on the host.
    """

    def measure(meta: TensorMeta) -> int:
        size = at_least(meta.storage_bytes)
        layout = None if sticks is None or not covers_storage(meta) else sticks.layout_of(meta)
        if layout is not None:
            return layout.bytes
        if meta.element_bytes <= 0:
            return size
        return size * profile.device_bytes(meta.dtype, meta.element_bytes) // meta.element_bytes

    return measure


def total_of(recording: Recording, measure: Measure = storage_bytes) -> int:
    """The bytes of all storages together, which no peak can exceed; several times quicker than `peak_of`."""
    made = {(meta.storage, meta.storage_bytes): meta for op in recording.ops for meta in op.outputs}
    made.update(
        {(origin.meta.storage, origin.meta.storage_bytes): origin.meta for origin in recording.origins.values()}
    )
    return sum(map(measure, made.values()))


def holdings_of(recording: Recording, measure: Measure = storage_bytes) -> list[Holding]:
    """Every storage of the recording with the time in which it lives, in the order in which they were met."""
    found: dict[int, Holding] = {}
    end = max(len(recording.ops) - 1, 0)
    for index, op in enumerate(recording.ops):
        for meta in op.inputs:
            holding = found.get(meta.storage)
            if holding is None:
                origin = recording.origins.get(meta.value) or Origin("constant", "", op.frames, meta)
                found[meta.storage] = Holding(meta, measure(meta), 0, end, origin=origin)
            else:
                holding.used = holding.used or not op.is_view
                holding.last = max(holding.last, index)
                holding.bytes = max(holding.bytes, measure(meta))
        for meta in op.outputs:
            holding = found.get(meta.storage)
            if holding is None:
                found[meta.storage] = Holding(meta, measure(meta), index, index, maker=op)
            else:
                holding.last = max(holding.last, index)
                holding.bytes = max(holding.bytes, measure(meta))
    for holding in found.values():
        if holding.maker is not None and not holding.used and _is_result(holding.maker, found):
            holding.last = end
    return list(found.values())


def peak_of(recording: Recording, measure: Measure = storage_bytes) -> Peak:
    """The peak of the recording, in time proportional to its ops and tensors."""
    return _peak_of(recording, holdings_of(recording, measure))


def eager_peak_of(recording: Recording, measure: Measure = storage_bytes) -> Peak:
    """The peak of the code as it ran, where the recording knows lifetimes: what variables or autograd hold is alive."""
    holdings, ends = holdings_of(recording, measure), recording.lifetimes
    for holding in holdings:
        if ends is not None and holding.maker is not None:
            gone = ends.storages.get(holding.meta.storage, len(recording.ops))
            holding.last = max(holding.first, gone - 1)
    return _peak_of(recording, holdings)


def _peak_of(recording: Recording, holdings: list[Holding]) -> Peak:
    changes = [0] * (len(recording.ops) + 1)
    for holding in holdings:
        if recording.ops:
            changes[holding.first] += holding.bytes
            changes[holding.last + 1] -= holding.bytes
    totals = list(accumulate(changes[:-1]))
    if not totals:
        return Peak(0, None)
    highest = max(totals)
    index = totals.index(highest)
    alive = [holding for holding in holdings if holding.first <= index <= holding.last]
    alive.sort(key=lambda holding: -holding.bytes)
    exact = all(isinstance(holding.meta.storage_bytes, int) for holding in alive)
    return Peak(highest, recording.ops[index], alive, exact)


def _is_result(maker: Op, found: dict[int, Holding]) -> bool:
    """Whether something that `maker` made and nobody used is returned, and not just dropped."""
    return bool(maker.autograd_node) or not any(found[meta.storage].used for meta in maker.outputs)
