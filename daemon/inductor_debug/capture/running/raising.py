"""Where a run of a target ended in an exception of the user's code, and how often it had been there by then.

What stands behind such a place no run comes to. Dynamo may come to it: some of what raises it traces as if nothing had
happened. Needs no torch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any


@dataclass(frozen=True, slots=True)
class Raising:
    """The instruction that raised, in the innermost function of the project: its function, and the offset in it.

    A function is known by its file, name and first line: a file that is loaded anew makes another one of the same text.
    """

    path: str
    function: str
    first_line: int
    offset: int

    def is_in(self, code: CodeType) -> bool:
        """Whether it is an instruction of this function."""
        return (code.co_firstlineno, code.co_name, code.co_filename) == (self.first_line, self.function, self.path)


@dataclass(slots=True)
class Counted:
    """How often an instruction has run; `watched` says whether anybody could look."""

    times: int = 0
    watched: bool = False


def raising_of(traceback: TracebackType | None, in_project: Callable[[str], bool]) -> Raising | None:
    """The instruction of the project's that an exception came from, given its traceback."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if in_project(code.co_filename):
            found = Raising(code.co_filename, code.co_name, code.co_firstlineno, traceback.tb_lasti)
        traceback = traceback.tb_next
    return found


@contextmanager
def counting(raising: Raising) -> Iterator[Counted]:
    """Counts how often the instruction runs in this thread while it is entered, unless somebody traces already."""
    counted = Counted()
    if sys.gettrace() is not None:
        yield counted
        return

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        counted.times += event == "opcode" and frame.f_lasti == raising.offset
        return step

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        if not raising.is_in(frame.f_code):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return step

    counted.watched = True
    sys.settrace(entered)
    try:
        yield counted
    finally:
        sys.settrace(None)
