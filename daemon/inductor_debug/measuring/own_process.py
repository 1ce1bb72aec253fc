"""Work on a target with values in a process of its own: what crashes or hangs costs no more than itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from inductor_debug_schema import Progressed

from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.targets.building import bytes_of
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import REAL_SHARE, OpenFile
from inductor_debug.kerneldiff.execution.run_state import seed_everything
from inductor_debug.repro.minimiser.attempts import AttemptEnding, attempt

_PATIENCE = 600.0
"""Seconds of work that one process may take."""


class NotMeasuredError(Exception):
    """It is not measured; the message says why."""


def require_room(opened: OpenFile, candidate: Candidate, what: str) -> None:
    """Refuses a target whose weights and inputs are too large; `what` would be done with it, "a measurement".

    Raises:
        NotMeasuredError: there is no room.
    """
    needed, bound = bytes_of(opened.fake(candidate)), opened.request.memory_limit // REAL_SHARE
    if needed > bound:
        room = f"{what} may use {bound >> 20} MiB for them"
        raise NotMeasuredError(f"its weights and inputs take {needed >> 20} MiB, and {room}")


def in_own_process(
    opened: OpenFile,
    candidate: Candidate,
    backend: str,
    doing: str,
    work: Callable[[BuiltTarget], dict[str, Any]],
    cache: str | None = None,
    timeout: float = _PATIENCE,
) -> dict[str, Any]:
    """What `work` gives for the target with values; `cache` is Inductor's folder, None where it is the usual one.

    It may take `timeout` seconds of work.

    Raises:
        NotMeasuredError: it did not come to its end.
    """
    opened.emit(Progressed(f"{candidate.name}: {backend}, {doing}"))

    def act() -> dict[str, Any]:
        if cache is not None:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        seed_everything(opened.request.seed)
        target = opened.real(candidate)
        if isinstance(target, str):
            return {"problem": target}
        try:
            return work(target)
        except Exception as error:  # user code, or a backend
            inner = getattr(error, "inner_exception", None)
            return {"problem": describe(inner if isinstance(inner, BaseException) else error)}

    ran = attempt(act, timeout=timeout)
    if ran.ending is not AttemptEnding.DONE:
        raise NotMeasuredError(f"{doing}: {ran.detail}")
    if ran.answer.get("problem"):
        raise NotMeasuredError(f"{doing}: {ran.answer['problem']}")
    return ran.answer
