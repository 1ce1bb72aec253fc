"""Recordings as bytes and back, for whoever judges one in another process than the one that made it.

Frames, tensors and strings that many ops share are written once. The format is that of one version of the daemon and
its workers: it is never kept. Nothing is judged here, and nothing but plain values is ever rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import msgpack
from inductor_debug_schema import Location, Position, Range

from inductor_debug.rules.recording.ops import (
    Frame,
    HostRead,
    Op,
    Origin,
    PartBorder,
    Product,
    Recording,
    SymbolicSize,
    TensorArgument,
    TensorMeta,
)

T = TypeVar("T", bound=Hashable)

_ARGUMENT, _SYMBOLIC, _COMPLEX = 1, 2, 3
_LARGEST = 1 << 63


class CaptureError(Exception):
    """The bytes are no recording."""


class _Table:
    """Values that are written once, by the number they are referred to with."""

    def __init__(self, row: Callable[[Any], Any]) -> None:
        self._row = row
        self._numbers: dict[Any, int] = {}
        self.rows: list[Any] = []

    def number(self, value: Hashable) -> int:
        known = self._numbers.get(value)
        if known is None:
            row = self._row(value)
            known = self._numbers[value] = len(self.rows)
            self.rows.append(row)
        return known


def packed(recording: Recording) -> bytes:
    """The recording as bytes."""
    frames = _Table(_frame_row)
    stacks = _Table(lambda stack: [frames.number(frame) for frame in stack])
    metas = _Table(_meta_row)
    ops = [
        (
            op.overload,
            {name: _bounded(value) for name, value in op.arguments.items()},
            [metas.number(meta) for meta in op.inputs],
            [metas.number(meta) for meta in op.outputs],
            stacks.number(op.frames),
            op.module,
            op.region,
            op.mutates,
            op.is_view,
            op.seq_nr,
            op.autograd_node,
        )
        for op in recording.ops
    ]
    origins = [
        (value, origin.kind, origin.name, stacks.number(origin.frames), metas.number(origin.meta))
        for value, origin in recording.origins.items()
    ]
    declarations = {name: stacks.number(stack) for name, stack in recording.declarations.items()}
    settings = sorted(recording.tf32), sorted(recording.on_host)
    reads = (
        None
        if recording.host_reads is None
        else [
            (one.after, metas.number(one.meta), stacks.number(one.frames), one.module) for one in recording.host_reads
        ]
    )
    borders = [(one.first, one.second, [_location_row(place) for place in one.causes]) for one in recording.borders]
    content = (
        frames.rows, stacks.rows, metas.rows, ops, origins, declarations, *settings, reads, recording.parts, borders,
    )  # fmt: skip
    data: bytes = msgpack.packb(content, default=_extended, use_bin_type=True, unicode_errors="surrogatepass")
    return data


def unpacked(data: bytes) -> Recording:
    """The recording that `packed` was given.

    Raises:
        CaptureError: it was given none.
    """
    try:
        content = msgpack.unpackb(
            data, ext_hook=_restored, raw=False, strict_map_key=False, unicode_errors="surrogatepass"
        )
        return _read(*content)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, msgpack.UnpackException) as error:
        raise CaptureError(f"no recording: {error}") from error


def _read(
    frame_rows: list[Any], stack_rows: list[Any], meta_rows: list[Any], ops: list[Any], origins: list[Any],
    named: dict[str, int], tf32: list[str], on_host: list[int], reads: list[Any] | None,
    parts: list[int], borders: list[Any],
) -> Recording:  # fmt: skip
    frames = [_frame(*row) for row in frame_rows]
    stacks = [tuple(frames[number] for number in row) for row in stack_rows]
    metas = [_meta(*row) for row in meta_rows]
    return Recording(
        ops=[_op(index, row, metas, stacks) for index, row in enumerate(ops)],
        origins={value: Origin(kind, name, stacks[stack], metas[meta]) for value, kind, name, stack, meta in origins},
        declarations={name: stacks[stack] for name, stack in named.items()},
        tf32=frozenset(map(Product, tf32)),
        on_host=frozenset(on_host),
        host_reads=reads
        and [HostRead(after, metas[meta], stacks[stack], module) for after, meta, stack, module in reads],
        parts=tuple(parts),
        borders=tuple(
            PartBorder(first, second, frozenset(_location(*place) for place in causes))
            for first, second, causes in borders
        ),
    )


def _op(index: int, row: list[Any], metas: list[TensorMeta], stacks: list[tuple[Frame, ...]]) -> Op:
    overload, arguments, inputs, outputs, stack, module, region, mutates, is_view, seq_nr, node = row
    given, made = tuple(metas[number] for number in inputs), tuple(metas[number] for number in outputs)
    frames, around, written = stacks[stack], tuple(region), tuple(mutates)
    return Op(index, overload, arguments, given, made, frames, module, around, written, is_view, seq_nr, node)


def _frame_row(frame: Frame) -> tuple[Any, ...]:
    return (*_location_row(frame.location), frame.function, frame.in_project)


def _frame(path: str, line: int, start: int, last: int, end: int, function: str, in_project: bool) -> Frame:
    return Frame(_location(path, line, start, last, end), function, in_project)


def _location_row(location: Location) -> tuple[Any, ...]:
    place = location.range
    return location.path, place.start.line, place.start.character, place.end.line, place.end.character


def _location(path: str, line: int, start: int, last: int, end: int) -> Location:
    return Location(path, Range(Position(line, start), Position(last, end)))


def _meta_row(meta: TensorMeta) -> tuple[Any, ...]:
    return (
        meta.value, meta.version, meta.storage, meta.shape, meta.stride, meta.dtype, meta.device, meta.element_bytes,
        meta.storage_bytes, meta.dense, meta.requires_grad,
    )  # fmt: skip


def _meta(
    value: int, version: int, storage: int, shape: list[Any], stride: list[Any], dtype: str, device: str,
    element_bytes: int, storage_bytes: Any, dense: bool, requires_grad: bool,
) -> TensorMeta:  # fmt: skip
    return TensorMeta(
        value, version, storage, tuple(shape), tuple(stride), dtype, device, element_bytes, storage_bytes, dense,
        requires_grad,
    )  # fmt: skip


def _bounded(value: Any) -> Any:
    """A literal, whole numbers that msgpack has no room for as floats, which is what they are to any rule."""
    if type(value) is int and not -_LARGEST <= value < _LARGEST:
        return float(value)
    return [_bounded(item) for item in value] if isinstance(value, list) else value


def _extended(value: Any) -> Any:
    if isinstance(value, TensorArgument):
        return msgpack.ExtType(_ARGUMENT, msgpack.packb(value.index))
    if isinstance(value, SymbolicSize):
        fields = (value.expression, value.divisor, value.minimum, value.maximum)
        return msgpack.ExtType(_SYMBOLIC, msgpack.packb(fields))
    if isinstance(value, complex):
        return msgpack.ExtType(_COMPLEX, msgpack.packb((value.real, value.imag)))
    raise TypeError(f"{type(value).__name__} is no part of a recording")


def _restored(code: int, data: bytes) -> Any:
    content = msgpack.unpackb(data)
    if code == _ARGUMENT:
        return TensorArgument(content)
    return SymbolicSize(*content) if code == _SYMBOLIC else complex(*content)
