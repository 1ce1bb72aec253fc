"""Runs one attempt in a forked child: what crashes, hangs or exhausts memory costs an attempt and no more.

The child inherits everything by copy-on-write, so nothing is sent to it; what comes back is one JSON object. Without
`fork` (Windows) attempts run in the worker itself, which its supervisor watches.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import select
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from inductor_debug.system import leash
from inductor_debug.system.forked_work import how_it_ended
from inductor_debug.system.work_clock import LOOK_SECONDS, WorkClock


class AttemptEnding(str, Enum):
    """How an attempt ended."""

    DONE = "done"
    """It came to an end; the answer is what it returned."""
    CRASHED = "crashed"
    """The process died; the detail says by what signal or status."""
    HUNG = "hung"
    """It took too long and was killed."""


@dataclass(frozen=True)
class Attempt:
    """One attempt's ending. `answer` is the object that it returned, empty unless it is done."""

    ending: AttemptEnding
    answer: dict[str, Any] = field(default_factory=dict)
    detail: str = ""


def attempt(work: Callable[[], dict[str, Any]], *, timeout: float) -> Attempt:
    """Runs `work`, which returns plain values, for at most `timeout` seconds of work (`system.work_clock`).

    An exception that it raises is a crash, whose detail is the exception's text.
    """
    if not hasattr(os, "fork"):
        return _here(work)
    read_end, write_end = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _run(work, write_end, parent)
    os.close(write_end)
    try:
        content, in_time = _read(read_end, WorkClock(child), timeout)
    finally:
        os.close(read_end)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if content:
        with contextlib.suppress(ValueError):
            said = json.loads(content)
            if "raised" not in said:
                return Attempt(AttemptEnding.DONE, said)
            return Attempt(AttemptEnding.CRASHED, detail=str(said["raised"]))
    if not in_time:
        return Attempt(AttemptEnding.HUNG, detail=f"no answer within {timeout:g} s")
    unsaid = "" if os.WIFSIGNALED(status) else " and no answer"
    return Attempt(AttemptEnding.CRASHED, detail=f"{how_it_ended(status)}{unsaid}")


def _here(work: Callable[[], dict[str, Any]]) -> Attempt:
    try:
        return Attempt(AttemptEnding.DONE, work())
    except Exception as error:
        return Attempt(AttemptEnding.CRASHED, detail=f"{type(error).__name__}: {error}")


def _run(work: Callable[[], dict[str, Any]], write_end: int, parent: int) -> None:
    """The child's life. It never returns into the parent's code."""
    try:
        leash.end_with(parent, signal.SIGKILL)
        faulthandler.disable()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        try:
            answer = work()
        except BaseException as error:
            answer = {"raised": f"{type(error).__name__}: {error}"[:2000]}
        content = json.dumps(answer).encode()
        while content:
            content = content[os.write(write_end, content) :]
    finally:
        os._exit(0)


def _read(descriptor: int, clock: WorkClock, timeout: float) -> tuple[bytes, bool]:
    """All that the child says until it closes the pipe, and whether it did so in time."""
    content = b""
    while (left := timeout - clock.seconds()) > 0:
        if not select.select([descriptor], [], [], min(left, LOOK_SECONDS))[0]:
            continue
        part = os.read(descriptor, 1 << 16)
        if not part:
            return content, True
        content += part
    return content, False
