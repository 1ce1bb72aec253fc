"""Weights rounded to an accelerator's numbers once for a comparison, not once for every run of every operation.

A comparison runs each graph many times on the same parameters, and rounding them costs more than most operations do.
What is kept is bounded, and is given up with the comparison. Nothing here rounds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor

_MOST_BYTES = 1 << 29
_SMALLEST = 1 << 12
"""Elements; smaller tensors are rounded faster than they are found."""


class Constants:
    """Results of a function of tensors, kept for tensors that lie in the memory of known ones."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._sources: dict[int, tuple[Tensor, int]] = {}
        self._results: dict[tuple[object, ...], Tensor] = {}
        self._bytes = 0

    @contextlib.contextmanager
    def of(self, tensors: Iterable[Tensor]) -> Iterator[None]:
        """Keeps results for `tensors` and views of them until it is left. They are kept alive as long."""
        large = [tensor for tensor in tensors if tensor.layout is torch.strided and tensor.numel() >= _SMALLEST]
        self._sources = {tensor.untyped_storage().data_ptr(): (tensor, tensor._version) for tensor in large}
        try:
            yield
        finally:
            self._sources, self._results, self._bytes = {}, {}, 0

    def get(self, tensor: Tensor, compute: Callable[[Tensor], Tensor]) -> Tensor:
        """`compute(tensor)`, perhaps as it was computed before: nobody may write to it."""
        if tensor.numel() < _SMALLEST or not self._sources or type(tensor) not in (Tensor, torch.nn.Parameter):
            return compute(tensor)
        pointer = tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else 0
        source = self._sources.get(pointer)
        if source is None or source[0]._version != source[1]:
            return compute(tensor)
        key = (pointer, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)
        known = self._results.get(key)
        if known is None:
            known = compute(tensor)
            size = known.numel() * known.element_size()
            if self._bytes + size <= self._most_bytes:
                self._results[key] = known
                self._bytes += size
        return known
