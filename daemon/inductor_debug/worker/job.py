"""The worker: one process, one job.

It reads one `JobRequest` from its channel, hands it to the job function, sends what that emits, says `END` and is gone
without unwinding anything that user code left behind. It decides nothing about the job itself; and it never answers
for a process that user code forked.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from inductor_debug_schema import Event, JobRequest

from inductor_debug.system import processes
from inductor_debug.system.stack_room import with_room
from inductor_debug.system.torch_names import TorchDiffersError, told_apart
from inductor_debug.worker import descriptors
from inductor_debug.worker.frames import FrameError, Message, read_frame, write_frame
from inductor_debug.worker.protocol import STACK_SIGNAL, MessageKind, event_message, read_job

JobFunction = Callable[[JobRequest, Callable[[Event], None]], None]
"""What a worker runs; `worker.tasks.perform` outside of tests."""

_STACK = 64 << 20
"""Bytes that the main thread's stack may have; Linux grows it as it is used, and leaves 128 MiB for it.

Autograd lets go of what it saved node by node, each within the one after it: a decoder of some thousand steps does not
fit into the usual 8 MiB (a segmentation fault, torch 2.13).
"""


class WorkerState:
    """What is known of this process. `at_work` says that it is a worker, which user code must not start others from."""

    at_work = False


def resolve(name: str) -> Any:
    """Loads `package.module:attribute`."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def isolate() -> None:
    """Prepares a fresh process for user code: own session, own orphans, no core dumps, readable crashes.

    Standard streams must already lead to the log.
    """
    processes.adopt_orphans()
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        _allow_deep_stacks(*resource.getrlimit(resource.RLIMIT_STACK))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as stream:
        stream.write("500")  # where memory runs out, the kernel should take the worker, not the editor
    for stream_object in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream_object.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    faulthandler.enable(file=2)
    if STACK_SIGNAL is not None:
        faulthandler.register(STACK_SIGNAL, file=2, all_threads=False)


def _allow_deep_stacks(soft: int, hard: int) -> None:
    """Raises the limit of the stack to what the system allows; one that is higher already stays."""
    import resource

    unlimited = resource.RLIM_INFINITY
    most = _STACK if hard == unlimited else min(_STACK, hard)
    if soft != unlimited and soft < most:
        resource.setrlimit(resource.RLIMIT_STACK, (most, hard))


def work(read_end: int, write_end: int, function: JobFunction, *, sweep: bool = False) -> NoReturn:
    """Waits for the job, does it, ends the process.

    Args:
        read_end: descriptor of the channel to read from.
        write_end: descriptor to write to, the same one for a socket.
        function: what to do with the request.
        sweep: kill what the job left behind before ending; for a process without a fork server above it.
    """
    owner = os.getpid()
    WorkerState.at_work = True
    for descriptor in {read_end, write_end}:
        descriptors.close_in_forked_children(descriptor)
    message = _read_job_frame(read_end)
    if message is None:
        os._exit(0)

    def send(answer: Message) -> None:
        if os.getpid() != owner:
            return
        try:
            write_frame(write_end, answer)
        except OSError:
            os._exit(0)  # nobody listens any more

    last = _perform(message, function, send)
    if os.getpid() != owner:
        os._exit(0)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    send(last)
    if sweep:
        for pid in processes.descendants(owner):
            processes.kill(pid)
    os._exit(0)


def _read_job_frame(descriptor: int) -> Message | None:
    try:
        return read_frame(descriptor)
    except (OSError, FrameError):
        return None


def _perform(message: Message, function: JobFunction, send: Callable[[Message], None]) -> Message:
    """Runs the job function; returns the last message of the conversation."""
    try:
        request = read_job(message)
        with told_apart():
            with_room(lambda: function(request, lambda event: send(event_message(event))))
    except SystemExit as error:
        return {"kind": MessageKind.EXIT.value, "status": _exit_status(error)}
    except TorchDiffersError as differs:
        return {"kind": MessageKind.LACKING.value, "detail": str(differs)}
    except BaseException as error:
        traceback.print_exc()
        return {"kind": MessageKind.FAILED.value, "detail": f"{type(error).__name__}: {error}"}
    return {"kind": MessageKind.END.value}


def _exit_status(error: SystemExit) -> int:
    """The status with which Python would have ended."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1
