"""Which expressions of a file run while a target does, at a cost that nobody notices.

From Python 3.12 on `sys.monitoring` tells of each instruction once and never again, and of every other file's functions
once. Before, `sys.settrace` calls us for every function that Python enters: `unwatched` leaves out what is below an
operation of torch's, which is most of them. A debugger or a coverage tool that watches the process already is not
disturbed: then nothing is known of what ran. Needs no torch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from inductor_debug.capture.expressions.instruction_expressions import SourcePositions

Ran = dict[CodeType, set[int]]
"""Byte offsets of the instructions that ran, by their code."""
_MONITORING: Any = getattr(sys, "monitoring", None)
_TOOL_IDS = (4, 3)
"""Numbers that `sys.monitoring` keeps for no kind of tool."""
_NAME = "inductor-debug"


@contextmanager
def instructions_of(path: str) -> Iterator[Ran | None]:
    """Watches the functions of one file, in this thread, while it is entered; None where somebody else watches."""
    if _MONITORING is not None:
        with _monitored(path) as ran:
            yield ran
    elif sys.gettrace() is not None:
        yield None
    else:
        traced: Ran = {}
        sys.settrace(_Tracer(path, traced))
        try:
            yield traced
        finally:
            sys.settrace(None)


@contextmanager
def unwatched() -> Iterator[None]:
    """Leaves out what runs in this thread while it is entered, which is no code of the file's."""
    tracer = sys.gettrace()
    if not isinstance(tracer, _Tracer):
        yield
        return
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def positions_of(ran: Ran) -> set[SourcePositions]:
    """Where the instructions stand in the source; lines alone before Python 3.11."""
    found = set()
    for code, offsets in ran.items():
        table = getattr(code, "co_positions", None)
        if table is not None:
            entries = [SourcePositions(*entry) for entry in table()]
            found |= {entries[offset // 2] for offset in offsets}
        else:
            found |= {
                SourcePositions(line, None, None, None)
                for start, end, line in code.co_lines()
                if any(start <= offset < end for offset in offsets)
            }
    return {positions for positions in found if positions.lineno is not None}


def functions_of(ran: Ran) -> set[tuple[str, int]]:
    """The functions that were entered, by name and first line (that of the first decorator)."""
    return {(code.co_name, code.co_firstlineno) for code, offsets in ran.items() if offsets}


class _Tracer:
    """Notes the instructions of one file's functions; of others it hears that they are called."""

    def __init__(self, path: str, ran: Ran) -> None:
        self._path = path
        self._ran = ran

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if code.co_filename != self._path:
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        note = self._ran.setdefault(code, set()).add

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            note(frame.f_lasti)
            return step

        return step


@contextmanager
def _monitored(path: str) -> Iterator[Ran | None]:
    tool = next((number for number in _TOOL_IDS if _MONITORING.get_tool(number) is None), None)
    if tool is None:
        yield None
        return
    ran: Ran = {}
    events = _MONITORING.events

    def entered(code: CodeType, offset: int) -> Any:
        if code.co_filename == path and code not in ran:
            ran[code] = set()
            _MONITORING.set_local_events(tool, code, events.INSTRUCTION)
        return _MONITORING.DISABLE

    def executed(code: CodeType, offset: int) -> Any:
        ran.setdefault(code, set()).add(offset)
        return _MONITORING.DISABLE

    _MONITORING.use_tool_id(tool, _NAME)
    try:
        _MONITORING.register_callback(tool, events.PY_START, entered)
        _MONITORING.register_callback(tool, events.INSTRUCTION, executed)
        # What was told of in an earlier run is to be told of again.
        _MONITORING.restart_events()
        _MONITORING.set_events(tool, events.PY_START)
        yield ran
    finally:
        _MONITORING.set_events(tool, 0)
        for code in ran:
            _MONITORING.set_local_events(tool, code, 0)
        _MONITORING.free_tool_id(tool)
