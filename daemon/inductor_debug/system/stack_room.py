"""Room for a deep stack, had at once: where calls go up and down across the end of a block, Python maps and unmaps it.

Python keeps the frames of calls in blocks of 16 KiB. Code that calls and returns at the end of one has the next block
mapped, touched and unmapped each time, and code that is as deep as a compiler's stays near such an end for long: in an
analysis this is tens of thousands of page faults. A block is as large as the frame needs that it is made for, with as
much again. So a frame that asks for a large one makes room for all that it calls; what is not used takes no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Given = TypeVar("Given")

_SLOTS = 1 << 18
"""How many values the frame says it may have to keep: 2 MiB, so that it gets a block of four."""


def with_room(function: Callable[[], Given]) -> Given:
    """Calls a function with room for some thousand frames above it."""

    def call() -> Given:
        return function()

    call.__code__ = call.__code__.replace(co_stacksize=_SLOTS)
    return call()
