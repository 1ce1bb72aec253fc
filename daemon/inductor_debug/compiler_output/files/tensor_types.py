"""Tensors as the compiler's texts write them: `f32[8, 128][128, 1]cpu`, `FixedLayout('cpu', torch.float32, …)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

_SHORT = {
    "f64": ("float64", 8),
    "f32": ("float32", 4),
    "f16": ("float16", 2),
    "bf16": ("bfloat16", 2),
    "f8e4m3fn": ("float8_e4m3fn", 1),
    "f8e5m2": ("float8_e5m2", 1),
    "f8e4m3fnuz": ("float8_e4m3fnuz", 1),
    "f8e5m2fnuz": ("float8_e5m2fnuz", 1),
    "f8e8m0fnu": ("float8_e8m0fnu", 1),
    "c32": ("complex32", 4),
    "c64": ("complex64", 8),
    "c128": ("complex128", 16),
    "i64": ("int64", 8),
    "i32": ("int32", 4),
    "i16": ("int16", 2),
    "i8": ("int8", 1),
    "u64": ("uint64", 8),
    "u32": ("uint32", 4),
    "u16": ("uint16", 2),
    "u8": ("uint8", 1),
    "b8": ("bool", 1),
}
"""torch's short names of dtypes: the names, and bytes of an element."""
_BYTES = dict(_SHORT.values())
_ANNOTATION = re.compile(r"^(?P<dtype>[a-z]+\d\w*)\[(?P<shape>[^\[\]]*)\]")
_LAYOUT = re.compile(r"torch\.(?P<dtype>\w+), size=\[(?P<shape>[^\[\]]*)\]")
_WHOLE = re.compile(r"^\d{1,18}$")


@dataclass(frozen=True, slots=True)
class TensorType:
    """The dtype and sizes of a tensor; sizes are strings where they are symbolic. `bytes` are of all elements."""

    dtype: str
    shape: list[int | str]
    bytes: int | None


def tensor_type(annotation: str) -> TensorType | None:
    """What an annotation of a node says; None where it is about no tensor."""
    match = _ANNOTATION.match(annotation)
    short = _SHORT.get(match["dtype"]) if match is not None else None
    return _made(short[0], match["shape"]) if match is not None and short is not None else None


def layout_type(layout: str) -> TensorType | None:
    """What a layout of Inductor's says; None where it is of no tensor."""
    match = _LAYOUT.search(layout)
    return _made(match["dtype"], match["shape"]) if match is not None else None


def _made(dtype: str, shape: str) -> TensorType:
    sizes: list[int | str] = [
        int(size) if _WHOLE.match(size) else size for each in shape.split(",") if (size := each.strip())
    ]
    numbers = [size for size in sizes if isinstance(size, int)]
    known = dtype in _BYTES and len(numbers) == len(sizes)
    return TensorType(dtype, sizes, prod(numbers) * _BYTES[dtype] if known else None)
