"""How a job ended, in words for the user.

Pure data and text: the supervisor decides, this module phrases. It starts no process and reads no file.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from enum import Enum


class JobOutcome(Enum):
    """How a job ended."""

    FINISHED = "finished"
    """The worker sent all it had to say."""
    CRASHED = "crashed"
    """The worker died, or broke the protocol, before its job was over."""
    TIMEOUT = "timeout"
    """The job took longer than allowed and was killed."""
    OUT_OF_MEMORY = "out-of-memory"
    """The job used more memory than allowed and was killed."""
    START_FAILED = "start-failed"
    """No worker could do it: the interpreter is missing or broken, or has no torch, or one that lacks what it takes."""


@dataclass(frozen=True)
class JobEnd:
    """How a job ended.

    `detail` is one sentence in plain words, empty when the job finished. `log_tail` is the end of what the job printed,
    with the Python stack where a crash or a timeout left one. `line` is the zero-based line of the analysed file that
    this stack names innermost, if any. `seconds` are those that a job was stopped after for want of more, `of_all` says
    that they were up for the whole job and not for a part of it.
    """

    outcome: JobOutcome
    detail: str = ""
    log_tail: str = ""
    line: int | None = None
    seconds: float = 0.0
    of_all: bool = False


def describe_status(status: int) -> str:
    """Says in words how a process ended.

    Args:
        status: the exit code, or minus the number of the signal that killed it.
    """
    if status >= 0:
        return f"exited with code {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    if name == "SIGKILL":
        return "killed by SIGKILL; the system may have run out of memory"
    return f"killed by {name}"


_FRAME = re.compile(r'^  File "(?P<path>[^"\n]+)", line (?P<line>\d+)', re.MULTILINE)


def innermost_line(log_tail: str, path: str) -> int | None:
    """Finds the zero-based line of `path` in the last stack that faulthandler wrote, innermost call first."""
    start = max(log_tail.rfind("Current thread"), log_tail.rfind("(most recent call first)"))
    if start < 0:
        return None
    for match in _FRAME.finditer(log_tail, start):
        if match["path"] == path:
            return int(match["line"]) - 1
    return None
