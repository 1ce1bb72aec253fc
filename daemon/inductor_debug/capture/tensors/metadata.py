"""Reads and numbers tensors: what `rules.recording.ops.TensorMeta` says of them, at the moment it is asked.

Tensors are told apart by identity and never kept alive; storages by address, which a weak reference keeps from being
used again. Tensors without a storage of their own (sparse, nested, quantised) are described as far as they let us.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from inductor_debug.capture.tensors.lifetimes import LifetimeWatch
from inductor_debug.capture.tensors.size_symbols import finite
from inductor_debug.capture.tensors.symbol_names import written
from inductor_debug.rules.recording.ops import Size, SymbolicSize, TensorMeta


class TensorTable:
    """Numbers for the tensors and storages of one recording, and how often each storage was written.

    Args:
        watch: told of every tensor and storage that gets a number; None where nobody asks when they go away.
    """

    def __init__(self, watch: LifetimeWatch | None = None) -> None:
        self._watch = watch
        self._values: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._storages: dict[int, tuple[StorageWeakRef, int]] = {}
        self._writes: dict[int, int] = {}
        self._metas: dict[int, tuple[weakref.ref[torch.Tensor], int, torch.Size, TensorMeta]] = {}
        self._next_value = 0
        self._next_storage = 0

    def value(self, tensor: torch.Tensor) -> int:
        """The number of `tensor`, given now if it has none."""
        known = self._values.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[1]
        number = self._next_value
        self._next_value += 1
        self._values[id(tensor)] = (weakref.ref(tensor), number)
        if self._watch is not None:
            self._watch.tensor(tensor, number)
        return number

    def same(self, alias: torch.Tensor, tensor: torch.Tensor) -> None:
        """Lets `alias` stand for `tensor`: another object for the same value and memory."""
        self._values[id(alias)] = (weakref.ref(alias), self.value(tensor))
        self._metas.pop(id(alias), None)
        try:
            storage, original = alias.untyped_storage(), tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):
            return
        self._storages[storage._cdata] = (_hold(storage), self._storage(original))

    def lives_in(self, tensor: torch.Tensor, storage: int) -> None:
        """Lets the memory of `tensor`, unless it was met before, be the storage of that number."""
        try:
            memory = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):
            return
        self._storages.setdefault(memory._cdata, (_hold(memory), storage))

    def made_again(self, tensor: torch.Tensor, storage: int | None = None) -> None:
        """Lets `tensor` be another value from now on, in memory of its own or in the storage of that number."""
        self._metas.pop(id(tensor), None)
        self._values.pop(id(tensor), None)
        try:
            memory = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):
            return
        self._storages.pop(memory._cdata, None)
        if storage is not None:
            self._storages[memory._cdata] = (_hold(memory), storage)

    def wrote(self, tensor: torch.Tensor) -> None:
        """Counts an in-place write to `tensor`, and so to everything that shares its memory."""
        number = self._storage_number(tensor)
        self._writes[number] = self._writes.get(number, 0) + 1

    def meta(self, tensor: torch.Tensor, requires_grad: bool | None = None) -> TensorMeta:
        """All that rules may know of `tensor` now. Never raises for exotic tensors.

        Args:
            tensor: what to describe.
            requires_grad: what to say of it in place of what it says itself: autograd marks an op's results only
                after the op was seen.
        """
        if requires_grad is None:
            requires_grad = tensor.requires_grad
        known = self._metas.get(id(tensor))
        if known is not None and known[0]() is tensor:
            meta = known[3]
            unwritten = self._writes.get(meta.storage, 0) == known[1]
            if unwritten and known[2] == tensor.shape and meta.requires_grad == requires_grad:
                return meta
        meta = self._read(tensor, requires_grad)
        self._metas[id(tensor)] = (weakref.ref(tensor), meta.version, tensor.shape, meta)
        return meta

    def _read(self, tensor: torch.Tensor, requires_grad: bool) -> TensorMeta:
        try:
            return self._read_strided(tensor, requires_grad)
        except (RuntimeError, NotImplementedError, AttributeError, TypeError):
            return self._read_exotic(tensor, requires_grad)

    def _read_strided(self, tensor: torch.Tensor, requires_grad: bool) -> TensorMeta:
        storage = tensor.untyped_storage()
        number = self._storage(storage)
        shape = tensor.shape
        return TensorMeta(
            value=self.value(tensor),
            version=self._writes.get(number, 0),
            storage=number,
            shape=sizes(shape),
            stride=sizes(tensor.stride()),
            dtype=dtype_name(tensor.dtype),
            device=str(tensor.device),
            element_bytes=tensor.dtype.itemsize,
            storage_bytes=size(storage.nbytes()),
            dense=_is_dense(tensor, len(shape)),
            requires_grad=requires_grad,
        )

    def _read_exotic(self, tensor: torch.Tensor, requires_grad: bool) -> TensorMeta:
        try:
            shape = sizes(tensor.shape)
        except (RuntimeError, NotImplementedError, TypeError):
            shape = ()
        elements = [item for item in shape if isinstance(item, int)]
        return TensorMeta(
            value=self.value(tensor),
            version=0,
            storage=self._storage_number(tensor),
            shape=shape,
            stride=_row_major(shape),
            dtype=dtype_name(tensor.dtype),
            device=str(tensor.device),
            element_bytes=tensor.dtype.itemsize,
            storage_bytes=math.prod(elements) * tensor.dtype.itemsize if tensor.layout is torch.strided else 0,
            dense=True,
            requires_grad=requires_grad,
        )

    def _storage_number(self, tensor: torch.Tensor) -> int:
        try:
            return self._storage(tensor.untyped_storage())
        except (RuntimeError, NotImplementedError):
            # A storage of its own, numbered apart from the real ones so that the two never meet.
            return -1 - self.value(tensor)

    def _storage(self, storage: torch.UntypedStorage) -> int:
        address = storage._cdata
        known = self._storages.get(address)
        if known is not None:
            return known[1]
        number = self._next_storage
        self._next_storage += 1
        self._storages[address] = (_hold(storage), number)
        if self._watch is not None:
            self._watch.storage(storage, number)
        return number


def _hold(storage: torch.UntypedStorage) -> StorageWeakRef:
    return StorageWeakRef(storage)  # type: ignore[no-untyped-call]


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for `torch.float32`."""
    return _DTYPE_NAMES.get(dtype) or str(dtype).removeprefix("torch.")


