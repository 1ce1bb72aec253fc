"""File descriptors that user code cannot reach by accident.

User code may print to, close or replace 0, 1 and 2, close ranges of low numbers and fork. The channel therefore lives
at a high number, is not inherited across exec, and is closed in every process that user code forks.
"""

from __future__ import annotations

import contextlib
import os

_HIGHEST = 4096
"""A process's descriptor table grows to the highest number in use, and every fork copies it."""


def move_high(descriptor: int) -> int:
    """Moves a descriptor near the top of the allowed numbers, close-on-exec; returns its new number."""
    import fcntl
    import resource

    soft_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft_limit == resource.RLIM_INFINITY:
        soft_limit = _HIGHEST
    base = max(min(soft_limit, _HIGHEST) - 64, 3)
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, base)
    os.close(descriptor)
    return moved


def redirect_standard_streams(log: int) -> None:
    """Gives user code an empty stdin, and `log` as stdout and stderr."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    for descriptor in (null, log):
        if descriptor > 2:
            os.close(descriptor)


def wait_readable(watched: list[int], timeout: float | None = None) -> set[int]:
    """Waits until some of the descriptors can be read, or have ended; numbers may be beyond what `select` takes."""
    import select

    poll = select.poll()
    for descriptor in watched:
        poll.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(None if timeout is None else timeout * 1000)}


def close_in_forked_children(descriptor: int) -> None:
    """Closes a descriptor in whatever this process forks from now on."""

    def close() -> None:
        with contextlib.suppress(OSError):
            os.close(descriptor)

    os.register_at_fork(after_in_child=close)
