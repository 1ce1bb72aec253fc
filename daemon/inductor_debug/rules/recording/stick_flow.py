"""Along which dimension each tensor of a recording lies in sticks, and which operands lie along another one than asked.

What comes from the host has its sticks along its last dimension; a view shares the memory of what it looks at; a result
has them where its op puts them. Pointwise ops want all operands alike. A matrix product `C[m, n] = A[m, k] @ B[k, n]`
wants `A` along `k`, and `B` and `C` along `n`. A reduction over the dimension of the sticks leaves one element a stick.

Only what follows from sizes and strides is followed: what a compiler would choose among layouts of equal cost nobody
knows, and an op that is not known is taken to lay its result out anew, with sticks along the last dimension.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from inductor_debug_schema import DeviceLayout

from inductor_debug.accelerators.device_memory import placed_layout
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.iteration import broadcasts_to, reduced_dimensions
from inductor_debug.rules.recording.ops import Op, Recording, Size, TensorMeta


@dataclass(frozen=True, slots=True)
class Misfit:
    """An operand whose sticks do not run along the dimension `wanted`, for the op `op`."""

    op: Op
    operand: TensorMeta
    wanted: int


class StickFlow:
    """One pass over a recording.

    Args:
        recording: the ops.
        profile: what the accelerator can do.
        attention: the indexes of ops that are parts of an attention (`operators.attention_calls`).

    Attributes:
        misfits: operands that have to be laid out anew before their op, in the order in which they were met.
    """

    def __init__(self, recording: Recording, profile: Profile, attention: Collection[int]) -> None:
        self._recording = recording
        self._profile = profile
        # By storage: the distance in memory of elements that are neighbours in a stick, None for one element a stick.
        self._steps: dict[int, Size | None] = {}
        self.misfits: list[Misfit] = []
        for origin in recording.origins.values():
            self._put(origin.meta, len(origin.meta.shape) - 1)
        for op in recording.ops:
            if op.index in attention:
                self._results(op, None)
            elif not op.is_view and not operators.only_reads_metadata(op.packet):
                self._step(op)

    def stick_of(self, meta: TensorMeta) -> int | None:
        """The dimension of the tensor that lies in sticks; None where it has one element a stick."""
        step = self._steps.get(meta.storage, 1)
        if step is None:
            return None
        for index in reversed(range(len(meta.shape))):
            if meta.stride[index] == step and meta.shape[index] != 1:
                return index
        return None

    def placed(self, meta: TensorMeta) -> tuple[bool, int | None]:
        """What decides on the layout of a tensor beside its sizes: whether it comes from outside, and its sticks."""
        return meta.value in self._recording.origins, self.stick_of(meta)

    def layout_of(self, meta: TensorMeta) -> DeviceLayout | None:
        """How the tensor lies on the accelerator; None where sizes are not known or it has no sticks."""
        sizes = [size for size in meta.shape if isinstance(size, int)]
        strides = [stride for stride in meta.stride if isinstance(stride, int)]
        if len(sizes) != len(meta.shape) or len(strides) != len(meta.stride):
            return None
        from_host, stick = self.placed(meta)
        return placed_layout(
            self._profile, sizes, strides, meta.dtype, meta.element_bytes, from_host=from_host, stick=stick
        )

    def _put(self, meta: TensorMeta, stick: int | None) -> None:
        if meta.storage not in self._steps:
            alone = stick is None or stick < 0 or meta.shape[stick] == 1
            self._steps[meta.storage] = None if alone or stick is None else meta.stride[stick]

    def _step(self, op: Op) -> None:
        if operators.multiplies_matrices(op.packet):
            self._product(op)
        elif operators.lays_out_anew(op.packet) or not op.inputs:
            self._results(op, None)
        elif operators.reduces(op.packet):
            self._reduction(op)
        else:
            self._pointwise(op)

    def _results(self, op: Op, stick: int | None) -> None:
        """Puts the results' sticks along `stick`, their last dimension where it is not given."""
        for meta in op.outputs:
            self._put(meta, len(meta.shape) - 1 if stick is None else stick)

    def _product(self, op: Op) -> None:
        factors = operators.factors_of(op)
        if factors is not None:
            left, right = factors
            self._want(op, left, len(left.shape) - 1)
            self._want(op, right, len(right.shape) - 1)
        self._results(op, None)

    def _want(self, op: Op, operand: TensorMeta, wanted: int) -> None:
        stick = self.stick_of(operand)
        if stick is not None and stick != wanted and operand.shape[wanted] != 1:
            self.misfits.append(Misfit(op, operand, wanted))

    def _reduction(self, op: Op) -> None:
        source = op.inputs[0]
        stick = self.stick_of(source)
        gone = reduced_dimensions(op, len(source.shape))
        for meta in op.outputs:
            if stick is None or stick in gone:
                self._put(meta, None)
            elif len(meta.shape) == len(source.shape):
                self._put(meta, stick)
            else:
                self._put(meta, stick - sum(index < stick for index in gone))

    def _pointwise(self, op: Op) -> None:
        for meta in op.outputs:
            if meta.storage in self._steps:
                continue
            operands = [(operand, self._along(operand, meta)) for operand in op.inputs]
            told = [(operand, along) for operand, along in operands if along is not None]
            if not told:
                repeats = not operators.joins(op.packet)  # A part of one element fills one place, and is not repeated.
                fits = repeats and any(broadcasts_to(operand, meta) for operand in op.inputs)
                self._put(meta, None if fits else len(meta.shape) - 1)
                continue
            weights: dict[int, int] = {}
            for operand, along in told:
                weights[along] = weights.get(along, 0) + _elements(operand)
            chosen = max(weights, key=lambda along: weights[along])
            self._put(meta, chosen)
            for operand, along in told:
                wanted = chosen - len(meta.shape) + len(operand.shape)
                if along != chosen and wanted >= 0 and operand.shape[wanted] != 1:
                    self.misfits.append(Misfit(op, operand, wanted))

    def _along(self, operand: TensorMeta, result: TensorMeta) -> int | None:
        """The dimension of the result along which the operand's sticks run; None where that says nothing."""
        stick = self.stick_of(operand)
        if stick is None or not broadcasts_to(operand, result):
            return None
        return stick + len(result.shape) - len(operand.shape)


def _elements(meta: TensorMeta) -> int:
    return math.prod(size for size in meta.shape if isinstance(size, int))
