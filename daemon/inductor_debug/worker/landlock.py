"""Has the Linux kernel refuse what `capture.runtime.containment` cannot hear: files and connections of C code.

Landlock restricts a process for good, and all that it starts; no privilege is needed. Where the kernel has none, or is
older than a part of it, that part is left out: the audit hook is there on every system. Read in Linux 5.13 to 6.18
(versions 1 to 7 of its interface); the numbers of its system calls are the same on every architecture.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Sequence

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_SINCE = {1: sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12)), 2: 1 << 13, 3: _TRUNCATE}
"""By version of the interface: write, remove, make; link and rename elsewhere; truncate."""
_TCP = 0b11
"""Bind and connect, since version 4."""


def restrict(writable: Sequence[str], *, files: bool, network: bool) -> bool:
    """Restricts this process; says whether the kernel does it.

    Args:
        writable: folders in which everything may be written; devices always may.
        files: refuse writing elsewhere.
        network: refuse TCP connections.
    """
    if not sys.platform.startswith("linux") or not (files or network):
        return False
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        version = _call(libc, _CREATE_RULESET, None, 0, _VERSION_FLAG)
        changes = sum(bits for since, bits in _SINCE.items() if since <= version) if files else 0
        connections = _TCP if network and version >= 4 else 0
        if not changes and not connections:
            return False
        attributes = struct.pack("=Q", changes) if version < 4 else struct.pack("=QQ", changes, connections)
        ruleset = _call(libc, _CREATE_RULESET, attributes, len(attributes), 0)
        try:
            if files:
                for folder in writable:
                    _permit(libc, ruleset, folder, changes)
                for folder in ("/dev", "/proc"):
                    _permit(libc, ruleset, folder, changes & (_WRITE_FILE | _TRUNCATE))
            if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0:
                _call(libc, _RESTRICT_SELF, ruleset, 0)
                return True
        finally:
            os.close(ruleset)
    return False


def _permit(libc: ctypes.CDLL, ruleset: int, folder: str, changes: int) -> None:
    descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    try:
        _call(libc, _ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", changes, descriptor), 0)
    finally:
        os.close(descriptor)


def _call(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    """A system call.

    Raises:
        OSError: the kernel refused it, or does not know it.
    """
    result = int(libc.syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
