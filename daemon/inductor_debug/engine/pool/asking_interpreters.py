"""Asks an interpreter which adapters of accelerators are installed there, in a short process of its own.

An adapter that hangs, crashes or ends the process costs that process alone. No job runs in it and torch is imported
only by adapters that do.
"""

from __future__ import annotations

import json
import os
import subprocess

from inductor_debug_schema import AdaptersFound, WireError, from_wire

from inductor_debug.engine.pool.job_outcomes import describe_status
from inductor_debug.engine.pool.launch import Launch, StartFailedError, WorkerEntry
from inductor_debug.engine.pool.short_process import run_to_end

DESCRIBING_SECONDS = 120.0
"""How long an adapter may take to load; it may import torch from a cold disk."""
_ROLE = "inductor_debug.worker.describing"


class DescribingError(Exception):
    """There is no answer; the message says why, without a full stop."""


def ask_interpreter(interpreter: str, adapter: str | None, *, report: bool = False) -> AdaptersFound:
    """What `adapter` says of itself; nothing where none of that name is installed.

    Args:
        interpreter: the Python that runs the models.
        adapter: an adapter's name; None for all of them, unasked: their names and packages alone.
        report: whether it is also asked for what belongs into a bug report.

    Raises:
        DescribingError: the process ended without an answer.
    """
    launch = Launch(interpreter, os.getcwd(), {}, WorkerEntry())
    try:
        done = run_to_end(launch, _ROLE, {"adapter": adapter, "report": report}, DESCRIBING_SECONDS)
    except subprocess.TimeoutExpired:
        raise DescribingError(f"it was not loaded within {DESCRIBING_SECONDS:g} seconds") from None
    except StartFailedError as error:
        raise DescribingError(str(error)) from None
    try:
        return from_wire(AdaptersFound, json.loads(done.answer))
    except (ValueError, WireError):
        if adapter is None:
            raise DescribingError(str(launch.died(done.status, done.printed))) from None
        raise DescribingError(f"the process that loaded it {describe_status(done.status)}") from None
