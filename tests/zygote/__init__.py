"""Fork servers that tests get at once: how the zygote is started, and how pools are told of it.

`process.py` is the zygote, `bootstrap.py` what runs where users have `worker/bootstrap.py`, `command.py` the command
line for tests that need it as a process. Tests of the start itself give their pool a plain `WorkerEntry()`.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from inductor_debug.engine.pool import supervisor
from inductor_debug.engine.pool.launch import WorkerEntry

FOLDER = Path(__file__).parent
COMMAND = [sys.executable, str(FOLDER / "command.py")]
"""`inductor-debug`, as a process."""


def use() -> None:
    """Has the fork servers of this process made by the zygote, if one runs, unless a pool is told what to run."""
    if "INDUCTOR_DEBUG_ZYGOTE" in os.environ:
        supervisor.WorkerEntry = partial(WorkerEntry, script=FOLDER / "bootstrap.py")  # type: ignore[misc]


@contextlib.contextmanager
def running() -> Iterator[None]:
    """A zygote for this process and its children. It costs nothing until it is first asked."""
    with tempfile.TemporaryDirectory(prefix="zygote-") as folder, socket.socket(socket.AF_UNIX) as listener:
        address = os.path.join(folder, "socket")
        listener.bind(address)
        listener.listen(64)
        process = subprocess.Popen(
            [sys.executable, str(FOLDER / "process.py"), str(listener.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=(listener.fileno(),),
            env={**os.environ, "PYTHONHASHSEED": "0"},
            start_new_session=True,
        )
        os.environ["INDUCTOR_DEBUG_ZYGOTE"] = address
        try:
            yield
        finally:
            del os.environ["INDUCTOR_DEBUG_ZYGOTE"]
            process.kill()
            process.wait()
