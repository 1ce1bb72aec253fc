"""Inductor's scheduler nodes as plain data: their texts, and what each reads, writes and comes from.

Nothing here keeps an object of Inductor's alive. Methods of `BaseSchedulerNode` and `IRNode`, read in torch 2.11 to
2.13; what one of them cannot tell is left empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_INNER_RANGES = ("reduction_ranges", "scan_ranges", "sort_ranges")
"""What `Reduction`, `Scan` and `Sort` call the loops beside those of their result."""


@dataclass(frozen=True, slots=True)
class IrBlock:
    """The text of one scheduler node, as Inductor prints it, and the names of the FX nodes that it comes from."""

    text: str
    origins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IrBuffer:
    """A buffer that a scheduler node writes; sizes are strings where they are symbolic, None where unknown.

    `bytes` are those of its elements.
    """

    name: str
    shape: list[int | str] | None
    dtype: str | None
    bytes: int | None


@dataclass(frozen=True, slots=True)
class IrPart:
    """One operation of a scheduler node. `kind` is what it is (`Reduction`, `extern_kernels.mm`).

    `value` is the FX node whose value it computes, "" where Inductor does not say. `ranges` are the loops of its
    result, strings where they are symbolic, None where a library's kernel has them; `reduced` are all other loops. Of a
    library's kernel `tensors` says what it reads and, last, what it makes ("" where that is not one tensor): dtype,
    shape and, unless it is contiguous, strides.
    """

    name: str
    kind: str
    value: str
    ranges: tuple[int | str, ...] | None = None
    reduced: tuple[int | str, ...] = ()
    tensors: tuple[str, ...] = ()

    @property
    def loops(self) -> str:
        """`[50, 65 reduced]`; "" where a library's kernel has them."""
        if self.ranges is None:
            return ""
        return f"[{', '.join([*map(str, self.ranges), *(f'{extent} reduced' for extent in self.reduced)])}]"


@dataclass(frozen=True, slots=True)
class IrStep:
    """One scheduler node after fusion, in the order in which code is generated.

    `kind` says what it does (`Pointwise + Reduction`, `extern_kernels.mm`); `parts` are the operations it was fused of.
    `bytes_read` and `bytes_written` are those that it moves to and from memory, None where Inductor does not say.
    """

    name: str
    kind: str
    parts: tuple[IrPart, ...]
    reads: tuple[str, ...]
    writes: tuple[IrBuffer, ...]
    origins: tuple[str, ...] = field(default=())
    bytes_read: int | None = None
    bytes_written: int | None = None


def block_of(node: Any) -> IrBlock:
    """The text of a scheduler node."""
    try:
        first, *others = str(node.debug_str()).split("\n")
        parts = [part for part in map(_part, node.get_nodes()) if part.ranges is not None]
        text = "\n".join([first, *(f"{part.name}.loops = {part.loops}" for part in parts), *others])
    except Exception as error:
        # A text for people is not worth the lowering.
        text = f"{node.get_name()}: {type(node).__name__} ({type(error).__name__} while it was printed)"
    return IrBlock(text, _origins(node))


def step_of(node: Any) -> IrStep:
    """What a scheduler node does."""
    parts = tuple(map(_part, node.get_nodes()))
    writes = [_buffer(output) for output in node.get_outputs()]
    own = {buffer.name for buffer in writes}
    reads = [dependency.name for dependency in node.read_writes.reads if dependency.name not in own]
    return IrStep(
        name=node.get_name(),
        kind=" + ".join(dict.fromkeys(part.kind for part in parts)),
        parts=parts,
        reads=tuple(dict.fromkeys(reads)),
        writes=tuple(writes),
        origins=_origins(node),
        bytes_read=_moved(node, include_reads=True, include_writes=False),
        bytes_written=_moved(node, include_reads=False, include_writes=True),
    )


def _moved(node: Any, **which: bool) -> int | None:
    """Inductor's own estimate: each buffer once, and no more of it than there are accesses (torch 2.11 to 2.13)."""
    try:
        return int(sum(node.get_read_write_buffer_accesses(**which).values()))
    except Exception:
        # A number for people is not worth the lowering, and each kind of node has its own way of not knowing.
        return None


def _origins(node: Any) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for part in node.get_nodes():
        names.update(dict.fromkeys(_names(getattr(part.node, "origins", ()))))
    return tuple(names)


def _names(origins: Iterable[Any]) -> list[str]:
    return [str(origin.name) for origin in origins]


def _kind(operation: Any) -> str:
    data = getattr(operation, "data", None)
    if data is not None:
        return type(data).__name__
    name = getattr(operation, "python_kernel_name", None)
    return str(name) if name else type(operation).__name__


def _part(node: Any) -> IrPart:
    """Its loops are those that were lowered, before the scheduler joins what walks along the same memory."""
    operation = node.node
    data = getattr(operation, "data", None)
    origin = getattr(operation, "get_origin_node", lambda: None)()
    name, kind, value = node.get_name(), _kind(operation), str(origin.name) if origin is not None else ""
    ranges = getattr(data, "ranges", None)
    if ranges is None:
        return IrPart(name, kind, value, tensors=_tensors(operation))
    inner = next((found for each in _INNER_RANGES if (found := getattr(data, each, None)) is not None), ())
    if hasattr(data, "reduction_ranges"):
        return IrPart(name, kind, value, tuple(map(_size, ranges)), tuple(map(_size, inner)))
    return IrPart(name, kind, value, tuple(map(_size, (*ranges, *inner))))


def nodes_of(node: Any) -> list[str]:
    """The FX nodes that one operation of a scheduler node computes, with those that were inlined into it."""
    return _names(getattr(node.node, "origins", ()))


def _tensors(operation: Any) -> tuple[str, ...]:
    """What a library's kernel reads, as far as that are tensors, and what it makes, "" where that is not one."""
    read = [text for one in getattr(operation, "inputs", ()) if (text := _tensor(one))]
    return (*read, _tensor(operation)) if read else ()


def _tensor(node: Any) -> str:
    try:
        sizes, strides = list(map(_size, node.get_size())), list(map(_size, node.get_stride()))
        text = f"{str(node.get_dtype()).removeprefix('torch.')}[{', '.join(map(str, sizes))}]"
    except (AttributeError, NotImplementedError, TypeError):
        return ""
    contiguous, expected = True, 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        contiguous = contiguous and (size == 1 or stride == expected)
        expected = expected * size if isinstance(size, int) and isinstance(expected, int) else -1
    return text if contiguous else f"{text} strided [{', '.join(map(str, strides))}]"


def _size(size: Any) -> int | str:
    return int(size) if getattr(size, "is_number", True) else str(size)


def _buffer(output: Any) -> IrBuffer:
    buffer = output.node
    try:
        sizes = list(map(_size, buffer.get_size()))
        dtype = buffer.get_dtype()
    except (AttributeError, NotImplementedError, TypeError):
        # Buffers that stand for several, or for an effect.
        return IrBuffer(output.get_name(), None, None, None)
    count = 1
    for size in sizes:
        count = count * size if isinstance(size, int) and count >= 0 else -1
    size_in_bytes = count * dtype.itemsize if count >= 0 else None
    return IrBuffer(output.get_name(), sizes, str(dtype).removeprefix("torch."), size_in_bytes)
