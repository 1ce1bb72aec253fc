"""A worker's code goes up and down a deep stack without that the kernel gives and takes memory each time."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable

import pytest
from inductor_debug.system.stack_room import with_room

CALLS = 200
"""From each depth. Depths are tried until well beyond the end of the first blocks of 16 KiB."""


def faults() -> int:
    """Pages that have become the process's own so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def leaf(*values: int) -> int:
    """A call whose frame may be the one that does not fit."""
    return len(values)


def most_faults(depth: int, most: int = 0) -> int:
    """The most page faults of calls from one depth, of all depths down to this one."""
    before = faults()
    for number in range(CALLS):
        leaf(number, number, number)
    most = max(most, faults() - before)
    return most if depth == 0 else most_faults(depth - 1, most)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="frames are kept on their own there")
def test_no_depth_has_calls_that_fault() -> None:
    with_room(lambda: most_faults(400))  # what it needs, it has now
    assert with_room(lambda: most_faults(400)) < CALLS / 4
    assert most_faults(400) > CALLS / 2, "then nobody needs the room"


@pytest.mark.parametrize("function", [lambda: 7, lambda: sys._getframe(1).f_code.co_name])
def test_the_call_is_an_ordinary_one(function: Callable[[], object]) -> None:
    assert with_room(function) in (7, "call")


def test_what_is_raised_comes_through() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        with_room(lambda: 1 // 0)
    assert caught.traceback[-1].name == "<lambda>"
