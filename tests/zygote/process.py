"""A zygote: a process that has loaded what starts slowly, and forks what tests need at once.

One of them has imported torch and Inductor and warmed up, which costs six seconds of processor time. It becomes fork
servers, where a test is about what workers answer and not about how their server starts (`bootstrap.py` runs in place
of the worker's: the same code from `fork_server.main` on), and the test processes of xdist. The other has no torch and
becomes the command line and its servers. Each forked process gets its caller's environment, folder and descriptors.
Folders that the caller's PYTHONPATH has before the zygote's come first, where nothing that is loaded would be found in
them. What else was settled when the zygote started and cannot be made up for (what libraries read when they are loaded)
must be the caller's, or the answer is no and the caller starts as users' processes do. The interpreter is the caller's:
there is a zygote for each.
"""

from __future__ import annotations

import contextlib
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
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, Protocol

from inductor_debug.system import leash
from sharing import settle

SIZE = struct.Struct("!I")
STATUS = struct.Struct("!i")
YES, NO = b"y", b"n"
READ_AT_START = ("PYTHON", "LD_", "LC_", "LANG", "TORCH", "PYTORCH", "OMP_", "MKL_", "OPENBLAS_", "KMP_", "CUDA_")
"""How the names of variables begin that Python or libraries read once."""
PLACES = ("TMPDIR", "HOME")
LOOKED_FOR_AT_START = ("sitecustomize", "usercustomize")
"""Modules that Python imports before anything else, where there are any."""

Request = dict[str, Any]
"""What `request.ask` sends."""


def settled(environment: dict[str, str]) -> dict[str, str]:
    """The variables that must be the same here and there; strings are hashed here as fork servers have them."""
    read = {name: value for name, value in environment.items() if name.startswith((*READ_AT_START, *PLACES))}
    for name in ("PYTHONPATH", "PYTHON"):  # which is added below, and which is the action's, not Python's
        read.pop(name, None)
    return {**read, "PYTHONHASHSEED": "0"}


def before_ours(there: dict[str, str]) -> list[str] | None:
    """What the caller's PYTHONPATH has before the folders of this process; None where they cannot just be added."""
    ours, theirs = path_of(dict(os.environ)), path_of(there)
    added = theirs[: len(theirs) - len(ours)]
    if [*added, *ours] != theirs:
        return None
    looked_for = {*sys.modules, *LOOKED_FOR_AT_START}
    found = {name.partition(".")[0] for folder in added if os.path.isdir(folder) for name in os.listdir(folder)}
    return None if found & looked_for else added


def path_of(environment: dict[str, str]) -> list[str]:
    """The folders of PYTHONPATH."""
    return [folder for folder in environment.get("PYTHONPATH", "").split(os.pathsep) if folder]


class Warm(Protocol):
    """What a zygote has loaded, and what it becomes."""

    def load(self) -> None:
        """Does once what each of the forked processes would do first."""

    def serves(self, request: Request) -> bool:
        """Whether the forked process would be what was asked for."""

    def work(self, request: Request, descriptors: list[int]) -> None:
        """What the forked process does, to its end."""


class WithTorch:
    """Fork servers, and Pythons that run one program."""

    def __init__(self) -> None:
        self._configuration: dict[str, Any] = {}
        self._greeting: dict[str, Any] = {}

    def load(self) -> None:
        """Imports torch and warms up as a fork server does."""
        launch = importlib.import_module("inductor_debug.engine.pool.launch")
        entry = launch.WorkerEntry(rehearsal="")
        as_usual = launch.Launch(sys.executable, "", {}, entry).command("inductor_debug.worker.fork_server", None)
        self._configuration = without_place(json.loads(as_usual[-1]))
        spec = importlib.util.spec_from_file_location("bootstrap", entry.script)
        assert spec is not None
        assert spec.loader is not None
        bootstrap = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(bootstrap)
        bootstrap.make_packages_importable(self._configuration)
        job = importlib.import_module("inductor_debug.worker.job")
        # Before anything is compiled: then also a CUDA build of torch finds no device, for which autograd would have
        # a thread, and no process that is forked later could run a backward pass.
        importlib.import_module("torch").ones(1, requires_grad=True).sum().backward()
        self._greeting = job.resolve(self._configuration["warm_up"])()
        _load_inductor()
        importlib.import_module(self._configuration["role"])
        tempfile.tempdir = None

    def serves(self, request: Request) -> bool:
        return request["kind"] == "python" or without_place(request["configuration"]) == self._configuration

    def work(self, request: Request, descriptors: list[int]) -> None:
        registry = importlib.import_module("torch._dynamo.backends.registry")
        for looked_once in (registry._lazy_import, registry._discover_entrypoint_backends):
            looked_once.cache_clear()  # packages of the caller's may offer others
        if request["kind"] == "python":
            reopen_streams()
            sys.argv[:], sys.path[:] = ["-c"], ["", *sys.path]
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(request["program"], vars(main))
        else:
            vars(sys.modules["__main__"])["greeting"] = lambda: self._greeting  # in place of another warm-up
            configuration = {**request["configuration"], "control": descriptors[0], "warm_up": "__main__:greeting"}
            importlib.import_module(configuration["role"]).main(configuration)


def _load_inductor() -> None:
    """What the first job that asks for kernels waits a second for, in every process."""
    with contextlib.suppress(ImportError):
        importlib.import_module("tqdm").tqdm.monitor_interval = 0  # a thread of its own, that no forked process has
    warm_up = importlib.import_module("inductor_debug.worker.warm_up")
    stages = importlib.import_module("inductor_debug_schema").Stage
    warm_up.analyze_and_forget(warm_up.SMALL, [stages.INDUCTOR])


