"""What a clean process is that a reproducer has to run in, and what its ending means. Needs no torch.

Nothing of this project, of the user's project or of their environment is in that process's reach: isolated mode, an
empty folder, no variables but those that a process needs to start. Where torch itself is only in the user's own
packages, those are let in. The daemon waits for such a process as its event loop does (`engine.orders.proving`);
`prove_all` is for a process that has no loop.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from inductor_debug.system.held_folders import HeldFolder
from inductor_debug.system.leash import leashed
from inductor_debug.system.work_clock import LOOK_SECONDS, WorkClock

PATIENCE_SECONDS = 120.0
"""How long a script may work (`system.work_clock`); it has to import torch, and perhaps to compile."""
LONGEST_OUTPUT = 1 << 16
_KEPT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "LANG", "LC_ALL", "CUDA_VISIBLE_DEVICES", "CC", "CXX")
_PACKAGES = ("HOME", "PYTHONPATH", "PYTHONUSERBASE", "APPDATA")
"""What Python finds a user's own packages by."""
_NO_TORCH = "No module named 'torch'"


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether the script reproduces the failure by itself; `why` says what happened where it does not."""

    verified: bool
    why: str
    seconds: float
    output: str = ""


def command(interpreter: str, name: str, *, packages: bool = False) -> list[str]:
    """What starts the script `name`, to end with us; `packages` lets the user's own ones in."""
    return leashed([interpreter, name] if packages else [interpreter, "-I", name])


def environment(folder: str, *, packages: bool = False) -> dict[str, str]:
    """What a process needs to start and to compile, with caches that nobody else has."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = {"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "inductor")}
    own |= dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), folder)
    if packages:
        own |= {name: os.environ[name] for name in _PACKAGES if name in os.environ}
    return {**kept, **own}


def lacks_torch(status: int | None, output: str) -> bool:
    """Whether the script ended because torch is not among the interpreter's own packages."""
    return status == 2 and _NO_TORCH in output


def why(status: int | None, output: str, patience: float) -> str:
    """One sentence for an exit status, None where it took too long; "" where the failure reproduced."""
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


def _is_exception(lines: list[str]) -> bool:
    """Whether Python itself ended the script, which it also does with status 1."""
    return lines[-1].partition(":")[0].endswith(("Error", "Exception")) and any(
        line.startswith(("Traceback", "File ")) for line in lines
    )


def prove_all(scripts: Sequence[str], *, interpreter: str, patience: float = PATIENCE_SECONDS) -> list[Proof]:
    """Runs scripts side by side, each for at most `patience` seconds of work.

    Never raises for a bad script, and leaves nothing behind.
    Processes are started, not forked: the caller may have threads and an accelerator.
    """
    runs = [_Run(script, interpreter) for script in scripts]
    return [run.ended(patience) for run in runs]


class _Run:
    def __init__(self, script: str, interpreter: str) -> None:
        self._started, self._interpreter, self._problem = time.monotonic(), interpreter, ""
        self._held: HeldFolder | None = None
        self._folder, self._process = "", None
        try:
            self._held = HeldFolder("proof")
            self._folder = self._held.name
            Path(self._folder, "repro.py").write_text(script, encoding="utf-8", errors="replace")
            self._process = self._start(packages=False)
        except (OSError, ValueError) as error:
            self._problem = getattr(error, "strerror", None) or str(error)

    def _start(self, *, packages: bool) -> subprocess.Popen[bytes]:
        with open(Path(self._folder, ".output"), "wb") as output:
            process = subprocess.Popen(
                command(self._interpreter, "repro.py", packages=packages),
                cwd=self._folder,
                env=environment(self._folder, packages=packages),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._clock = WorkClock(process.pid)
        return process

    def ended(self, patience: float) -> Proof:
        try:
            status, output = self._wait(patience)
            if lacks_torch(status, output):
                self._process = self._start(packages=True)
                status, output = self._wait(patience)
        except OSError as error:
            self._problem = self._problem or error.strerror or str(error)
        finally:
            if self._held is not None:
                self._held.cleanup()
        taken = time.monotonic() - self._started
        if self._problem:
            return Proof(False, f"the proof could not be run: {self._problem}", taken)
        return Proof(status == 0, why(status, output, patience), taken, output)

    def _wait(self, seconds: float) -> tuple[int | None, str]:
        process = self._process
        if process is None:
            return None, ""
        status = process.poll()  # perhaps it ended while another was waited for
        try:
            while status is None and (left := seconds - self._clock.seconds()) > 0:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    status = process.wait(min(left, LOOK_SECONDS))
        finally:
            kill(process.pid)
            process.wait()
        return status, Path(self._folder, ".output").read_bytes()[-LONGEST_OUTPUT:].decode("utf-8", "replace")


def kill(pid: int) -> None:
    """Ends a process that leads a session of its own, and what it started: compilers, for one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGKILL)
