"""The memory of a whole run: how much each kind of tensor takes while each operation runs, and what holds the peak."""

from __future__ import annotations

from collections.abc import Callable

from inductor_debug_schema import Location, TensorPlace, TensorTimeline, TimelineStorage, TimelineTensor
from inductor_debug_schema.answers.memory_document import HeldMemory, KindMemory, MemoryDocument, MemoryPiece

from inductor_debug.engine.live_tensors.moment import Moment, memory_over, storage_alive, sums_over
from inductor_debug.engine.live_tensors.tensor_places import TensorPlaces

SCHEMA = 1
SAVED = "saved"
"""The kind of activations that nothing but the backward pass still needs."""
KINDS = ("parameter", "buffer", "constant", "input", SAVED, "activation")
"""In the order in which they are stacked: what stays first."""


def memory_of(target: str, path: str, timeline: TensorTimeline, text_of: Callable[[str], str | None]) -> MemoryDocument:
    """The document about the run of `target`, a target of the file at `path`; `text_of` has the texts that ran."""
    memory = memory_over(timeline)
    peak = max(range(len(memory)), key=memory.__getitem__, default=-1)
    owners, ends = _owners(timeline), _last_uses(timeline)
    moment = Moment(peak, False, peak, peak + 1)
    held = [
        _held(timeline, storage, owners.get(number), saved=peak >= ends.get(number, storage.end))
        for number, storage in enumerate(timeline.storages)
        if storage.bytes and storage_alive(storage, moment)
    ]
    places = _Places(TensorPlaces(timeline, path, None, text_of), timeline.operations)
    return MemoryDocument(
        schema=SCHEMA,
        target=target,
        path=path,
        operations=timeline.operations,
        peak=peak,
        peak_bytes=memory[peak] if memory else 0,
        place=_place(timeline, peak),
        kinds=_kinds(timeline, owners, ends),
        held=sorted(held, key=lambda row: -row.bytes),
        symbols=timeline.symbols,
        inputs=timeline.inputs,
        places=places.all,
        operation_places=places.of_operations,
        pieces=[
            _piece(timeline, storage, owners.get(number), ends.get(number, storage.end), places.made_by(storage.first))
            for number, storage in enumerate(timeline.storages)
            if storage.bytes
        ],
    )


class _Places:
    """The places of a run's operations, each once: what one expression runs in two modules has two."""

    def __init__(self, known: TensorPlaces, operations: int) -> None:
        self.all: list[TensorPlace] = []
        numbers: dict[tuple[str, int, int, int, int, str], int] = {}
        self.of_operations = [self._number(known.of_op(operation), numbers) for operation in range(operations)]

    def _number(self, place: TensorPlace | None, numbers: dict[tuple[str, int, int, int, int, str], int]) -> int:
        if place is None:
            return -1
        start, end = place.range.start, place.range.end
        key = (place.path, start.line, start.character, end.line, end.character, place.module)
        if key not in numbers:
            numbers[key] = len(self.all)
            self.all.append(place)
        return numbers[key]

    def made_by(self, operation: int) -> int:
        """The number of the place of an operation; -1 for what was there before the first."""
        return self.of_operations[operation] if 0 <= operation < len(self.of_operations) else -1


def _piece(
    timeline: TensorTimeline, storage: TimelineStorage, owner: TimelineTensor | None, used_until: int, place: int
) -> MemoryPiece:
    kind = _kind_of(owner)
    name = owner.name if owner is not None else ""
    return MemoryPiece(
        kind=kind,
        name=name,
        module=_module_of(timeline, storage.first, kind, name),
        shape=list(owner.shape) if owner is not None else [],
        dtype=owner.dtype if owner is not None else "",
        bytes=storage.bytes,
        first=storage.first,
        let_go=_let_go(storage, used_until) if kind == KINDS[-1] else storage.end,
        end=storage.end,
        place=place,
    )


def _module_of(timeline: TensorTimeline, made_by: int, kind: str, name: str) -> str:
    """The module that made a piece of memory, or that a parameter or buffer called `name` belongs to."""
    if 0 <= made_by < len(timeline.op_modules):
        return timeline.modules[timeline.op_modules[made_by]]
    return name.rpartition(".")[0] if kind in ("parameter", "buffer") else ""


def _let_go(storage: TimelineStorage, used_until: int) -> int:
    """How many operations have run when the run is done with an activation, if not before it is gone."""
    return min(max(used_until, storage.first, 0), storage.end)


def _owners(timeline: TensorTimeline) -> dict[int, TimelineTensor]:
    """The tensor that each storage was made for: the first that lies in it."""
    owners: dict[int, TimelineTensor] = {}
    for tensor in timeline.tensors:
        owners.setdefault(tensor.storage, tensor)
    return owners


def _last_uses(timeline: TensorTimeline) -> dict[int, int]:
    """How many operations had run when each storage was read for the last time and no variable held it any more.

    What is alive then, though the run is over with it, autograd keeps. Python objects do not tell: it keeps those, too.
    """
    ends: dict[int, int] = {}
    for tensor in timeline.tensors:
        last = max([tensor.made, *tensor.reads]) + 1
        ends[tensor.storage] = max(ends.get(tensor.storage, 0), last)
    for name in timeline.names:
        storage = timeline.tensors[name.tensor].storage
        ends[storage] = max(ends[storage], name.until)
    return ends


def _kinds(timeline: TensorTimeline, owners: dict[int, TimelineTensor], ends: dict[int, int]) -> list[KindMemory]:
    spans: dict[str, list[tuple[int, int, int]]] = {kind: [] for kind in KINDS}
    for number, storage in enumerate(timeline.storages):
        kind = _kind_of(owners.get(number))
        first, end = max(storage.first, 0), min(storage.end, timeline.operations)
        let_go = min(_let_go(storage, ends.get(number, end)), end) if kind == KINDS[-1] else end
        spans[kind].append((first, let_go, storage.bytes))
        spans[SAVED].append((let_go, end, storage.bytes))
    over = {kind: sums_over(timeline.operations, parts) for kind, parts in spans.items()}
    return [KindMemory(kind, amounts) for kind, amounts in over.items() if any(amounts)]


def _kind_of(owner: TimelineTensor | None) -> str:
    return owner.kind if owner is not None and owner.kind in KINDS else KINDS[-1]


def _held(
    timeline: TensorTimeline, storage: TimelineStorage, owner: TimelineTensor | None, *, saved: bool
) -> HeldMemory:
    kind = _kind_of(owner)
    return HeldMemory(
        kind=SAVED if saved and kind == KINDS[-1] else kind,
        name=owner.name if owner is not None else "",
        shape=list(owner.shape) if owner is not None else [],
        dtype=owner.dtype if owner is not None else "",
        bytes=storage.bytes,
        first=storage.first,
        end=storage.end,
        place=_place(timeline, storage.first),
    )


def _place(timeline: TensorTimeline, operation: int) -> Location | None:
    index = timeline.op_places[operation] if 0 <= operation < len(timeline.op_places) else -1
    return timeline.places[index] if index >= 0 else None
