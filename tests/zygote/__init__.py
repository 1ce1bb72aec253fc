"""Processes that tests get at once: how the zygotes are started, and how pools and test processes are told of them.

`process.py` is a zygote, `request.py` what asks one. `bootstrap.py` runs where users have `worker/bootstrap.py`,
`command.py` is the command line for tests that need it as a process, `python.py` what xdist starts as its test
processes. Tests of the start itself give their pool a plain `WorkerEntry()` and run `python -m inductor_debug`.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from inductor_debug.engine.pool import supervisor
from inductor_debug.engine.pool.launch import WorkerEntry

from zygote.request import address

FOLDER = Path(__file__).parent
COMMAND = [sys.executable, str(FOLDER / "command.py")]
"""`inductor-debug`, as a process."""
PYTHON = shlex.join([sys.executable, str(FOLDER / "python.py")])
"""A Python for xdist's specifications."""


def use() -> None:
    """Has the fork servers of this process made by the zygote, if one runs, unless a pool is told what to run.

    Their workers do not rehearse while they wait for a job: that is for those who wait for them, and costs a tenth of
    the time of these tests. `tests/engine/test_real_workers.py` has them as users do.
    """
    if "INDUCTOR_DEBUG_ZYGOTES" in os.environ:
        supervisor.WorkerEntry = partial(WorkerEntry, script=FOLDER / "bootstrap.py", rehearsal="")  # type: ignore[misc]


@contextlib.contextmanager
def running() -> Iterator[None]:
    """Zygotes for this process and its children, with torch and with the command line; each loads when first asked."""
    with tempfile.TemporaryDirectory(prefix="zygotes-") as folder, contextlib.ExitStack() as stack:
        for name in ("torch", "command"):
            stack.enter_context(_zygote(name, folder, sys.executable))
        os.environ["INDUCTOR_DEBUG_ZYGOTES"] = folder
        try:
            yield
        finally:
            del os.environ["INDUCTOR_DEBUG_ZYGOTES"]


@contextlib.contextmanager
def running_for(interpreter: str) -> Iterator[None]:
    """A zygote for the fork servers of another interpreter, where this run has zygotes."""
    folder = os.environ.get("INDUCTOR_DEBUG_ZYGOTES")
    with _zygote("torch", folder, interpreter) if folder else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def running_alone() -> Iterator[None]:
    """A zygote that has torch and none of our modules, for fork servers with a variable of `torch_names/`."""
    with contextlib.ExitStack() as stack:
        folder = os.environ.get("INDUCTOR_DEBUG_ZYGOTES")
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="zygotes-"))
            stack.callback(os.environ.pop, "INDUCTOR_DEBUG_ZYGOTES", None)
            os.environ["INDUCTOR_DEBUG_ZYGOTES"] = folder
        stack.enter_context(_zygote("torch alone", folder, sys.executable))
        yield


@contextlib.contextmanager
def _zygote(name: str, folder: str, interpreter: str) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address(folder, name, interpreter))
        listener.listen(64)
        process = subprocess.Popen(
            [interpreter, str(FOLDER / "process.py"), name, str(listener.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=(listener.fileno(),),
            env={**os.environ, "PYTHONHASHSEED": "0"},
            start_new_session=True,
        )
        try:
            yield
        finally:
            process.kill()
            process.wait()
