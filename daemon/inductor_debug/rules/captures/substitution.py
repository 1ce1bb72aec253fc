"""A recording with sizes in place of symbols: what would have been recorded of a call with these sizes.

That the model takes the same way through its code with them is for others to say (the guards of the run). Nothing is
run here, and the recording that is given stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace as replaced
from typing import Any

from inductor_debug.rules.captures.size_expressions import Bounds, with_values
from inductor_debug.rules.recording.ops import Op, Origin, Recording, Size, SymbolicSize, TensorMeta


def substituted(recording: Recording, values: Mapping[str, int | str], bounds: Bounds) -> Recording:
    """The recording where names of sizes have values, or other names.

    Args:
        recording: what was recorded with symbols.
        values: numbers, or the formulas that stand for a name from now on.
        bounds: of the names that stay.

    Raises:
        NoValueError: a size has a part that has no value.
    """
    return _changed(recording, lambda size: with_values(size, values, bounds))


def exemplified(recording: Recording) -> Recording:
    """The recording with the sizes of the call that ran in place of symbols. A symbol of which none is known stays."""
    if not any(isinstance(size, SymbolicSize) for op in recording.ops for size in _sizes_of(op)):
        return recording
    return _changed(recording, lambda size: size if size.example is None else size.example)


def examples_in(recording: Recording) -> dict[str, int]:
    """What symbols that are plain names are in the call that ran, in the order in which ops met them."""
    sizes = (size for op in recording.ops for size in _sizes_of(op) if isinstance(size, SymbolicSize))
    return {
        size.expression: size.example for size in sizes if size.example is not None and size.expression.isidentifier()
    }


def _sizes_of(op: Op) -> Iterator[Size]:
    for meta in (*op.inputs, *op.outputs):
        yield from meta.shape


def _changed(recording: Recording, replace: Callable[[SymbolicSize], Size]) -> Recording:
    change = _Change(replace)
    return Recording(
        ops=[change.op(op) for op in recording.ops],
        origins={
            value: Origin(origin.kind, origin.name, origin.frames, change.meta(origin.meta))
            for value, origin in recording.origins.items()
        },
        declarations=recording.declarations,
        tf32=recording.tf32,
        on_host=recording.on_host,
        host_reads=(
            None
            if recording.host_reads is None
            else [replaced(read, meta=change.meta(read.meta)) for read in recording.host_reads]
        ),
        parts=recording.parts,
        borders=recording.borders,
    )


class _Change:
    """One substitution; equal sizes and tensors that ops share are changed once."""

    def __init__(self, replace: Callable[[SymbolicSize], Size]) -> None:
        self._replace = replace
        self._sizes: dict[SymbolicSize, Size] = {}
        self._metas: dict[int, tuple[TensorMeta, TensorMeta]] = {}

    def op(self, op: Op) -> Op:
        inputs, outputs = tuple(map(self.meta, op.inputs)), tuple(map(self.meta, op.outputs))
        arguments = {name: self._literal(value) for name, value in op.arguments.items()}
        return Op(
            op.index, op.overload, arguments, inputs, outputs, op.frames, op.module, op.region, op.mutates, op.is_view,
            op.seq_nr, op.autograd_node,
        )  # fmt: skip

    def meta(self, meta: TensorMeta) -> TensorMeta:
        known = self._metas.get(id(meta))
        if known is not None:
            return known[1]
        changed = TensorMeta(
            meta.value, meta.version, meta.storage, tuple(map(self._size, meta.shape)),
            tuple(map(self._size, meta.stride)), meta.dtype, meta.device, meta.element_bytes,
            self._size(meta.storage_bytes), meta.dense, meta.requires_grad,
        )  # fmt: skip
        # With the original, so that its id stays its own.
        self._metas[id(meta)] = meta, changed
        return changed

    def _literal(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._literal(item) for item in value]
        return self._size(value) if isinstance(value, SymbolicSize) else value

    def _size(self, size: Size) -> Size:
        if isinstance(size, int):
            return size
        known = self._sizes.get(size)
        if known is None:
            known = self._sizes[size] = self._replace(size)
        return known