_DTYPE_NAMES = {
    value: str(value).removeprefix("torch.") for value in vars(torch).values() if isinstance(value, torch.dtype)
}


def sizes(values: Any) -> tuple[Size, ...]:
    """Sizes or strides as plain numbers, symbols where they are not known."""
    for value in values:
        if type(value) is not int:
            return tuple(size(item) for item in values)
    return tuple(values)


def size(value: Any) -> Size:
    """One size: an int, or what is known of a `torch.SymInt`."""
    if isinstance(value, int):
        return value
    node = getattr(value, "node", None)
    expression = getattr(node, "expr", None)
    if expression is None:
        return SymbolicSize(str(value))
    known = _SYMBOLS.get(expression)
    if known is None:
        known = _SYMBOLS[expression] = _Expression(_divisor(expression), tuple(expression.free_symbols))
    minimum, maximum = known.bounds(getattr(node, "shape_env", None), expression)
    if getattr(expression, "is_number", False) or (maximum is not None and minimum == maximum):
        return int(expression) if getattr(expression, "is_number", False) else minimum
    name, example = written(expression, getattr(node, "shape_env", None))
    return SymbolicSize(name, divisor=known.divisor, minimum=minimum, maximum=maximum, example=example)


def example_of(value: Any) -> int | None:
    """What a size is in the call that runs; None of a symbol of which nobody knows."""
    known = size(value)
    return known if isinstance(known, int) else known.example


@dataclass
class _Expression:
    """What is known of a symbolic size.

    Its bounds are dear, and may tighten while a graph is traced: they are kept by the ranges of its symbols.
    `ShapeEnv.var_to_range` is private (torch 2.11 to 2.14); without it bounds are read anew each time.
    """

    divisor: int
    symbols: tuple[Any, ...]
    known: dict[tuple[Any, ...], tuple[int, int | None]] = field(default_factory=dict)

    def bounds(self, environment: Any, expression: Any) -> tuple[int, int | None]:
        """The least and the largest value; None where there is no largest."""
        ranges = getattr(environment, "var_to_range", None)
        if ranges is None:
            return _bounds(environment, expression)
        key = tuple(ranges.get(symbol) for symbol in self.symbols)
        if key not in self.known:
            self.known[key] = _bounds(environment, expression)
        return self.known[key]


_SYMBOLS: dict[Any, _Expression] = {}


def _divisor(expression: Any) -> int:
    """The largest number known to divide `expression` for every value of its symbols."""
    try:
        content, _ = expression.expand().primitive()
        return max(int(content), 1)
    except (AttributeError, TypeError, ValueError):
        return 1


def _bounds(environment: Any, expression: Any) -> tuple[int, int | None]:
    try:
        found = environment.bound_sympy(expression)
    except (AttributeError, TypeError, ValueError, KeyError):
        return 0, None
    return max(finite(found.lower) or 0, 0), finite(found.upper)


def _is_dense(tensor: torch.Tensor, rank: int) -> bool:
    if tensor.is_contiguous():
        return True
    if rank == 4:
        return tensor.is_contiguous(memory_format=torch.channels_last)
    return rank == 5 and tensor.is_contiguous(memory_format=torch.channels_last_3d)


def _row_major(shape: tuple[Size, ...]) -> tuple[Size, ...]:
    stride: list[Size] = []
    step = 1
    for length in reversed(shape):
        stride.append(step)
        step *= max(length, 1) if isinstance(length, int) else 1
    return tuple(reversed(stride))
