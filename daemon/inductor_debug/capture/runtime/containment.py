"""Keeps user code from touching the world while a job runs: no network, no files but in a scratch folder, no processes.

Python tells of such deeds before it does them (`audit`), on every system; what is not allowed raises `RefusedError`
there, with the user's own call below it on the stack. Who asks decides: torch's compilers write caches
and start C++ compilers, and this tool does its own work; user code, and libraries that it calls, do not. Libraries may
start processes while they are imported, for many look for shared objects so.

What C code does by itself is not heard here; `engine` gives the job a process of its own, whose end is the job's. The
hook cannot be taken away again, which is why only a worker puts it in, and never the process it was forked from.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Collection
from enum import Enum
from functools import partial
from types import FrameType
from typing import Any

import torch

from inductor_debug.capture.runtime import audit, foreign
from inductor_debug.capture.runtime.loading import is_installed, is_standard
from inductor_debug.system.own_files import OWN_PACKAGE, STAND_INS, is_trusted

TORCH_FOLDER = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_COMPILERS = tuple(
    TORCH_FOLDER + name + os.sep for name in ("_inductor", "_dynamo", "_functorch", "_logging", "compiler", "_export")
)
_TRITON = os.sep + "triton" + os.sep
_DEVICES = ("/dev/", "/proc/")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class RefusableDeed(str, Enum):
    """What user code may be allowed to do; the values are those of the setting `allow`."""

    NETWORK = "network"
    WRITE = "write"
    SUBPROCESS = "subprocess"


_WORDS = {
    RefusableDeed.NETWORK: "This opens a network connection",
    RefusableDeed.WRITE: "This writes to {what}",
    RefusableDeed.SUBPROCESS: "This starts a process",
}
_EVENTS = {
    **dict.fromkeys(
        ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.sendto",
         "socket.sendmsg", "urllib.Request", "http.client.connect", "ftplib.connect", "smtplib.connect"),
        RefusableDeed.NETWORK,
    ),
    **dict.fromkeys(
        ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
         "os.startfile", "pty.spawn"),
        RefusableDeed.SUBPROCESS,
    ),
    **dict.fromkeys(
        ("open", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.chown", "os.link",
         "os.symlink", "os.utime", "sqlite3.connect"),
        RefusableDeed.WRITE,
    ),
}  # fmt: skip
_PATHS: dict[str, tuple[tuple[int, int], ...]] = {
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.chmod": ((0, 2),),
    "os.utime": ((0, 3),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
}
"""Which arguments of an event are paths that it changes, and which the open folder's descriptor that each is relative
to; of all other events the first is, and there is no such folder."""

_MAKING = frozenset(("open", "sqlite3.connect", "os.link", "os.symlink"))
"""Events of what makes a file that need not be there."""
_TEMPORARY = ("TMPDIR", "NUMBA_CACHE_DIR", "MPLCONFIGDIR")
"""Variables that say where temporary files go, and those of libraries that cannot be imported where they write none."""


class _Own:
    """What this process was given."""

    scratch = ""


class RefusedError(audit.DeedRefusedError):
    """User code wanted what a check does not do or has not; `cause` is the same for what is refused alike."""

    def __init__(self, words: str, cause: str) -> None:
        super().__init__(words)
        self.cause = cause


def _refusal_of_deed(deed: RefusableDeed, what: str) -> RefusedError:
    words = _WORDS[deed].format(what=what or "a file")
    return RefusedError(f'{words}, which a check does not do; allow it with `allow = ["{deed.value}"]`.', deed.value)


def contain(scratch: str, allowed: Collection[str]) -> None:
    """Puts the hook in, for the rest of this process's life, and has temporary files go to the scratch folder.

    Args:
        scratch: absolute path of a folder that exists.
        allowed: values of `RefusableDeed` that are not refused.
    """
    # Python's own cache of modules: not beside the user's sources, and those of libraries were written when installed.
    sys.dont_write_bytecode = True
    tempfile.tempdir = scratch
    os.environ.update(dict.fromkeys(_TEMPORARY, scratch))
    _Own.scratch = os.path.realpath(scratch) + os.sep
    refused = [event for event, deed in _EVENTS.items() if deed.value not in allowed]
    audit.listen(refused, partial(_judge, writable=(_Own.scratch, *_DEVICES)))


def stay_offline() -> None:
    """A check that starts while the user types must not fetch gigabytes of weights.

    Tasks that somebody asked for (`file_task`) may: a comparison is about the weights that the file loads.
    """
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        os.environ.setdefault(name, "1")
    constants = sys.modules.get("huggingface_hub.constants")
    if constants is not None and os.environ["HF_HUB_OFFLINE"] == "1":
        constants.HF_HUB_OFFLINE = True  # type: ignore[attr-defined]


def refusal_of(error: BaseException) -> RefusedError | None:
    """The refusal that led to an exception, which a library may have wrapped in its own; None if none did."""
    seen: set[int] = set()
    pending: BaseException | None = error
    while pending is not None and id(pending) not in seen:
        if isinstance(pending, RefusedError):
            return pending
        seen.add(id(pending))
        reason = foreign.attribute(pending, "reason")  # where `urllib` keeps it
        if foreign.is_a(reason, RefusedError):
            return reason
        pending = pending.__cause__ or pending.__context__
    return None


def _judge(event: str, arguments: tuple[Any, ...], writable: tuple[str, ...]) -> None:
    """Raises `RefusedError` unless the deed touches nothing, or is none of the user's."""
    deed = _EVENTS[event]
    what = ""
    if deed is RefusableDeed.WRITE:
        outside = [path for path in _written(event, arguments) if not _is_below(path, writable)]
        if not outside or _changes_nothing(event, arguments, outside[0]):
            return
        path = outside[0]
        what = repr(os.path.relpath(path) if path.startswith(os.getcwd() + os.sep) else path)
    elif (
        deed is RefusableDeed.NETWORK
        and len(arguments) > 1
        and isinstance(arguments[1], str | bytes)
        and "connect" in event
    ):
        return  # a socket of this machine's, between processes
    if _is_users(sys._getframe(2), deed):
        raise _refusal_of_deed(deed, what)


