"""Where sizes come from: a walk back through a recording, from dimensions of a tensor to what gave them their sizes.

Each operator hands its output's dimensions on from some input's (`source_dims`); the walk follows them until an input,
a parameter or an operator that nothing is known of. Needs no torch, and judges nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

from inductor_debug_schema import Location, TraceStep

from inductor_debug.capture.tensors.source_dims import Slot, source_of
from inductor_debug.rules.recording.ops import Frame, Op, Recording, TensorMeta

MOST_STEPS = 8
_MOST_HOPS = 200


class _Made(NamedTuple):
    op: Op
    output: int


class _Hop(NamedTuple):
    """One op on the way back: the sizes that came out of it, and those of its input that they come from."""

    op: Op
    came: list[int]
    went: list[int]


class SizeHistory:
    """The history of every size in one recording.

    Args:
        recording: what ran.
        name_of: one word for what an op does, as the user would say it (`conv2`, `flatten`).
    """

    def __init__(self, recording: Recording, name_of: Callable[[Op], str]) -> None:
        self._recording = recording
        self._name_of = name_of
        self._makers: dict[int, list[_Made]] = {}
        for op in recording.ops:
            for index, meta in enumerate(op.outputs):
                self._makers.setdefault(meta.value, []).append(_Made(op, index))

    def maker(self, value: int, before: int | None = None) -> Op | None:
        """The op that made a value, the last one before the op with the index `before`."""
        made = self._made(value, before)
        return None if made is None else made.op

    def made_by(self, value: int) -> str:
        """One word for what made a value; empty for what no op made."""
        op = self.maker(value)
        return "" if op is None else self._name_of(op)

    def place(self, value: int) -> Location | None:
        """The expression that made a value or declared it; None where no line of the project did."""
        op = self.maker(value)
        if op is not None:
            return place_of(op)
        origin = self._recording.origins.get(value)
        return None if origin is None else _of_project(origin.frames)

    def trace(self, meta: TensorMeta, dims: tuple[int, ...]) -> list[TraceStep]:
        """The steps that gave dimensions of a tensor their sizes, the latest first."""
        hops: list[_Hop] = []
        before: int | None = None
        slot: Slot | None = None
        while len(hops) < _MOST_HOPS:
            made = self._made(meta.value, before)
            if made is None:
                return [*self._steps(hops), *self._first(meta, dims)]
            op, output = made
            came, source = _sizes(op.outputs[output], dims), source_of(op, output, dims)
            if source is None:
                hops.append(_Hop(op, came, []))
                break
            meta, dims, before = op.inputs[source.input], source.dims, op.index
            if source.slot is not None:
                slot = source.slot if slot is None else None
            elif slot is not None and len(dims) > 1:
                dims, slot = slot.among(meta.shape, dims), None
            hops.append(_Hop(op, came, _sizes(meta, dims)))
        return self._steps(hops)

    def dtype_change(self, meta: TensorMeta) -> TraceStep | None:
        """The step in which a value got its dtype; None where it had it from the beginning."""
        before: int | None = None
        while (made := self._made(meta.value, before)) is not None:
            op = made.op
            same = next((item for item in op.inputs if item.dtype == meta.dtype), None)
            if same is None:
                name = self._name_of(op)
                return TraceStep(name, f"{name} gives {meta.dtype}", [], place_of(op)) if op.inputs else None
            meta, before = same, op.index
        return None

    def _made(self, value: int, before: int | None) -> _Made | None:
        makers = self._makers.get(value, ())
        return next((made for made in reversed(makers) if before is None or made.op.index < before), None)

    def _steps(self, hops: list[_Hop]) -> list[TraceStep]:
        """What changed sizes; all that ran under one expression is one step."""
        steps: list[TraceStep] = []
        for (name, place), group in itertools.groupby(hops, lambda hop: (self._name_of(hop.op), place_of(hop.op))):
            together = list(group)
            came, went = together[0].came, together[-1].went
            if came == went:
                continue
            text = name
            if len(went) > len(came):
                text = f"{name} {'·'.join(map(str, went))}"
            elif len(went) == len(came) == 1 and came[0] and went[0] % came[0] == 0:
                text = f"{name} of {went[0]}"
            steps.append(TraceStep(name, text, came, place))
        return steps[:MOST_STEPS]

    def _first(self, meta: TensorMeta, dims: tuple[int, ...]) -> list[TraceStep]:
        origin = self._recording.origins.get(meta.value)
        if origin is None or not origin.name:
            return []
        shape = [size for size in meta.shape if isinstance(size, int)]
        return [TraceStep(origin.name, f"{origin.name} {shape}", _sizes(meta, dims), _of_project(origin.frames), True)]


def place_of(op: Op) -> Location | None:
    """The user's innermost expression under an op."""
    return _of_project(op.frames)


def _of_project(frames: tuple[Frame, ...]) -> Location | None:
    return next((frame.location for frame in frames if frame.in_project), None)


def _sizes(meta: TensorMeta, dims: tuple[int, ...]) -> list[int]:
    return [size for dim in dims if isinstance(size := meta.shape[dim], int)]
