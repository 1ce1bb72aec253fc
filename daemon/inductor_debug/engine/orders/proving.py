"""Proves a reproducer: runs the script in a clean process, with the project's interpreter, while the daemon goes on.

What such a process is, `system.clean_process` says. The verdict is the script's exit status. Never imports torch.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path

from inductor_debug.system.clean_process import (
    LONGEST_OUTPUT,
    PATIENCE_SECONDS,
    Proof,
    command,
    environment,
    kill,
    lacks_torch,
    why,
)
from inductor_debug.system.held_folders import HeldFolder
from inductor_debug.system.work_clock import LOOK_SECONDS, WorkClock

__all__ = ["PATIENCE_SECONDS", "Proof", "prove"]


async def prove(
    script: str,
    files: Mapping[str, bytes] | None = None,
    *,
    interpreter: str,
    name: str = "repro.py",
    patience: float = PATIENCE_SECONDS,
) -> Proof:
    """Runs `script` with `files` beside it. Cancelling the awaiting task kills it. Never raises for a bad script."""
    started = time.perf_counter()
    try:
        held = HeldFolder("proof")
    except OSError as error:
        return Proof(False, f"the proof could not be run: {error.strerror or error}", 0.0)
    folder = held.name
    try:
        Path(folder, name).write_text(script, encoding="utf-8")
        for file, content in (files or {}).items():
            Path(folder, os.path.basename(file)).write_bytes(content)
        status, output = await _run(interpreter, name, folder, patience)
        if lacks_torch(status, output):
            status, output = await _run(interpreter, name, folder, patience, packages=True)
    except OSError as error:
        return Proof(False, f"the proof could not be run: {error.strerror or error}", time.perf_counter() - started)
    finally:
        held.cleanup()
    return Proof(status == 0, why(status, output, patience), time.perf_counter() - started, output)


async def _run(
    interpreter: str, name: str, folder: str, patience: float, *, packages: bool = False
) -> tuple[int | None, str]:
    """The exit status, None where it took too long, and the end of what was printed."""
    with open(Path(folder, ".output"), "w+b") as output:
        process = await asyncio.create_subprocess_exec(
            *command(interpreter, name, packages=packages),
            cwd=folder,
            env=environment(folder, packages=packages),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        clock, status = WorkClock(process.pid), None
        ended = asyncio.ensure_future(process.wait())
        try:
            while status is None and (left := patience - clock.seconds()) > 0:
                done, _ = await asyncio.wait({ended}, timeout=min(left, LOOK_SECONDS))
                status = ended.result() if done else None
        finally:
            ended.cancel()
            kill(process.pid)
        output.seek(0, os.SEEK_END)
        output.seek(max(0, output.tell() - LONGEST_OUTPUT))
        return status, output.read().decode("utf-8", "replace")
