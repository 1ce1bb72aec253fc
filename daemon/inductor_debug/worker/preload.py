"""Importing, ahead of time, the third-party modules that a project uses.

Every module is first imported on trial, in a forked child: one that starts threads, initialises an accelerator, drags
in the user's own files, crashes or hangs shows it there, and the fork server never touches it. Only what passed is
imported for good. This module decides nothing about which modules are worth it; the supervisor asks.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import sysconfig
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from inductor_debug.capture.runtime import foreign
from inductor_debug.system import processes

_TRIAL_SECONDS = 60
"""A module that takes longer to import is refused."""

_ACCELERATORS = ("cuda", "xpu", "mtia")
"""Modules of torch that say by `is_initialized` whether their device is in use."""


@dataclass
class LearningOutcome:
    """What became of the modules asked for: `imported` ones, and reasons for the `refused`."""

    imported: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


class Preloader:
    """Modules on their way from asked for, over tried, to imported."""

    def __init__(self, project_root: str) -> None:
        self._project_root = os.path.realpath(project_root)
        self._waiting: list[str] = []
        self._passed: list[str] = []
        self._refused: dict[str, str] = {}
        self._report = -1
        self.trial: int | None = None
        """The process that tries imports, while there is one."""

    def ask(self, modules: list[str]) -> None:
        """Adds modules to try, in the order given."""
        known = {*self._waiting, *self._passed, *self._refused, *sys.modules}
        self._waiting += [name for name in modules if name not in known]

    def start_trial(self, detach: Callable[[], None]) -> bool:
        """Forks a child that tries what waits; False if nothing waits. True also while a trial runs.

        Args:
            detach: called first in the child, to let go of the server.
        """
        if self.trial is not None:
            return True
        if not self._waiting:
            return False
        self._report, write_end = os.pipe()
        self.trial = os.fork()
        if self.trial == 0:
            try:
                os.setsid()
                detach()
                os.close(self._report)
                self._try(write_end)
            finally:
                os._exit(1)
        os.close(write_end)
        return True

    def ended(self, pid: int, status: int) -> bool:
        """Takes note of a child's end; says whether it was the trial."""
        if pid != self.trial:
            return False
        self.trial = None
        with os.fdopen(self._report, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        for line in lines:
            verdict, _, rest = line.partition(" ")
            name, _, reason = rest.partition(" ")
            if name not in self._waiting:
                continue
            self._waiting.remove(name)
            if verdict == "passed":
                self._passed.append(name)
            else:
                self._refused[name] = reason
        if status != 0 and self._waiting:
            # It died of the first module that it did not report.
            self._refused[self._waiting.pop(0)] = f"importing it ended the process with status {status}"
        return True

    def finish(self) -> LearningOutcome | None:
        """Imports for good what passed; None if there was nothing to learn."""
        if not self._passed and not self._refused:
            return None
        outcome = LearningOutcome(refused=dict(self._refused))
        for name in self._passed:
            # It passed a moment ago, but a third party may do anything.
            with contextlib.suppress(Exception):
                importlib.import_module(name)
                outcome.imported.append(name)
        self._passed.clear()
        return outcome

    def _try(self, report: int) -> NoReturn:
        """In the trial child: imports one by one and reports each, until one would make forking unsafe."""
        if hasattr(signal, "alarm"):
            signal.alarm(_TRIAL_SECONDS)
        threads = processes.thread_count()
        for name in self._waiting:
            known = set(sys.modules)
            try:
                importlib.import_module(name)
            except BaseException as error:
                reason = f"{type(error).__name__}: {error}"
                os.write(report, f"refused {name} {' '.join(reason.split())[:300]}\n".encode("utf-8", "replace"))
                continue
            objection = self._objection(known, threads)
            if objection:
                os.write(report, f"refused {name} {objection}\n".encode("utf-8", "replace"))
                break
            os.write(report, f"passed {name}\n".encode())
        os._exit(0)

    def _objection(self, known: set[str], threads: int) -> str:
        """Why the process could no longer be forked safely; empty if it can."""
        if threading.active_count() > 1 or processes.thread_count() > threads:
            return "it starts threads"
        torch = sys.modules.get("torch")
        for name in _ACCELERATORS:
            with contextlib.suppress(Exception):
                if getattr(torch, name).is_initialized():
                    return f"it initialises {name}"
        for name in set(sys.modules) - known:
            path = foreign.file_of(sys.modules.get(name))
            if path is not None and is_project_file(path, self._project_root):
                return f"it imports the project's own {os.path.basename(path)}"
        return ""


def is_project_file(path: str, project_root: str) -> bool:
    """Whether a module's file is the user's own: below the project, but not installed there."""
    path = os.path.realpath(path)
    if not path.startswith(project_root.rstrip(os.sep) + os.sep):
        return False
    installed = {os.path.realpath(folder) for folder in sysconfig.get_paths().values()}
    if any(path.startswith(folder + os.sep) for folder in installed if folder != project_root):
        return False
    parts = path.split(os.sep)
    return "site-packages" not in parts and "dist-packages" not in parts
