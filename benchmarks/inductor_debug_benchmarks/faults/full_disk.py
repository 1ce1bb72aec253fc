"""A disk that is full for one process: the kernel lets it write no file beyond so many bytes (`RLIMIT_FSIZE`, Linux).

What is written is cut off in the middle and then refused, as on a disk that fills up. Processes that are started
meanwhile inherit it (`lost_interpreter.py` lets it go: what models write is theirs); it is lifted at any moment.
"""

from __future__ import annotations

import contextlib
import resource
import sys

SIZES = (0, 100, 4096)
"""Bytes that there may be room for."""


def fill(process_id: int, room: int) -> None:
    """Leaves a process room for files of `room` bytes."""
    _limit(process_id, room)


def free(process_id: int) -> None:
    """Gives it all room again."""
    _limit(process_id, resource.RLIM_INFINITY)


def _limit(process_id: int, room: int) -> None:
    if sys.platform != "linux":
        return
    with contextlib.suppress(ProcessLookupError):
        _, most = resource.prlimit(process_id, resource.RLIMIT_FSIZE)
        resource.prlimit(process_id, resource.RLIMIT_FSIZE, (room, most))
