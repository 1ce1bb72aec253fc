"""Describes the tensors that are alive at a moment: what the code calls them, who makes and reads them, how they lie.

Every memory that is alive has a row, for each variable that holds a tensor in it; views that no variable holds are left
out. What the line itself made or read and dropped again is listed as well, and takes no memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from inductor_debug_schema import DeviceLayout, TensorRow, TensorTimeline, TimelineTensor

from inductor_debug.accelerators.device_memory import placed_layout
from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.live_tensors.lookup import Visit, active_calls
from inductor_debug.engine.live_tensors.moment import Moment, storage_alive, tensor_alive
from inductor_debug.engine.live_tensors.tensor_places import TensorPlaces

MOST_READS = 4
_KINDS = ("activation", "input", "constant", "buffer", "parameter")
"""In the order in which they are listed, after what the line makes and reads."""


class Describer:
    """Makes the rows of one moment.

    Args:
        timeline: the run.
        visit: the line's visit.
        moment: the moment that is shown of it.
        places: what stands where, for labels and links.
        profile: the accelerator that tensors are laid out for; None where none was chosen.
    """

    def __init__(
        self, timeline: TensorTimeline, visit: Visit, moment: Moment, places: TensorPlaces, profile: Profile | None
    ) -> None:
        self._timeline = timeline
        self._moment = moment
        self._statement = visit.statement
        self._places = places
        self._profile = profile
        self._layouts: dict[object, DeviceLayout | None] = {}
        self._called = self._variables(visit)
        self._learns = any(tensor.made >= 0 and tensor.requires_grad for tensor in timeline.tensors)

    def rows(self) -> list[TensorRow]:
        """All rows, in the order in which they matter for the line, each kind with the largest first."""
        rows = [self._row(number, alive=True) for number in self._shown()]
        rows += [self._row(number, alive=False) for number in self._gone()]
        rows.sort(key=_rank)
        return _counted(rows, self._timeline.tensors)

    def device_bytes(self, rows: Iterable[TensorRow]) -> int | None:
        """What the memory of these rows takes on the accelerator; None where it lies there as on the host."""
        if self._profile is None or (self._profile.stick_bytes is None and not self._own_layouts()):
            return None
        total = 0
        for row in rows:
            if row.counted:
                whole = row.storage_bytes <= row.bytes
                total += row.layout.bytes if row.layout is not None and whole else self._on_device(row)
        return total

    def _on_device(self, row: TensorRow) -> int:
        assert self._profile is not None
        tensor = self._timeline.tensors[row.id]
        element = self._profile.device_bytes(tensor.dtype, tensor.element_bytes)
        return row.storage_bytes * element // max(tensor.element_bytes, 1)

    def _variables(self, visit: Visit) -> dict[int, tuple[str, str]]:
        """The variable that holds each tensor, and the function it is of: the line's own comes first."""
        found: dict[int, tuple[str, str]] = {}
        active = active_calls(self._timeline, visit.call)
        scopes = {number: call.function if depth else "" for depth, (number, call) in enumerate(active)}
        of_call: dict[int, list[tuple[int, str]]] = {}
        for held in self._timeline.names:
            there = held.since <= self._moment.last and held.until > self._moment.op + self._moment.between
            if held.call in scopes and there:
                of_call.setdefault(held.call, []).append((held.tensor, held.name))
        for number, scope in scopes.items():
            for tensor, name in of_call.get(number, ()):
                found.setdefault(tensor, (name, scope))
        return found

    def _shown(self) -> list[int]:
        """The tensors that stand for all memory that is alive."""
        present: dict[int, list[int]] = {}
        for number, tensor in enumerate(self._timeline.tensors):
            if tensor_alive(tensor, self._timeline, self._moment):
                present.setdefault(tensor.storage, []).append(number)
        first: dict[int, int] = {}
        for number, tensor in enumerate(self._timeline.tensors):
            first.setdefault(tensor.storage, number)
        shown: list[int] = []
        for storage, memory in enumerate(self._timeline.storages):
            if storage_alive(memory, self._moment):
                there = present.get(storage, [])
                shown += [number for number in there if number in self._called] or there[:1] or [first[storage]]
        return shown

    def _gone(self) -> list[int]:
        """What operations of the very line made or read, and what was dropped before its last one."""
        statements, tensors = self._timeline.op_statements, self._timeline.tensors
        found: list[int] = []
        for number, tensor in enumerate(tensors):
            used = [op for op in (tensor.made, *tensor.reads) if self._moment.of_line(op)]
            if not used or storage_alive(self._timeline.storages[tensor.storage], self._moment) or tensor.base >= 0:
                continue
            if any(statements[op] == self._statement for op in used):
                found.append(number)
        return found

    def _row(self, number: int, *, alive: bool) -> TensorRow:
        tensor = self._timeline.tensors[number]
        storage = self._timeline.storages[tensor.storage]
        label, named, scope = self._label(number)
        layout = self._layout(tensor)
        elements = math.prod(tensor.sizes) if tensor.sizes or not tensor.shape else 0
        reads = self._places.of_ops(tensor.reads, after=self._moment.op)
        return TensorRow(
            id=number,
            kind=tensor.kind,
            label=label,
            named=named,
            scope=scope,
            roles=self._roles(number, alive=alive),
            shape=list(tensor.shape),
            sizes=list(tensor.sizes),
            dims=list(tensor.dims),
            stride=list(tensor.stride),
            order=tensor.order,
            dtype=tensor.dtype,
            device=tensor.device,
            requires_grad=tensor.requires_grad,
            bytes=elements * tensor.element_bytes,
            storage_bytes=storage.bytes,
            counted=alive,
            view_of=self._label(tensor.base)[0] if tensor.base >= 0 else "",
            made=self._places.of_op(tensor.made) if tensor.made >= 0 else None,
            declared=self._places.at(tensor.declared) if tensor.declared >= 0 else None,
            reads=reads[:MOST_READS],
            read_count=len(reads),
            layout=layout,
        )

    def _label(self, number: int) -> tuple[str, bool, str]:
        tensor = self._timeline.tensors[number]
        if tensor.kind in ("parameter", "buffer") and tensor.name:
            return tensor.name, True, ""
        variable = self._called.get(number)
        if variable is not None:
            return variable[0], True, variable[1]
        if tensor.name:
            return tensor.name, True, ""
        place = self._places.of_op(tensor.made if tensor.made >= 0 else tensor.reads[0] if tensor.reads else -1)
        return (place.text if place is not None else tensor.kind), False, ""

    def _roles(self, number: int, *, alive: bool) -> list[str]:
        tensor = self._timeline.tensors[number]
        roles = ["made"] if self._moment.of_line(tensor.made) else []
        roles += ["read"] if any(map(self._moment.of_line, tensor.reads)) else []
        if not alive:
            return [*roles, "gone"]
        if self._timeline.storages[tensor.storage].end <= self._moment.last:
            return [*roles, "freed"]
        idle = not any(op > self._moment.op for op in tensor.reads) and not roles
        saved = idle and self._learns and tensor.kind == "activation" and number not in self._called
        return [*roles, "saved"] if saved else roles

    def _own_layouts(self) -> bool:
        """Whether the run has layouts that the accelerator's own code made."""
        return self._profile is not None and self._timeline.accelerator == self._profile.name

    def _layout(self, tensor: TimelineTensor) -> DeviceLayout | None:
        strides = [stride for stride in tensor.stride if isinstance(stride, int)]
        if self._profile is None or len(tensor.sizes) != len(tensor.shape) or len(strides) != len(tensor.stride):
            return None
        if tensor.layout >= 0 and self._own_layouts():
            return self._timeline.layouts[tensor.layout]
        from_host, stick = tensor.made < 0, None if tensor.stick < 0 else tensor.stick
        key = (tuple(tensor.sizes), tuple(strides), tensor.dtype, from_host, stick)
        if key not in self._layouts:
            self._layouts[key] = placed_layout(
                self._profile,
                tensor.sizes,
                strides,
                tensor.dtype,
                tensor.element_bytes,
                from_host=from_host,
                stick=stick,
            )
        return self._layouts[key]


def _rank(row: TensorRow) -> tuple[int, int, int, int]:
    """What the line made and left first, then what it read, then what it only needed meanwhile, then by kind."""
    made, passing = "made" in row.roles, "gone" in row.roles or "freed" in row.roles
    read = 1 if "read" in row.roles else 3
    touched = (2 if passing else 0) if made else read
    kind = _KINDS.index(row.kind) if row.kind in _KINDS else len(_KINDS)
    return touched, kind if touched == 3 else 0, -row.storage_bytes, row.id


def _counted(rows: list[TensorRow], tensors: list[TimelineTensor]) -> list[TensorRow]:
    """The rows, of which only the first of each memory counts for it."""
    met: set[int] = set()
    found: list[TensorRow] = []
    for row in rows:
        storage = tensors[row.id].storage
        found.append(replace(row, counted=row.counted and storage not in met))
        if row.counted:
            met.add(storage)
    return found
