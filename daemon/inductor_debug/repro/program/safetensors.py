"""The safetensors format, as far as a reproducer's values need it: written here, read by the script itself.

The format (safetensors, "Format"): eight bytes, the little-endian length of the header; the header, a JSON object that
gives dtype, shape and data offsets of each tensor; then the row-major values.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
from collections.abc import Mapping

import torch

_DTYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


class UnsavableError(ValueError):
    """The format has no such dtype."""


def encode(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """The file's content.

    Raises:
        UnsavableError: a tensor has a dtype that the format does not know.
    """
    header: dict[str, object] = {}
    parts: list[bytes] = []
    offset = 0
    for name, tensor in tensors.items():
        if tensor.dtype not in _DTYPES:
            raise UnsavableError(f"values of dtype {tensor.dtype} cannot be saved beside the script")
        raw = _bytes(tensor)
        header[name] = {
            "dtype": _DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(raw)],
        }
        parts.append(raw)
        offset += len(raw)
    said = json.dumps(header, separators=(",", ":")).encode()
    said += b" " * (-len(said) % 8)
    return len(said).to_bytes(8, "little") + said + b"".join(parts)


def mark_of(content: bytes) -> str:
    """What the file's name has in it, so that the script finds the file wherever both are put."""
    return "values_" + hashlib.blake2b(content, digest_size=5).hexdigest()


def _bytes(tensor: torch.Tensor) -> bytes:
    """The values in row-major order, without NumPy, which the user may not have."""
    flat = tensor.detach().cpu().contiguous()
    return ctypes.string_at(flat.data_ptr(), flat.numel() * flat.itemsize) if flat.numel() else b""
