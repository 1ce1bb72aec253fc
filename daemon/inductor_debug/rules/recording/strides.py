"""Questions about strides: what kind of non-contiguous a tensor is.

Sizes and strides that are symbols are compared as they are written; what cannot be decided counts against the tensor
only where the recorder already said that it is not dense.
"""

from __future__ import annotations

from inductor_debug.accelerators.device_memory import innermost_dimension
from inductor_debug.rules.recording.ops import Size, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import at_least

_SMALL_BYTES = 64 << 10


def _moving(meta: TensorMeta) -> list[tuple[Size, Size]]:
    """(stride, size) of the dimensions along which there is more than one element."""
    return [(stride, size) for size, stride in zip(meta.shape, meta.stride, strict=True) if size != 1]


def is_trivial(meta: TensorMeta) -> bool:
    """Whether the tensor has at most one element along every dimension but one, or none at all: order means nothing."""
    return any(size == 0 for size in meta.shape) or not _moving(meta)


def covers_storage(meta: TensorMeta) -> bool:
    """Whether the tensor has an element for all of the memory that it lies in, none twice; False for unknown sizes."""
    elements = 1
    for size, stride in zip(meta.shape, meta.stride, strict=True):
        if not isinstance(size, int) or (stride == 0 and size > 1):
            return False
        elements *= size
    return elements * meta.element_bytes == meta.storage_bytes


def is_expanded(meta: TensorMeta) -> bool:
    """Whether some dimension repeats the same memory."""
    return any(stride == 0 for stride, _ in _moving(meta))


def repeats_dense(meta: TensorMeta) -> bool:
    """Whether the tensor is contiguous but for dimensions that repeat the same memory."""
    return _gapless([(stride, size) for stride, size in _moving(meta) if stride != 0], in_order=True)


def is_small(meta: TensorMeta) -> bool:
    """Whether the memory that the tensor covers, repeated parts counted once, is too small to matter."""
    elements = 1
    for stride, size in _moving(meta):
        if stride != 0:
            elements *= at_least(size)
    return elements * meta.element_bytes <= _SMALL_BYTES


def is_permuted(meta: TensorMeta) -> bool:
    """Whether the tensor is a contiguous one with its dimensions in another order."""
    return _gapless(_moving(meta), in_order=False)


def has_unit_rows_or_columns(meta: TensorMeta) -> bool:
    """Whether one of the two matrix dimensions is contiguous, as BLAS wants it, whatever the distance of the other."""
    if len(meta.shape) < 2:
        return all(stride == 1 for stride, _ in _moving(meta))
    matrix = list(zip(meta.shape[-2:], meta.stride[-2:], strict=True))
    return any(stride == 1 or size == 1 for size, stride in matrix)


def innermost(meta: TensorMeta) -> int | None:
    """The index of the dimension whose elements lie next to each other: the last one of stride 1; None for scalars."""
    return innermost_dimension(meta.shape, meta.stride)


def _gapless(dimensions: list[tuple[Size, Size]], *, in_order: bool) -> bool:
    if not in_order:
        dimensions = sorted(dimensions, key=lambda pair: -at_least(pair[0]))
    expected: Size = 1
    for stride, size in reversed(dimensions):
        if isinstance(expected, int) and isinstance(stride, int):
            if stride != expected:
                return False
            expected = stride * size if isinstance(size, int) else size
        else:
            # A symbol further in: strides can only be compared as far as they are numbers.
            expected = stride if not isinstance(stride, int) else expected
    return True
