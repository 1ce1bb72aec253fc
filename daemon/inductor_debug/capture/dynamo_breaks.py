"""Listens to Dynamo's graph breaks where they happen, with the exact expressions that caused them.

Torch tells of a break in three places that disagree (its counters, `graph_break_reasons`, a log artifact), none with a
column before 2.13. This wraps `InstructionTranslatorBase.log_graph_break`, through which every break passes once, and
`exc.Unsupported.__init__`, where the inlined frames are still known. Private names, read against torch 2.11 to 2.13;
where they are gone, `graph_break_reasons` is read afterwards, which has lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

from inductor_debug.capture.dynamo_positions import TracedFrame, TracedStack, current_stack, stack_of_translator
from inductor_debug.capture.expressions import SourcePositions
from inductor_debug.capture.spans import name_of

_STACK = "_inductor_debug_stack"
_RECOMPILE_LIMIT = "recompile limit"


@dataclass(frozen=True, slots=True)
class RawBreak:
    """One graph break as Dynamo reports it: its kind, its whole message and the traced stack that led to it.

    `caller` is the Python frame that tells, below which the code stands that called the traced function.
    """

    kind: str
    message: str
    stack: TracedStack
    caller: FrameType | None = None


@dataclass(frozen=True, slots=True)
class RawLimit:
    """Dynamo gave up on a function that it compiled too often; `caller` is the Python frame that entered it again."""

    message: str
    function: str
    caller: FrameType | None


@contextmanager
def listen(on_break: Callable[[RawBreak], None], on_limit: Callable[[RawLimit], None]) -> Iterator[None]:
    """Calls `on_break` for every graph break and `on_limit` for every function given up, until it is left."""
    from torch._dynamo import exc, symbolic_convert, utils

    translator = symbolic_convert.InstructionTranslatorBase
    original_log = getattr(translator, "log_graph_break", None)
    original_init = exc.Unsupported.__init__
    known = len(utils.graph_break_reasons)
    stacks: dict[int, tuple[Any, TracedStack]] = {}

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original_init(self, *args, **kwargs)
        real_stack = self.real_stack
        if id(real_stack) not in stacks:
            # A break that is raised again for its caller keeps the stack of the first.
            stacks[id(real_stack)] = (real_stack, current_stack())
        setattr(self, _STACK, stacks[id(real_stack)][1])
        if _RECOMPILE_LIMIT in (getattr(self, "gb_type", None) or ""):
            on_limit(_limit(str(getattr(self, "msg", self)), sys._getframe(1)))

    def log(self: Any, *args: Any, **kwargs: Any) -> Any:
        error = kwargs.get("exc") or (args[-1] if args else None)
        if error is None or not getattr(error, "logged", False):
            on_break(_raw(self, error, str(kwargs.get("reason") or ""), sys._getframe(1)))
        return original_log(self, *args, **kwargs)  # type: ignore[misc]

    exc.Unsupported.__init__ = init  # type: ignore[method-assign]
    if original_log is not None:
        translator.log_graph_break = log  # type: ignore[method-assign]
    try:
        yield
    finally:
        exc.Unsupported.__init__ = original_init  # type: ignore[method-assign]
        if original_log is not None:
            translator.log_graph_break = original_log  # type: ignore[method-assign]
        else:
            for reason in utils.graph_break_reasons[known:]:
                on_break(RawBreak("", reason.reason, stack_of_summaries(reason.user_stack)))


class Suspendable(Protocol):
    """Something that must not watch Dynamo at work."""

    def suspend(self) -> None:
        """Called before Dynamo compiles a function."""

    def resume(self) -> None:
        """Called when it is done."""


@dataclass(slots=True)
class Compilations:
    """How many functions Dynamo has begun to compile."""

    count: int = 0


@contextmanager
def suspended_while_compiling(observer: Suspendable) -> Iterator[Compilations]:
    """Suspends `observer` whenever Dynamo compiles, until it is left; counts how often that was."""
    from torch._dynamo import callback

    compilations = Compilations()

    def start(_: Any) -> None:
        compilations.count += 1
        observer.suspend()

    def end(_: Any) -> None:
        observer.resume()

    callback.on_compile_start(start)
    callback.on_compile_end(end)
    try:
        yield compilations
    finally:
        callback.callback_handler.remove_start_callback(start)
        callback.callback_handler.remove_end_callback(end)


def stack_of_summaries(summaries: Any) -> TracedStack:
    """A traced stack from `traceback.FrameSummary` objects (outermost first), which may know columns."""
    frames = []
    for summary in summaries or ():
        place = [getattr(summary, name, None) for name in ("end_lineno", "colno", "end_colno")]
        # Half a place is none: torch 2.13 leaves out the last line, for which Python 3.13 then gives the first.
        positions = SourcePositions(summary.lineno, *([None] * 3 if None in place else place))
        frames.append(TracedFrame(summary.filename, summary.name, positions))
    frames.reverse()
    return tuple(frames)


def _raw(translator: Any, error: Any, reason: str, caller: FrameType) -> RawBreak:
    stack = getattr(error, _STACK, None) or stack_of_translator(translator)
    kind = getattr(error, "gb_type", None) or type(error).__name__
    # The reason starts with how Dynamo goes on, and ends with the message of the error itself.
    message = str(getattr(error, "msg", error))
    prefix = reason.split("\n", 1)[0]
    text = f"{prefix}\n\n{message}" if prefix and prefix not in message else message
    return RawBreak(str(kind), text, stack, caller)


def _limit(message: str, frame: FrameType | None) -> RawLimit:
    while frame is not None:
        code = frame.f_locals.get("code") if frame.f_code.co_name == "_compile" else None
        if code is not None:
            return RawLimit(message, name_of(code), frame)
        frame = frame.f_back
    return RawLimit(message, "", None)
