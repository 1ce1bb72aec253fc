"""Processes that end with whoever started them, however that went: also by `kill -9`, and at any moment.

What we start in an interpreter has a *leash*: a pipe or socket whose other end the starter alone has, so that it ends
with it. Until such a process is ready it looks at nothing (it imports torch, which takes seconds or hangs), so it has
the kernel interrupt it (`hold`); what reads its channel afterwards sees the end itself (`release`).
A program that is not ours is started by this file as a script (`leashed`), which has the kernel end it with its parent
and then becomes it. A forked child asks for that itself (`end_with`). Both are for Linux alone, where the kernel means
the *thread* that started the process.

Whoever asks the kernel for a signal looks afterwards whether it came too late to be sent one. Standard library only:
this comes before all else, and is a script for any Python.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1
_held: list[int] = []
"""The leash, while it is held."""


def hold(descriptor: int) -> None:
    """Ends this process as soon as the other end of a pipe or socket is closed, on Linux also while it runs C code.

    Nothing may be sent through it before `release`. Without such signals (Windows) nothing happens.
    """
    if sys.platform == "win32":
        return
    import fcntl
    import select

    try:
        leash = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)  # whoever it was for may close theirs
        linux = sys.platform.startswith("linux")  # elsewhere the signal does nothing of itself
        signal.signal(signal.SIGIO, signal.SIG_DFL if linux else lambda *_: os._exit(0))
        fcntl.fcntl(leash, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(leash, fcntl.F_SETFL, fcntl.fcntl(leash, fcntl.F_GETFL) | os.O_ASYNC)
    except OSError:  # it is no pipe: somebody runs this by hand
        return
    _held.append(leash)
    ends = select.poll()
    ends.register(leash, 0)
    if ends.poll(0):
        os._exit(0)


def release() -> None:
    """Lets go of the leash, if it is held: this process now looks by itself, or is to live on."""
    while _held:
        import fcntl

        leash = _held.pop()
        fcntl.fcntl(leash, fcntl.F_SETFL, fcntl.fcntl(leash, fcntl.F_GETFL) & ~os.O_ASYNC)
        os.close(leash)


def leashed(command: Sequence[str]) -> list[str]:
    """What starts a Python with its words so that it ends with the thread that started it; off Linux just `command`."""
    if not sys.platform.startswith("linux"):
        return [*command]
    return [command[0], "-I", "-S", os.path.abspath(__file__), str(os.getpid()), *command]


def end_with(parent: int, signal_number: int) -> None:
    """Has the kernel send this process, forked by `parent`, a signal when that ends; ends it if it is too late."""
    die_with_parent(signal_number)
    if os.getppid() != parent:
        os._exit(0)


def die_with_parent(signal_number: int) -> None:
    """Asks the kernel for a signal when the thread that started this process ends (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)


def _become(parent: int, command: Sequence[str]) -> None:
    """Makes this process another program, which ends with its parent: `parent`, or what `parent` started it by."""
    with contextlib.suppress(ImportError):  # a Python without ctypes
        die_with_parent(signal.SIGKILL)
    if os.getppid() != parent and not _runs(parent):
        os._exit(0)
    os.execv(command[0], [*command])


def _runs(pid: int) -> bool:
    """Whether a process has a program; one that has died and waits for its parent to notice has none."""
    try:
        os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return False
    return True


if __name__ == "__main__":
    _become(int(sys.argv[1]), sys.argv[2:])
