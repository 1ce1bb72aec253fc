"""What each op costs where it runs by itself: the bytes that it reads and writes, and its floating-point operations.

Each operand is read once and each result written once, as the accelerator stores them. Views, and what looks at sizes
alone, cost nothing; a lookup reads as many rows as it gives, and a write at given places writes what it is given there.
Notes for a backward pass that nobody reads are not counted. A dimension of stride 0 repeats what was read, and operands
that share memory count together only where `pieces` knows that they have no element in common. Sizes that are symbols
count with the smallest value they can have, and such a cost is not exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.costing.pieces import Pieces
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.flops import UnknownSizeError, needed_flops_of
from inductor_debug.rules.recording.ops import Op, Recording, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import at_least

_PICKS = frozenset({"gather", "slice", "select", "as_strided", "take", "masked_select", "index_select"})
"""Operators that read a part of their first operand only, beside those that look up."""
_OVERWRITES = frozenset(
    {"copy_", "zero_", "fill_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_", "trunc_normal_"}
)
"""Operators that write all of their first operand and read none of it."""
_NO_FACTORS = frozenset({"bool", "int32", "int64", "uint64"})
"""Dtypes of operands of products that are not multiplied: masks, positions, states of random numbers."""
_MAKES_NOTHING = frozenset(
    {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_", "set_"}
)
"""Operators whose result is memory that nobody has written."""


@dataclass(frozen=True, slots=True)
class OpCost:
    """One op, by itself. `read` maps each storage to the bytes of it that are read; `written` likewise.

    `operations` are floating-point operations (`flops.needed_flops_of`) on operands of the dtypes `dtypes`, as the
    accelerator stores them. `exact` says that no size that counts is a symbol, and that the operations are known.
    """

    read: dict[int, int]
    written: dict[int, int]
    operations: int = 0
    dtypes: frozenset[str] = frozenset()
    exact: bool = True

    @property
    def bytes_read(self) -> int:
        """Of all operands."""
        return sum(self.read.values())

    @property
    def bytes_written(self) -> int:
        """Of all results."""
        return sum(self.written.values())


_FREE = OpCost({}, {})


def costs_of_ops(recording: Recording, profile: Profile) -> list[OpCost]:
    """The cost of each op of a recording."""
    reader = _Reader(recording, profile)
    return [reader.cost(op) for op in recording.ops]


def reads_in_part(op: Op) -> bool:
    """Whether the op reads its first operand at some places only, perhaps at one again and again."""
    return operators.looks_up(op.packet) or operators.name(op.packet) in _PICKS


class _Reader:
    def __init__(self, recording: Recording, profile: Profile) -> None:
        self._profile = profile
        self._pieces = Pieces()
        self._looked_at = {meta.storage for op in recording.ops for meta in op.inputs}

    def cost(self, op: Op) -> OpCost:
        if op.is_view or _gives_its_operand(op):
            self._pieces.view(op)
            return _FREE
        bare = operators.name(op.packet)
        metas = (*op.inputs, *op.outputs)
        exact = all(isinstance(size, int) for meta in metas for size in meta.shape)
        operations, counted = _operations(op, exact)
        return OpCost(
            read={} if operators.only_reads_metadata(op.packet) else self._read(op, bare),
            written={} if bare in _MAKES_NOTHING else self._written(op),
            operations=operations,
            dtypes=self._factor_dtypes(op) if operations else frozenset(),
            exact=exact and counted,
        )

    def _factor_dtypes(self, op: Op) -> frozenset[str]:
        """As the accelerator stores them: not those of masks and positions."""
        stored = {
            dtype: self._profile.stored_as.get(dtype) for dtype in {meta.dtype for meta in op.inputs} - _NO_FACTORS
        }
        return frozenset(dtype if other is None else other.dtype for dtype, other in stored.items())

    def _read(self, op: Op, bare: str) -> dict[int, int]:
        found: dict[int, list[tuple[TensorMeta, int]]] = {}
        for position, meta in enumerate(op.inputs):
            if position == 0 and (bare in _OVERWRITES or _writes_in_part(op)):
                continue
            amount = self._bytes(meta)
            if position == 0 and reads_in_part(op):
                amount = min(amount, sum(map(self._bytes, op.outputs)))
            found.setdefault(meta.storage, []).append((meta, amount))
        return {storage: self._pieces.together(parts) for storage, parts in found.items()}

    def _written(self, op: Op) -> dict[int, int]:
        if _writes_in_part(op):
            changed, given = op.inputs[0], op.inputs[-1]
            return {changed.storage: math.prod(_lengths(given)) * self._element(changed)}
        found: dict[int, list[tuple[TensorMeta, int]]] = {}
        taken = {meta.storage for meta in op.inputs}
        notes = op.outputs[1:] if operators.has_notes(op.packet) else ()
        for meta in op.outputs:
            if meta.storage not in taken and (meta not in notes or meta.storage in self._looked_at):
                found.setdefault(meta.storage, []).append((meta, self._bytes(meta)))
        for meta in op.inputs:
            if meta.value in op.mutates:
                found.setdefault(meta.storage, []).append((meta, self._bytes(meta)))
        return {storage: self._pieces.together(parts) for storage, parts in found.items()}

    def _bytes(self, meta: TensorMeta) -> int:
        return math.prod(_lengths(meta)) * self._element(meta)

    def _element(self, meta: TensorMeta) -> int:
        return self._profile.device_bytes(meta.dtype, meta.element_bytes)


def _lengths(meta: TensorMeta) -> list[int]:
    """The sizes of dimensions along which memory is gone through."""
    return [at_least(size) for size, step in zip(meta.shape, meta.stride, strict=True) if step != 0]


def _gives_its_operand(op: Op) -> bool:
    """Whether all that the op gives lies unchanged in the memory of what it was given."""
    taken = {meta.storage for meta in op.inputs}
    return bool(op.outputs) and not op.mutates and all(meta.storage in taken for meta in op.outputs)


def _writes_in_part(op: Op) -> bool:
    """Whether the op writes into its first operand at places that another one gives."""
    bare = operators.name(op.packet)
    return bool(op.mutates) and bare.startswith(("index_", "scatter", "masked_scatter", "put_"))


def _operations(op: Op, exact: bool) -> tuple[int, bool]:
    """Operations that have to be done, and whether there are no more."""
    try:
        return needed_flops_of(op if exact else _smallest(op)), True
    except (UnknownSizeError, IndexError):
        return 0, False


def _smallest(op: Op) -> Op:
    """The op with the smallest sizes that it can have: all formulas grow with sizes."""

    def least(metas: Sequence[TensorMeta]) -> tuple[TensorMeta, ...]:
        return tuple(replace(meta, shape=tuple(map(at_least, meta.shape))) for meta in metas)

    return replace(op, inputs=least(op.inputs), outputs=least(op.outputs))
