"""The calls of torch that an exception went through, below the user's own expression, and what they were given.

Composite functions refuse their arguments before anything reaches the dispatcher, so that the recorder sees nothing of
them. `CallWatch` is entered for a second run of what failed, never for the first: while it is on the stack, code that
compiles itself (`flex_attention`, `torch.cond`) would see it. It changes no result; the calls are read off the frames
of the traceback afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from inductor_debug_schema import ConflictKind
from torch import nn
from torch.overrides import TorchFunctionMode

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.conflicts import conflict_of
from inductor_debug.capture.running.modules import called_in
from inductor_debug.rules.recording.ops import Frame


class MixedDtypesError(RuntimeError):
    """A call of tensors whose dtypes torch refuses to mix, which fake tensors let pass."""


class CallWatch(TorchFunctionMode):
    """Lets every call of a function of torch leave a frame of ours, which holds the arguments.

    Args:
        strict: refuse, as real tensors do, dtypes that may not be mixed.
    """

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__()
        self._strict = strict

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._strict:
            conflict = conflict_of(func, args, kwargs)
            if conflict is not None and conflict.kind is ConflictKind.DTYPE:
                raise MixedDtypesError
        return func(*args, **kwargs)


_WATCHED = CallWatch.__torch_function__.__code__


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call: of a function or method of torch, an operator's overload, or a module."""

    function: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def is_module(self) -> bool:
        """Whether a module was called."""
        return isinstance(self.function, nn.Module)


@dataclass(frozen=True, slots=True)
class FailedExpression:
    """The user's innermost expression that raised, and the calls that it made, from the outside in."""

    frame: Frame
    calls: tuple[FailedCall, ...]


def failed_expression(traceback: TracebackType | None, sources: SourceMap) -> FailedExpression | None:
    """Reads a traceback; None where no line of the project is in it."""
    found: FailedExpression | None = None
    calls: list[FailedCall] = []
    while traceback is not None:
        frame = traceback.tb_frame
        visible = sources.frame_at(frame.f_code, traceback.tb_lasti)
        call = _call_in(frame)
        if visible is not None and visible.in_project:
            calls = []
            found = FailedExpression(visible, ())
        elif call is not None:
            calls.append(call)
        traceback = traceback.tb_next
    return None if found is None else FailedExpression(found.frame, tuple(calls))


def _call_in(frame: Any) -> FailedCall | None:
    if frame.f_code is _WATCHED:
        values = frame.f_locals
        return FailedCall(values["func"], tuple(values["args"]), values["kwargs"] or {})
    module = called_in(frame)
    return None if module is None else FailedCall(*module)
