"""Runs one question to its end in a short process of an interpreter's: what it answered, printed, and how it ended.

It serves those who ask an interpreter something without a job. It keeps no process and reads no answer. A process that
is at its question ends with this one, whose end of its standard input is never written to (`system.leash`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inductor_debug.engine.pool.launch import Launch
from inductor_debug.engine.pool.temporary import output_file


@dataclass(frozen=True, slots=True)
class ShortRun:
    """A process that has ended: its `status`, its `answer` on standard output, and what else it `printed`."""

    status: int
    answer: bytes
    printed: str


def run_to_end(launch: Launch, role: str, options: Mapping[str, Any], seconds: float) -> ShortRun:
    """Runs a role's module until it ends.

    Raises:
        StartFailedError: the interpreter cannot be executed.
        subprocess.TimeoutExpired: it did not end within so many seconds, and was stopped.
    """
    read_end, write_end = os.pipe()
    with output_file() as log:
        try:
            done = subprocess.run(
                launch.command(role, None, options),
                env=launch.environ(),
                stdin=read_end,
                stdout=subprocess.PIPE,
                stderr=log,
                timeout=seconds,
                check=False,
            )
        except OSError as error:
            raise launch.cannot_run(error) from None
        finally:
            os.close(read_end)
            os.close(write_end)
        log.seek(0)
        return ShortRun(done.returncode, done.stdout, log.read().decode("utf-8", "replace"))
