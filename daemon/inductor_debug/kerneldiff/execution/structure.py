"""What a model takes and returns, taken apart into named leaves: `output["logits"][0]`, `output.hidden_states[3]`.

Dictionaries, lists, tuples, dataclasses and library outputs are looked into, and so are plain objects that say nothing
of how they compare (key-value caches). Everything else is a leaf; what hides others (iterators, nested tensors) is
opened by `settled`. Nothing here compares values.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import torch

from inductor_debug.capture.tensors.fake_mode import without_modes
from inductor_debug.capture.tensors.memory_spans import extent

_DEEPEST = 30
_FEW_BYTES, _FEW_TIMES = 1 << 20, 4
"""Memory that is larger than this, and than so many times what is used of it, is not copied whole."""
_ALIGNED = 64
"""Copies begin at multiples of as many bytes as torch's own memory does, so that kernels find the same alignment."""
_OPAQUE = (torch.nn.Module, torch.Generator, type)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that is looked into no further, and the expression that reaches it from the whole."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Pair:
    """What two sides have at the same place. `problem` says why they cannot be compared, "" where they can."""

    path: str
    reference: Any
    actual: Any
    problem: str = ""


def flatten(value: Any, name: str) -> list[Leaf]:
    """All leaves of `value`, in order; `name` is what the whole is called."""
    return list(_leaves(value, name, ()))


def pairs(reference: Any, actual: Any, name: str) -> list[Pair]:
    """The leaves of both sides, side by side. A list and a tuple of the same values are the same to us."""
    return list(_pairs(reference, actual, name, ()))


def tensors_of(value: Any) -> list[torch.Tensor]:
    """Every tensor in `value`, with repetitions."""
    return [leaf.value for leaf in flatten(value, "") if isinstance(leaf.value, torch.Tensor)]


def mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """A copy of `value` in which every tensor went through `change`; leaves that are no tensors are shared."""
    return replaced(value, lambda leaf: change(leaf) if isinstance(leaf, torch.Tensor) else leaf)


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of `value` in which every leaf went through `change`, whatever it is."""
    return _mapped(value, change, {})


def cloned(value: Any) -> Any:
    """A deep copy as far as tensors go: those that shared memory share it again, leaves of autograd stay leaves.

    Of memory of which they use little (a few rows of a large table) only that part is copied. Modes have no part in it:
    what one converts on the way lies in memory that is soon another's, and would be taken for that.
    """
    storages = _Storages(tensors_of(value))

    def clone(tensor: torch.Tensor) -> torch.Tensor:
        copied = storages.cloned(tensor.detach())
        return copied.requires_grad_(tensor.requires_grad) if tensor.requires_grad else copied

    with without_modes():
        return mapped(value, clone)


def shares_memory(value: Any) -> bool:
    """Whether two different tensors in `value` lie in the same storage."""
    tensors = {id(tensor): tensor for tensor in tensors_of(value)}.values()
    storages = [pointer for tensor in tensors if (pointer := memory_of(tensor)) is not None]
    return len(set(storages)) < len(storages)


def memory_of(tensor: torch.Tensor) -> tuple[torch.device, int] | None:
    """What identifies the memory of a plain strided tensor; None for others and for empty ones."""
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and not tensor.is_nested
    if not plain or tensor.layout is not torch.strided:
        return None
    try:
        pointer = tensor.untyped_storage().data_ptr()
        return (tensor.device, pointer) if pointer else None
    except (RuntimeError, NotImplementedError):
        return None


def kind_of(value: Any) -> str:
    """What a message calls a value."""
    if isinstance(value, torch.Tensor):
        return "a tensor"
    return "None" if value is None else f"a {type(value).__name__}"


def _children(value: Any) -> list[tuple[str, Any]] | None:
    """The parts of a container with the suffix that reaches each; None for a leaf."""
    if isinstance(value, torch.Tensor | str | bytes):
        return None
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", getattr(value, name)) for name in value._fields]
    if isinstance(value, list | tuple | deque):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        dotted = dataclasses.is_dataclass(value)
        return [(f".{key}" if dotted else f"[{key!r}]", item) for key, item in value.items()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]
        return [(f".{name}", getattr(value, name)) for name in names]
    attributes = _attributes(value)
    return None if attributes is None else [(f".{name}", item) for name, item in attributes.items()]


def _attributes(value: Any) -> dict[str, Any] | None:
    """The attributes of an object that compares by identity only and is no part of a program."""
    if (
        isinstance(value, _OPAQUE)
        or callable(value)
        or any("__eq__" in vars(kind) for kind in type(value).__mro__[:-1])
    ):
        return None
    if type(value).__module__ == "builtins":
        return None
    names = [name for kind in type(value).__mro__ for name in _slots(kind) if hasattr(value, name)]
    found = getattr(value, "__dict__", None)
    if not isinstance(found, dict):
        return {name: getattr(value, name) for name in names} or None
    return {name: getattr(value, name) for name in names} | found


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if not name.startswith("__"))


def _leaves(value: Any, path: str, above: tuple[int, ...]) -> Iterator[Leaf]:
    children = _children(value)
    if children is None or id(value) in above or len(above) > _DEEPEST:
        yield Leaf(path, value)
        return
    for suffix, item in children:
        yield from _leaves(item, path + suffix, (*above, id(value)))


def _pairs(reference: Any, actual: Any, path: str, above: tuple[int, ...]) -> Iterator[Pair]:
    left, right = _children(reference), _children(actual)
    if left is None and right is None:
        yield Pair(path, reference, actual)
        return
    if left is None or right is None:
        words = f"it is {kind_of(reference)} in the reference and {kind_of(actual)} in the backend's result"
        yield Pair(path, reference, actual, words)
        return
    if id(reference) in above or len(above) > _DEEPEST:
        return
    above = (*above, id(reference))
    others = dict(right)
    for suffix, item in left:
        if suffix in others:
            yield from _pairs(item, others.pop(suffix), path + suffix, above)
        else:
            yield Pair(path + suffix, item, None, "the backend's result does not have it")
    for suffix, item in others.items():
        yield Pair(path + suffix, None, item, "only the backend's result has it")


def _mapped(value: Any, change: Callable[[Any], Any], done: dict[int, Any]) -> Any:
    if id(value) in done:
        return done[id(value)]
    result = _mapped_anew(value, change, done)
    done[id(value)] = result
    return result


def _mapped_anew(value: Any, change: Callable[[Any], Any], done: dict[int, Any]) -> Any:
    if _children(value) is None:
        return change(value)
    if isinstance(value, tuple):
        items = [_mapped(item, change, done) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list | deque):
        result = done[id(value)] = copy.copy(value)
        result.clear()
        result.extend(_mapped(item, change, done) for item in value)
        return result
    if isinstance(value, Mapping) and not isinstance(value, MutableMapping):
        return {key: _mapped(item, change, done) for key, item in value.items()}
    result = done[id(value)] = copy.copy(value)
    if isinstance(value, Mapping):
        for key, item in list(value.items()):
            result[key] = _mapped(item, change, done)
        return result
    for suffix, item in _children(value) or ():
        object.__setattr__(result, suffix[1:], _mapped(item, change, done))
    return result


class _Storages:
    """Copies of the memory that tensors share, each made once."""

    def __init__(self, tensors: list[torch.Tensor]) -> None:
        self._used: dict[tuple[torch.device, int], tuple[int, int]] = {}
        self._copies: dict[tuple[torch.device, int], tuple[int, torch.Tensor]] = {}
        for tensor in tensors:
            pointer = memory_of(tensor)
            if pointer is not None:
                first, end = extent(tensor)
                known = self._used.get(pointer, (first, end))
                self._used[pointer] = (min(first, known[0]), max(end, known[1]))

    def cloned(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a tensor without gradient, in the copy of its memory."""
        pointer = memory_of(tensor)
        if pointer is None or tensor.is_quantized:
            return tensor.clone()
        if pointer not in self._copies:
            self._copies[pointer] = self._copied(pointer, tensor)
        first, copied = self._copies[pointer]
        fresh = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        offset = tensor.storage_offset() - first // tensor.element_size()
        return fresh.set_(copied.untyped_storage(), offset, tensor.shape, tensor.stride())

    def _copied(self, pointer: tuple[torch.device, int], tensor: torch.Tensor) -> tuple[int, torch.Tensor]:
        """Where the copy begins in the memory, in bytes, and the copy: of all of it, unless it is far too large."""
        memory = tensor.untyped_storage()
        everything = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(memory)
        first, end = self._used.get(pointer, (0, memory.nbytes()))
        first -= first % _ALIGNED
        if memory.nbytes() <= _FEW_BYTES + _FEW_TIMES * (end - first):
            return 0, everything.clone()
        return first, everything[first:end].clone()
