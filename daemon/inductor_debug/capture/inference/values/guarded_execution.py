"""Keeps guessing from hurting: code that runs only to be looked at may neither hang nor touch the world.

Reading files is allowed, and writing temporary ones; writing others, connecting, starting and ending processes and
asking for input are not. What torch takes for granted (the default dtype, gradients) is afterwards what it was.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch

from inductor_debug.capture.runtime import audit
from inductor_debug.capture.runtime.containment import writes_temporary_files_alone
from inductor_debug.capture.runtime.loading import is_installed
from inductor_debug.capture.tensors.written_nowhere import WrittenNowhere

_REFUSED = frozenset(
    (
        *("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "urllib.Request"),
        *("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.startfile"),
        *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.chown", "os.link"),
        *("os.symlink", "os.kill", "builtins.input"),
    )
)
_UNHEARD: tuple[tuple[Any, str], ...] = ((os, "_exit"), (os, "abort"), (signal, "raise_signal"))
"""What no audit event tells of: what ends the process."""
_OF_OPERATIONS = (
    "torch._subclasses.",
    "torch.utils._python_dispatch",
    "torch.overrides",
    "torch._library",
    "torch._C",
    "torch.jit._recursive",
    "inductor_debug.capture.weightless.",
)
"""Modules whose code keeps account of the operation that runs, of the modes that are on, of what is compiled once."""
_ORDERLY = re.compile(r"(?:torch(?!\.nn\b)|inductor_debug|contextlib|functools)(?:\.|$)")
"""Modules whose code begins and ends what must be ended, or that torch calls where nothing may be raised."""
_PUT_OFF_SECONDS, _MOST_PUT_OFF = 0.001, 2000
_AGAIN_SECONDS = 0.5
"""After so long at work what was raised is taken for lost: leaving the code inside takes a hundredth of it."""
_IMPORTING = "<frozen importlib"
"""How the names of the files begin whose code imports others."""
_IMPORT_SECONDS, _MOST_AWAITED = 0.2, 60.0
"""How often it is looked whether a library has been imported, and after how long that is given up."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class SideEffectError(audit.DeedRefusedError):
    """Code that was run to infer something wanted to change the world."""


class TooLongError(BaseException):
    """Code that was run to infer something took too long. Not an `Exception`, so that user code lets it pass.

    `worked` says that the processor was busy with it for most of the time, so that it would take too long again.
    """

    def __init__(self, message: str, *, worked: bool = False) -> None:
        super().__init__(message)
        self.worked = worked


class _State:
    installed = False
    active = False


@contextmanager
def harmless() -> Iterator[None]:
    """Refuses side effects meanwhile; what would be written goes nowhere."""
    if not _State.installed:
        audit.listen((*_REFUSED, "open"), _refuse)
        _State.installed = True
    before, _State.active = _State.active, True
    kept = [(owner, name, getattr(owner, name)) for owner, name in _UNHEARD]
    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    for owner, name, _ in kept:
        setattr(owner, name, _refusing(f"{owner.__name__}.{name}"))
    try:
        with WrittenNowhere():
            yield
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)
        _State.active = before


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> None:
        raise SideEffectError(f"{name} is not done while inputs are inferred")

    return refuse


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if not _State.active or writes_temporary_files_alone(event, arguments):
        return
    if event in _REFUSED:
        raise SideEffectError(f"{event} is not done while inputs are inferred")
    if event == "open" and len(arguments) > 2 and isinstance(arguments[2], int) and arguments[2] & _WRITING:
        if arguments[0] == os.devnull:
            return
        raise SideEffectError(f"{arguments[0]!r} is not written while inputs are inferred")


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises `TooLongError` in the code inside after so many seconds, where the system and the thread can.

    Not in the middle of an operation on tensors without values: what is begun there (`in_kernel_invocation` of a fake
    mode) would never be ended, and every later operation would fail. Nor where torch enters or leaves a mode, or looks
    up how an operation is done: what is raised there ends the process. It is raised again where it was lost: Python
    hands nobody what is raised in the callback of a weak reference or in a `__del__`. Elsewhere the job's own timeout
    ends what never ends.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    started, waited = time.process_time(), _waited()

    def end() -> None:
        # Nothing of this alarm may ring any more before whoever waits outside is the one that is called, which may be
        # the system, that ends the process.
        over[0] = True
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, before[0])

    def ring(number: int, frame: FrameType | None) -> None:
        if over[0]:
            return
        late = _waited() - waited
        if late > grace[0] + seconds / 10:
            # Others had the processor meanwhile: that is no time of the code inside.
            left, grace[0] = late - grace[0], late
            signal.setitimer(signal.ITIMER_REAL, left)
            return
        if _imports_library(frame) and awaited[0] < _MOST_AWAITED:
            # It is imported once for all that is tried, and half of it would be no use to any of them.
            awaited[0] += _IMPORT_SECONDS
            signal.setitimer(signal.ITIMER_REAL, _IMPORT_SECONDS)
            return
        if awaited[0] and not anew[0]:
            anew[0] = True
            signal.setitimer(signal.ITIMER_REAL, seconds)
            return
        if not _may_be_broken_off(frame) and put_off[0] < _MOST_PUT_OFF:
            put_off[0] += 1
            signal.setitimer(signal.ITIMER_REAL, _PUT_OFF_SECONDS)
            return
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)
        now = time.process_time()
        if now < again[0]:
            return  # the code inside is being left, and is to be left in order
        again[0] = now + _AGAIN_SECONDS / 2
        raise TooLongError(f"it took more than {seconds:g} s", worked=now - started > seconds / 2)

    grace, put_off, again, over, before = [0.0], [0], [0.0], [False], [0.0]
    awaited, anew = [0.0], [False]
    handler = signal.signal(signal.SIGALRM, ring)
    before[0], _ = signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        end()


def _imports_library(frame: FrameType | None) -> bool:
    """Whether code that is interrupted here is that of an import of a library, or is called by it."""
    while frame is not None:
        code, caller = frame.f_code, frame.f_back
        of_module = code.co_name == "<module>" and is_installed(code.co_filename)
        if of_module and caller is not None and caller.f_code.co_filename.startswith(_IMPORTING):
            return True
        frame = caller
    return False


def _may_be_broken_off(frame: FrameType | None) -> bool:
    """Whether code that is interrupted here leaves nothing half done: it is the user's, or of modules or libraries."""
    if frame is not None and _ORDERLY.match(str(frame.f_globals.get("__name__"))):
        return False
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith(_OF_OPERATIONS):
            return False
        frame = frame.f_back
    return True


def _waited() -> float:
    """Seconds that the main thread was ready to run and others ran instead; zero where the system does not tell."""
    try:
        with open("/proc/self/schedstat", encoding="ascii") as stream:
            return int(stream.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
