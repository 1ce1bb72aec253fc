"""How a process is started in the user's interpreter, and what is said when it does not start.

It knows command lines, environments and exit statuses; it holds no process.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import inductor_debug_schema

import inductor_debug
from inductor_debug.engine.pool.job_outcomes import describe_status
from inductor_debug.worker.protocol import FAILURE_PREFIX, START_FAILED_STATUS

START_SECONDS = 180.0
"""A first import of torch from a cold disk may take a minute; longer than this is a hang."""
_KILL = int(getattr(signal, "SIGKILL", 9))


class StartFailedError(Exception):
    """No worker can be started; the message tells the user what to do. `by_kill` says that somebody's kill ended it."""

    def __init__(self, message: str, *, by_kill: bool = False) -> None:
        super().__init__(message)
        self.by_kill = by_kill


@dataclass(frozen=True)
class WorkerEntry:
    """What workers run; the defaults are the real thing, tests put other functions in.

    `job`, `warm_up` and `rehearsal` are `module:function`; an empty `rehearsal` leaves it out.
    """

    job: str = "inductor_debug.worker.tasks:perform"
    warm_up: str = "inductor_debug.worker.warm_up:warm_up"
    rehearsal: str = "inductor_debug.worker.warm_up:rehearse"
    script: Path = Path(inductor_debug.__file__).parent / "worker" / "bootstrap.py"
    extra_path: tuple[str, ...] = ()

    def for_one_job(self) -> WorkerEntry:
        """The same where one job is all that comes, so that nothing is rehearsed for others."""
        return replace(self, warm_up="inductor_debug.worker.warm_up:load", rehearsal="")


@dataclass(frozen=True)
class Launch:
    """All that a start needs to know."""

    interpreter: str
    project_root: str
    environment: dict[str, str]
    entry: WorkerEntry

    def check(self) -> None:
        """Looks for what would only give an obscure error later.

        Raises:
            StartFailedError: the project's folder is missing.
        """
        if not os.path.isdir(self.project_root):
            raise StartFailedError(f"the project folder {self.project_root} does not exist")

    def command(self, role: str, control: int | None, options: Mapping[str, Any] | None = None) -> list[str]:
        """The command line for a role's module, with its options and the descriptor of its control channel if any."""
        configuration: dict[str, Any] = {
            "role": role,
            "control": control,
            **importable_packages(),
            "extra_path": list(self.entry.extra_path),
            "project_root": self.project_root,
            "job": self.entry.job,
            "warm_up": self.entry.warm_up,
            "rehearsal": self.entry.rehearsal,
            # The kernel sends the death signal when the *thread* that forked ends, so only the main thread may ask.
            "die_with_parent": threading.current_thread() is threading.main_thread(),
            **(options or {}),
        }
        return [self.interpreter, str(self.entry.script), json.dumps(configuration)]

    def environ(self) -> dict[str, str]:
        """The environment of the process. Sets of strings have the same order in each, unless the user says else."""
        return {"PYTHONHASHSEED": "0", **os.environ, **self.environment}

    def cannot_run(self, error: OSError) -> StartFailedError:
        """What to say when the interpreter could not even be executed."""
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be run ({error.strerror})"
        return StartFailedError(f"the interpreter {self.interpreter} {reason}; choose another interpreter")

    def late(self) -> StartFailedError:
        """What to say when the process was stopped because it took too long until it was ready."""
        return StartFailedError(
            f"{self.interpreter} was not ready within {START_SECONDS / 60:.0f} minutes and was stopped: the first "
            "import of a torch that is new here, or a machine that does much else. Check again when it has calmed down."
        )

    def died(self, status: int | None, output: str) -> StartFailedError:
        """What to say when the process ended, or broke the protocol, before it was ready.

        Args:
            status: its end as in `describe_status`; None if it still ran and was killed.
            output: the end of what it printed.
        """
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        told = [line for line in lines if line.startswith(FAILURE_PREFIX)]
        if told and status == START_FAILED_STATUS:
            return StartFailedError(told[-1][len(FAILURE_PREFIX) :])
        if lines and lines[-1].startswith("SyntaxError"):
            return StartFailedError(
                f"{self.interpreter} is too old; 3.10 or newer is needed. Choose another interpreter."
            )
        how = "did not get ready and was stopped" if status is None else f"{describe_status(status)} while starting"
        last = f": {lines[-1]}" if lines else ""
        return StartFailedError(f"{self.interpreter} {how}{last}", by_kill=status == -_KILL)


def importable_packages() -> dict[str, dict[str, str]]:
    """What `worker.bootstrap` makes importable in an interpreter that may lack it, and where it is."""
    return {
        "packages": {
            "inductor_debug": str(Path(inductor_debug.__file__).parent),
            "inductor_debug_schema": str(Path(inductor_debug_schema.__file__).parent),
        },
        "fallback_packages": {"msgpack": _package_folder("msgpack")},
    }


def _package_folder(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent)
