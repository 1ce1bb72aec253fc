"""Proves a reproducer: runs the script in a clean process, in an empty folder, with the project's own interpreter.

Nothing of this project, of the user's project or of their environment is in that process's reach: isolated mode, no
variables but those that a process needs to start. The verdict is the script's exit status. Never imports torch.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PATIENCE_SECONDS = 120.0
"""How long a script may take; it has to import torch, and perhaps to compile."""
_KEPT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "LANG", "LC_ALL", "CUDA_VISIBLE_DEVICES", "CC", "CXX")
_LONGEST_OUTPUT = 1 << 16


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether the script reproduces the failure by itself; `why` says what happened where it does not."""

    verified: bool
    why: str
    seconds: float
    output: str = ""


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
        folder = tempfile.mkdtemp(prefix="inductor-debug-proof-")
    except OSError as error:
        return Proof(False, f"the proof could not be run: {error.strerror or error}", 0.0)
    try:
        Path(folder, name).write_text(script, encoding="utf-8")
        for file, content in (files or {}).items():
            Path(folder, os.path.basename(file)).write_bytes(content)
        status, output = await _run(interpreter, name, folder, patience)
    except OSError as error:
        return Proof(False, f"the proof could not be run: {error.strerror or error}", time.perf_counter() - started)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Proof(status == 0, _why(status, output, patience), time.perf_counter() - started, output)


async def _run(interpreter: str, name: str, folder: str, patience: float) -> tuple[int | None, str]:
    """The exit status, None where it took too long, and the end of what was printed."""
    with open(Path(folder, ".output"), "w+b") as output:
        process = await asyncio.create_subprocess_exec(
            interpreter,
            "-I",
            name,
            cwd=folder,
            env=_environment(folder),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            status: int | None = await asyncio.wait_for(process.wait(), patience)
        except asyncio.TimeoutError:
            status = None
        finally:
            _kill(process)
        output.seek(0, os.SEEK_END)
        output.seek(max(0, output.tell() - _LONGEST_OUTPUT))
        return status, output.read().decode("utf-8", "replace")


def _kill(process: asyncio.subprocess.Process) -> None:
    """Ends the process and what it started: compilers, for one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _environment(folder: str) -> dict[str, str]:
    """What a process needs to start and to compile, with caches that nobody else has."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {
        **kept,
        "HOME": folder,
        "TMPDIR": folder,
        "TEMP": folder,
        "TMP": folder,
        "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "inductor"),
    }


def _is_exception(lines: list[str]) -> bool:
    """Whether Python itself ended the script, which it also does with status 1."""
    return lines[-1].partition(":")[0].endswith(("Error", "Exception")) and any(
        line.startswith(("Traceback", "File ")) for line in lines
    )


def _why(status: int | None, output: str, patience: float) -> str:
    """One sentence for an exit status; "" where the failure reproduced."""
    if status == 0:
        return ""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if status is None:
        return f"the script did not end within {patience:g} s in a clean process"
    if status == 1 and not (lines and _is_exception(lines)):
        return "the failure does not reproduce in a clean process"
    if status < 0:
        return f"the script was killed by signal {-status} in a clean process"
    last = f": {lines[-1]}" if lines else ""
    return f"the script cannot run in a clean process{last}"
