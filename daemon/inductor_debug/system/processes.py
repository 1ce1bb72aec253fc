"""What the kernel says of processes: who descends from whom, how much memory they hold, and how to see them gone.

Linux offers all of it through /proc and prctl. Elsewhere the functions answer with nothing, and callers fall back to
process groups and to the end of their streams. Standard library only; used on both sides of the worker's channel.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_CHILD_SUBREAPER = 36
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def adopt_orphans() -> None:
    """Makes orphaned descendants children of this process instead of init's (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def is_running(pid: int) -> bool:
    """Whether the process runs; one that has died and waits for its parent to notice does not.

    On Windows, where asking would interrupt it, nobody knows: False.
    """
    if os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    except (OverflowError, ValueError):
        return False
    try:
        with open(f"/proc/{pid}/stat", "rb") as status:
            return status.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        return True


def children(pid: int) -> list[int]:
    """The living and zombie children of a process; empty where /proc is missing."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as stream:
                found += map(int, stream.read().split())
    except OSError:  # gone, or a kernel without CONFIG_PROC_CHILDREN
        return _parents().get(pid, [])
    return found


def descendants(pid: int) -> list[int]:
    """All processes below a process, parents before children; empty where /proc is missing."""
    if not os.path.exists(f"/proc/{pid}/task/{pid}/children"):
        tree = _parents()
        return _walk(pid, lambda parent: tree.get(parent, []))
    return _walk(pid, children)


def _walk(pid: int, children_of: Callable[[int], list[int]]) -> list[int]:
    found: list[int] = []
    queue = [pid]
    while queue:
        for child in children_of(queue.pop()):
            found.append(child)
            queue.append(child)
    return found


def _parents() -> dict[int, list[int]]:
    """Every parent's children, from one look through /proc."""
    tree: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return tree
    for name in names:
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as stream:
                # The command in parentheses may hold spaces and parentheses: count from the last one.
                fields = stream.read().rpartition(b")")[2].split()
                tree.setdefault(int(fields[1]), []).append(int(name))
    return tree


def resident_bytes(pid: int) -> int:
    """Resident memory without pages of files; 0 for a process that is gone or where /proc is missing.

    Pages shared with the fork server after a fork count in full, so a sum over processes may be too high.
    """
    try:
        with open(f"/proc/{pid}/statm", "rb") as stream:
            fields = stream.read().split()
        return (int(fields[1]) - int(fields[2])) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def proportional_bytes(pid: int) -> int:
    """Resident memory with shared pages divided among those who share them; slower than `resident_bytes`."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as stream:
            for line in stream:
                if line.startswith(b"Pss_Anon:"):
                    return int(line.split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        pass
    return resident_bytes(pid)


def queued_seconds(pid: int) -> float | None:
    """How long a process's first thread was ready to run without a core so far; None where that is not known."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as stream:
            return int(stream.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


def thread_count() -> int:
    """Threads of this process as the kernel counts them; 1 where /proc is missing."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def kill(pid: int, signal_number: int = signal.SIGKILL) -> None:
    """Signals a process if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal_number)


def kill_group(pid: int, signal_number: int = signal.SIGKILL) -> None:
    """Signals the process group that `pid` leads, and `pid` itself in case it has not made the group yet."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal_number)
    kill(pid, signal_number)