def writes_temporary_files_alone(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a deed, which an audit event tells of, changes nothing but what `contain` gave this process to write."""
    if _EVENTS.get(event) is not RefusableDeed.WRITE or not _Own.scratch:
        return False
    written = _written(event, arguments)
    return bool(written) and all(_is_below(path, _Own.scratch) for path in written)


def _is_below(path: str, folders: str | tuple[str, ...]) -> bool:
    return (os.path.realpath(path) + os.sep).startswith(folders)


def _written(event: str, arguments: tuple[Any, ...]) -> list[str]:
    """The absolute paths that would be changed; none where nothing would, or where it is open already."""
    if event == "open":
        flags = arguments[2] if len(arguments) > 2 else 0
        if not isinstance(flags, int) or not flags & _WRITING:
            return []
    found = (_absolute(arguments, *place) for place in _PATHS.get(event, ((0, len(arguments)),)))
    return [path for path in found if path is not None]


def _absolute(arguments: tuple[Any, ...], index: int, folder_index: int) -> str | None:
    path = arguments[index]
    if not isinstance(path, str | bytes | os.PathLike):
        return None
    path = os.fsdecode(path)
    if path == ":memory:":
        return None
    folder = arguments[folder_index] if folder_index < len(arguments) else -1
    if isinstance(folder, int) and folder >= 0 and not os.path.isabs(path):
        try:
            path = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), path)
        except OSError:
            return None  # the folder was opened by name, and is not known by it any more
    return os.path.abspath(path)


def _changes_nothing(event: str, arguments: tuple[Any, ...], path: str) -> bool:
    """Whether the deed would fail anyway: code makes a folder that may be there, or removes a file that may not."""
    if event == "os.mkdir":
        return os.path.isdir(path)
    if event in _MAKING:
        return False
    changed = _absolute(arguments, *_PATHS["os.rename"][0]) if event == "os.rename" else path
    return changed is None or not os.path.lexists(changed)


def _is_users(frame: FrameType | None, deed: RefusableDeed) -> bool:
    """Whether user code stands behind what runs now, directly or through a library that it called."""
    foreign = False
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(OWN_PACKAGE) and not file.startswith(STAND_INS):
            return foreign
        if file.startswith(_COMPILERS) or _TRITON in file or is_trusted(file):
            return False
        if is_installed(file):
            if deed is RefusableDeed.SUBPROCESS and frame.f_code.co_name == "<module>":
                return False
            foreign = True
        elif not file.startswith(("<frozen", *STAND_INS)) and not is_standard(file):
            return True
        frame = frame.f_back
    return True
