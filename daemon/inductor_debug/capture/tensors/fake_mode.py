"""The rungs of model building: what tensors are made of while user code runs, and what fake ones cannot do.

Private names read in torch 2.11 to 2.13: `torch._subclasses.fake_tensor` (`FakeTensorMode` and its exceptions) and
`_disable_current_modes`. What fake tensors are given beyond torch's own is in `capture.weightless`.
"""

from __future__ import annotations

import contextlib
import dis
import math
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any

import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from inductor_debug.capture.running.target import BuildMode
from inductor_debug.capture.runtime.scripted_errors import said_by
from inductor_debug.capture.weightless.false_refusals import RefusedWithoutValuesError
from inductor_debug.capture.weightless.invented_values import Inventor
from inductor_debug.capture.weightless.mode import WeightlessMode

SMALL_CONSTANT = 16384
"""Elements up to which `FAKE_WITH_REAL_CONSTANTS` keeps a constant's values."""


_MOST_KEPT = 4096
"""Real tensors that are counted until those which are gone are looked for."""


class SlowWithoutValuesError(RuntimeError):
    """Code took too long on tensors without values: single elements that are set cost far less on real ones."""


_LIMITATIONS = (
    RefusedWithoutValuesError,
    SlowWithoutValuesError,
    *(
        kind
        for name in (
            "DataDependentOutputException",
            "DynamicOutputShapeException",
            "UnsupportedFakeTensorException",
            "UnsupportedOperatorException",
            "UnsupportedMutationAliasingException",
            "MetadataMismatchError",
        )
        if isinstance(kind := getattr(fake_tensor, name, None), type)
    ),
)
_LIMITATION_WORDS = re.compile(
    r"but its data is not allocated yet|failed in the TorchScript interpreter(?s:.*)RuntimeError: \s*$|"
    r"tensor subclass|UntypedStorage|set the storage of a tensor on device|"
    r"FakeTensor(?!' (?:and|object has no attribute))(?<!and 'FakeTensor)|fake tensor|meta tensor|"
    r"data pointer|invalid python storage|"
    r"Could not run '[^']+' with arguments from the 'Meta' backend|access data_ptr",
)
"""What only tensors without values make torch say; where a class is named as Python does, any tensor would fail."""


class MemoryBoundError(MemoryError):
    """Real tensors were about to take more memory than was allowed."""


def new_fake_mode(mode: BuildMode, seed: int) -> WeightlessMode | None:
    """The mode of a rung, under which tensors have no storage; None where they are real.

    Args:
        mode: the rung.
        seed: where values are invented, they follow from it.
    """
    if mode is BuildMode.REAL:
        return None
    return WeightlessMode(Inventor(seed) if mode is BuildMode.INVENTED_VALUES else None)


@contextlib.contextmanager
def building(mode: BuildMode, fake_mode: WeightlessMode | None, memory_bound: int) -> Iterator[None]:
    """Runs user code with the tensors of `mode`; at most `memory_bound` bytes are made where they are real."""
    with contextlib.ExitStack() as stack:
        if mode is BuildMode.REAL:
            stack.enter_context(_MemoryBound(memory_bound))
        elif fake_mode is not None:
            stack.enter_context(fake_mode)
            if mode is BuildMode.FAKE_WITH_REAL_CONSTANTS:
                stack.enter_context(fake_mode.keeping_constants(SMALL_CONSTANT))
        yield


def is_limitation(error: BaseException) -> bool:
    """Whether `error` may be due to tensors that have no values, so that more real ones are worth a try."""
    for found in _chain(error):
        if isinstance(found, _LIMITATIONS) or (
            isinstance(found, Exception) and _LIMITATION_WORDS.search(said_by(found)) is not None
        ):
            return True
    return isinstance(error, NotImplementedError) and _raised_in_torch(error) and left_open(error) is None


def left_open(error: BaseException) -> str | None:
    """The method of torch's that did nothing but raise `NotImplementedError`, since subclasses are to have their own.

    No inputs and no other kind of tensor change anything about that. None where it is something else.
    """
    if not isinstance(error, NotImplementedError) or (code := _raising(error)) is None:
        return None
    plain = set(code.co_names) == {"NotImplementedError"} and not any(
        "JUMP" in item.opname for item in dis.get_instructions(code)
    )
    return code.co_name if plain and code.co_filename.startswith(torch.__path__[0]) else None


def is_too_large(error: BaseException) -> bool:
    """Whether `error` is due to real tensors that would take more memory than is allowed."""
    return any(isinstance(found, MemoryBoundError) for found in _chain(error))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and all that led to it."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        found = pending.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        pending += [found.__cause__, found.__context__]


def without_modes() -> contextlib.AbstractContextManager[Any]:
    """Ordinary tensors again, whatever mode is on: libraries that are imported must not come to hold fake ones."""
    return _disable_current_modes()


def for_symbols() -> contextlib.AbstractContextManager[Any]:
    """Has operators that C++ makes of others made in Python, as compilers do: some (`istft`) refuse symbolic sizes.

    Private: `torch._dispatch.python`, read in torch 2.11 to 2.13; without it they are made as ever.
    """
    try:
        from torch._dispatch.python import enable_python_dispatcher
    except ImportError:
        return contextlib.nullcontext()
    return enable_python_dispatcher()


def is_fake(value: Any) -> bool:
    """Whether `value` is a tensor without storage."""
    return isinstance(value, FakeTensor)


def to_fake(fake_mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    """The same tensor (or parameter) without storage."""
    return fake_mode.from_tensor(tensor)


def _raised_in_torch(error: BaseException) -> bool:
    code = _raising(error)
    return code is not None and code.co_filename.startswith(torch.__path__[0])


def _raising(error: BaseException) -> CodeType | None:
    """The code that raised an exception."""
    step, code = error.__traceback__, None
    while step is not None:
        code, step = step.tb_frame.f_code, step.tb_next
    return code


class _MemoryBound(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of what factories and copies made and is still there, before they make more."""

    supports_higher_order_operators = True

    def __init__(self, limit: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._limit = limit
        self._taken = 0
        self._made: list[tuple[StorageWeakRef, int]] = []
        self._most_kept = _MOST_KEPT

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        sizes = args[0] if args and isinstance(args[0], (list, tuple)) else None
        if not sizes or not all(isinstance(size, int) for size in sizes):
            return func(*args, **(kwargs or {}))
        count = math.prod(sizes) * ((kwargs or {}).get("dtype") or torch.get_default_dtype()).itemsize
        self._take(count)
        made = func(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor):
            self._made.append((StorageWeakRef(made.untyped_storage()), count))  # type: ignore[no-untyped-call]
        return made

    def _take(self, count: int) -> None:
        if self._taken + count > self._limit or len(self._made) > self._most_kept:
            self._made = [item for item in self._made if not item[0].expired()]  # type: ignore[no-untyped-call]
            self._taken = sum(taken for _, taken in self._made)
            self._most_kept = 2 * len(self._made) + _MOST_KEPT
        if self._taken + count > self._limit:
            raise MemoryBoundError(
                f"real tensors would take more than {self._limit >> 20} MiB, and fake ones do not suffice here"
            )
        self._taken += count