def without_place(configuration: dict[str, Any]) -> dict[str, Any]:
    """What fork servers of all projects have in common."""
    return {**configuration, "control": None, "project_root": None, "die_with_parent": None}


class WithTorchAlone:
    """Fork servers that import our modules anew, each with what it is told that torch lacks (`torch_names/`)."""

    def __init__(self) -> None:
        self._begin: Callable[[], None] = lambda: None

    def load(self) -> None:
        """Imports torch, and what it imports itself to compile something; none of our modules that ask it anything."""
        torch = importlib.import_module("torch")
        torch.ones(1, requires_grad=True).sum().backward()  # for the reason that `WithTorch` has
        importlib.import_module("torch._inductor.compile_fx")
        torch.compile(torch.nn.Linear(2, 2), backend="aot_eager")(torch.ones(2, 2)).sum().backward()
        importlib.import_module("torch._dynamo").reset()
        spec = importlib.util.spec_from_file_location(
            "looked_up", Path(__file__).resolve().parents[1] / "torch_names" / "looked_up.py"
        )
        assert spec is not None
        assert spec.loader is not None
        looked_up = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(looked_up)
        package = importlib.util.find_spec("inductor_debug")
        assert package is not None
        assert package.origin is not None
        self._begin = looked_up.install(os.path.dirname(package.origin))
        tempfile.tempdir = None

    def serves(self, request: Request) -> bool:
        return bool(request["kind"] == "fork server")

    def work(self, request: Request, descriptors: list[int]) -> None:
        self._begin()
        configuration = {**request["configuration"], "control": descriptors[0]}
        importlib.import_module("inductor_debug.worker.bootstrap").make_packages_importable(configuration)
        importlib.import_module(configuration["role"]).main(configuration)


class WithCommandLine:
    """`inductor-debug`."""

    def load(self) -> None:
        """Imports the command line, and what is imported when it is asked for a server or a check."""
        for name in ("cli.main", "cli.commands.check", "cli.commands.serve", "cli.commands.watch", "server.factory"):
            importlib.import_module(f"inductor_debug.{name}")

    def serves(self, request: Request) -> bool:
        return bool(request["kind"] == "command")

    def work(self, request: Request, descriptors: list[int]) -> None:
        reopen_streams()
        run_command(request["words"])


def run_command(words: list[str]) -> NoReturn:
    """Runs `inductor-debug` with fork servers of the zygote."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    zygote = importlib.import_module("zygote")
    del sys.path[0]
    zygote.use()
    if words[:1] == ["watch"]:  # which starts a server
        from functools import partial

        from inductor_debug.server.rpc import headless_client

        headless_client.HeadlessEditor = partial(headless_client.HeadlessEditor, [*zygote.COMMAND, "serve"])
    from inductor_debug.cli.main import main

    sys.exit(main(words))


def reopen_streams() -> None:
    """Standard input and output with nothing in their buffers."""
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # type: ignore[misc]  # noqa: SIM115


class Zygote:
    """The loop: requests from callers, their signals and their going away, ends of children."""

    def __init__(self, listener: socket.socket, warm: Warm) -> None:
        self._listener = listener
        self._warm = warm
        self._told = settled(dict(os.environ))
        self._loaded = False
        self._forked: Callable[[], None] | None = None
        """In a forked process: what it does."""
        self._callers: dict[int, socket.socket] = {}
        """By the process forked for it."""
        self._wake_read, self._wake_write = os.pipe()
        self._selector = selectors.DefaultSelector()

    def serve(self) -> Callable[[], None]:
        """Serves until its parent ends it; comes back in forked processes alone, with what they are to do."""
        for descriptor in (self._wake_read, self._wake_write):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._wake_read, selectors.EVENT_READ, self._reap)
        while True:
            for key, _ in self._selector.select():
                key.data()
                if self._forked is not None:
                    return self._forked

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
                self._become(request, descriptors, caller)
                return
            self._callers[pid] = caller
            self._selector.register(caller, selectors.EVENT_READ, lambda: self._heard(pid))
            with contextlib.suppress(OSError):
                caller.sendall(YES)
        for descriptor in descriptors:
            os.close(descriptor)

    def _serves(self, request: Request) -> bool:
        if not self._loaded:
            self._warm.load()
            settle()
            self._loaded = True
        here = settled(dict(os.environ))
        by_warm_up = {name: value for name, value in here.items() if name not in self._told}
        there = {**by_warm_up, **settled(request["environment"])}
        if there != here or before_ours(request["environment"]) is None:
            return False
        return self._warm.serves(request)

    def _heard(self, pid: int) -> None:
        """Passes the caller's signal on; a caller that was killed takes its process with it."""
        caller = self._callers.get(pid)
        if caller is None:  # it ended at the same time
            return
        said = b""
        with contextlib.suppress(OSError):
            said = caller.recv(1)
        os.kill(pid, said[0] if said else signal.SIGKILL)
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

    def _become(self, request: Request, descriptors: list[int], caller: socket.socket) -> None:
        """Makes a forked process one of the caller's, and says what it does."""
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
        sys.path[:0] = before_ours(request["environment"]) or []
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        random.seed()
        self._forked = lambda: self._warm.work(request, descriptors[3:])


def _read(caller: socket.socket) -> tuple[Request, list[int]]:
    header, descriptors, _, _ = socket.recv_fds(caller, SIZE.size, 8)
    if len(header) < SIZE.size:
        raise ValueError("the caller is gone")
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
    warm = {"torch": WithTorch, "torch alone": WithTorchAlone, "command": WithCommandLine}[sys.argv[1]]()
    listening = socket.socket(fileno=int(sys.argv[2]))
    sys.argv[:] = [""]
    leash.die_with_parent(signal.SIGKILL)
    Zygote(listening, warm).serve()()
