"""A process that has imported torch and warmed up once, and that becomes a fork server wherever a test needs one.

A fork server costs three seconds of processor time before it is ready, the same each time. Where a test is about what
workers answer, and not about how their server starts, `bootstrap.py` of this folder runs in place of the worker's and
has one forked here: the same code from `fork_server.main` on, with the caller's environment, folder and descriptors.
What was settled when this process started and cannot be made up for (the interpreter, what libraries read when they
are loaded) must be the caller's, or the answer is no and the caller starts as users' fork servers do.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import random
import selectors
import signal
import socket
import struct
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, NoReturn

from inductor_debug.system import processes

SIZE = struct.Struct("!I")
STATUS = struct.Struct("!i")
YES, NO = b"y", b"n"
READ_AT_START = ("PYTHON", "LD_", "TORCH", "PYTORCH", "OMP_", "MKL_", "OPENBLAS_", "KMP_", "CUDA_", "TMPDIR", "HOME")
"""How the names of variables begin that Python or libraries read once."""

GREETING: dict[str, Any] = {}


def greeting() -> dict[str, Any]:
    """What the warm-up told, in place of another one."""
    return GREETING


def settled(environment: dict[str, str]) -> dict[str, str]:
    """The variables that must be the same here and there."""
    return {name: value for name, value in environment.items() if name.startswith(READ_AT_START)}


class Zygote:
    """The loop: requests from callers, their going away, ends of children."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._told = settled(dict(os.environ))
        self._configuration: dict[str, Any] | None = None
        self._callers: dict[int, socket.socket] = {}
        """By the process forked for it."""
        self._wake_read, self._wake_write = os.pipe()
        self._selector = selectors.DefaultSelector()

    def serve(self) -> NoReturn:
        """Serves until its parent ends it."""
        for descriptor in (self._wake_read, self._wake_write):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._wake_read, selectors.EVENT_READ, self._reap)
        while True:
            for key, _ in self._selector.select():
                key.data()

    def _accept(self) -> None:
        caller, _ = self._listener.accept()
        try:
            request, descriptors = _read(caller)
        except (OSError, ValueError):
            caller.close()
            return
        if not self._serves(request):
            with contextlib.suppress(OSError):
                caller.sendall(NO)
            caller.close()
        else:
            pid = os.fork()
            if pid == 0:
                self._become_fork_server(request, descriptors, caller)
            self._callers[pid] = caller
            self._selector.register(caller, selectors.EVENT_READ, lambda: self._heard(pid))
            with contextlib.suppress(OSError):
                caller.sendall(YES)
        for descriptor in descriptors:
            os.close(descriptor)

    def _serves(self, request: dict[str, Any]) -> bool:
        wanted = {**request["configuration"], "control": None, "project_root": None, "die_with_parent": None}
        if self._configuration is None:
            warm_up(request["bootstrap"], wanted)
            self._configuration = wanted
        here = settled(dict(os.environ))
        by_warm_up = {name: value for name, value in here.items() if name not in self._told}
        there = {**by_warm_up, **settled(request["environment"])}
        return request["interpreter"] == sys.executable and wanted == self._configuration and there == here

    def _heard(self, pid: int) -> None:
        """Passes the caller's signal on; a caller that was killed takes its process with it."""
        caller = self._callers.get(pid)
        if caller is None:  # it ended at the same time
            return
        said = b""
        with contextlib.suppress(OSError):
            said = caller.recv(1)
        os.kill(pid, signal.SIGTERM if said else signal.SIGKILL)
        if not said:
            self._selector.unregister(caller)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 4096)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                caller = self._callers.pop(ended[0])
                with contextlib.suppress(KeyError):
                    self._selector.unregister(caller)
                with contextlib.suppress(OSError):
                    caller.sendall(STATUS.pack(os.waitstatus_to_exitcode(ended[1])))
                caller.close()

    def _become_fork_server(self, request: dict[str, Any], descriptors: list[int], caller: socket.socket) -> NoReturn:
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            for held in (self._listener, caller, *self._callers.values()):
                held.close()
            for number, descriptor in enumerate(descriptors[:3]):
                os.dup2(descriptor, number)
                os.close(descriptor)
            os.close(self._wake_read)
            os.close(self._wake_write)
            os.environ.clear()
            os.environ.update(request["environment"])
            os.chdir(request["folder"])
            random.seed()
            configuration = {**request["configuration"], "control": descriptors[3], "warm_up": "__main__:greeting"}
            importlib.import_module(configuration["role"]).main(configuration)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)


def warm_up(bootstrap: str, configuration: dict[str, Any]) -> None:
    """Does once what a fork server does before it is ready."""
    spec = importlib.util.spec_from_file_location("bootstrap", bootstrap)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make_packages_importable(configuration)
    job = importlib.import_module("inductor_debug.worker.job")
    GREETING.update(job.resolve(configuration["warm_up"])())
    importlib.import_module(configuration["role"])
    tempfile.tempdir = None
    gc.collect()
    gc.freeze()


def _read(caller: socket.socket) -> tuple[dict[str, Any], list[int]]:
    header, descriptors, _, _ = socket.recv_fds(caller, SIZE.size, 8)
    (size,) = SIZE.unpack(header)
    data = b""
    while len(data) < size:
        part = caller.recv(size - len(data))
        if not part:
            raise ValueError("the caller is gone")
        data += part
    return json.loads(data), list(descriptors)


if __name__ == "__main__":
    own_folder = str(Path(__file__).resolve().parent)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != own_folder]
    listening = socket.socket(fileno=int(sys.argv[1]))
    sys.argv[:] = [""]
    processes.die_with_parent(signal.SIGKILL)
    Zygote(listening).serve()
