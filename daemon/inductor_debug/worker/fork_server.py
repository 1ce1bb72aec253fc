"""The warm process of one project: it has torch imported and forks a worker for every job.

It runs one thread, does no arithmetic and touches no accelerator, so that forking it is safe. It forks, reaps, kills
and imports third-party modules on request; it never reads a job, never runs user code and never outlives the
supervisor: when its control channel ends, it kills all that descends from it and goes.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import os
import signal
import socket
import time
from typing import Any, NoReturn

from inductor_debug.system import leash, processes
from inductor_debug.worker import descriptors, job
from inductor_debug.worker.frames import FrameReader, Message, write_frame
from inductor_debug.worker.preload import Preloader
from inductor_debug.worker.protocol import MessageKind

_LAST_SWEEP_SECONDS = 1.0
"""How long a closing server waits for killed descendants."""


def main(configuration: dict[str, Any]) -> NoReturn:
    """Warms up, then serves until the supervisor is gone."""
    started = time.monotonic()
    if configuration["die_with_parent"]:
        leash.die_with_parent(signal.SIGTERM)
    processes.adopt_orphans()
    control = socket.socket(fileno=descriptors.move_high(configuration["control"]))
    greeting = job.resolve(configuration["warm_up"])()
    function = job.resolve(configuration["job"])
    rehearsal = job.resolve(configuration["rehearsal"]) if configuration["rehearsal"] else None
    server = ForkServer(control, function, rehearsal, Preloader(configuration["project_root"]))
    gc.freeze()  # nothing is searched: imports leave no garbage, and a rehearsal collects its own
    leash.release()
    server.serve({**greeting, "seconds": time.monotonic() - started})


def freeze_heap() -> None:
    """Takes all that lives now out of the collector's sight: a collection in a worker then copies none of its pages."""
    gc.collect()
    gc.freeze()


class ForkServer:
    """The loop: orders from the control channel, ends of children from SIGCHLD."""

    def __init__(self, control: socket.socket, function: job.JobFunction, rehearsal: Any, preloader: Preloader) -> None:
        self._control = control
        self._function = function
        self._rehearsal = rehearsal
        self._preloader = preloader
        self._frames = FrameReader()
        self._arrived: collections.deque[int] = collections.deque()
        """Descriptors that came over the control channel and belong to orders not yet read."""
        self._workers: dict[int, int] = {}
        """Process id → worker number."""
        self._wake_read, self._wake_write = os.pipe()

    def serve(self, greeting: Message) -> NoReturn:
        """Says READY and obeys until the control channel ends."""
        for descriptor in (self._wake_read, self._wake_write):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._leave())
        self._say({"kind": MessageKind.READY.value, **greeting})
        while True:
            readable = descriptors.wait_readable([self._control.fileno(), self._wake_read])
            if self._wake_read in readable:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake_read, 4096)
                self._reap()
            if self._control.fileno() in readable:
                self._take_orders()

    def _say(self, message: Message) -> None:
        try:
            write_frame(self._control.fileno(), message)
        except OSError:
            self._leave()

    def _take_orders(self) -> None:
        try:
            data, arrived, _, _ = socket.recv_fds(self._control, 1 << 16, 64)
        except OSError:
            self._leave()
        self._arrived.extend(arrived)
        if not data:
            self._leave()
        for message in self._frames.feed(data):
            if message["kind"] == MessageKind.FORK.value:
                self._fork(message, self._arrived.popleft(), self._arrived.popleft())
            elif message["kind"] == MessageKind.KILL.value:
                self._kill(message["worker"])
            elif message["kind"] == MessageKind.LEARN.value:
                self._preloader.ask(message["modules"])
                self._continue_learning()

    def _fork(self, order: Message, channel: int, log: int) -> None:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                self._become_worker(parent, channel, log, rehearse=order["rehearse"])
            finally:
                os._exit(1)
        os.close(channel)
        os.close(log)
        self._workers[pid] = order["worker"]
        self._say({"kind": MessageKind.FORKED.value, "worker": order["worker"], "pid": pid})

    def _become_worker(self, parent: int, channel: int, log: int, *, rehearse: bool) -> NoReturn:
        """What the child does; whatever it raises ends it."""
        os.setsid()
        self._forget_server(parent)
        descriptors.redirect_standard_streams(log)
        channel = descriptors.move_high(channel)
        job.isolate()
        if rehearse and self._rehearsal is not None:
            self._rehearsal(lambda: bool(descriptors.wait_readable([channel], 0)))
        job.work(channel, channel, self._function)

    def _forget_server(self, parent: int) -> None:
        """Lets a forked child go of what makes the server the server."""
        leash.end_with(parent, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._control.close()
        for descriptor in (self._wake_read, self._wake_write, *self._arrived):
            os.close(descriptor)

    def _kill(self, number: int) -> None:
        for pid, known in self._workers.items():
            if known == number:
                processes.kill_group(pid)

    def _reap(self) -> None:
        """Collects every child that ended, and kills what it left behind.

        A worker is a subreaper: what descends from it stays below it while it lives, and becomes a child of this
        process when it dies. So a child that is neither worker nor trial is left over from a dead job.
        """
        while (ended := self._collect()) is not None:
            pid, status = ended
            number = self._workers.pop(pid, None)
            was_trial = self._preloader.ended(pid, status)
            self._kill_orphans()
            if number is not None:
                self._say({"kind": MessageKind.EXITED.value, "worker": number, "status": status})
            if was_trial:
                self._continue_learning()

    def _collect(self) -> tuple[int, int] | None:
        """Reaps one child that ended, its process group killed first; its id and status, or None if none ended."""
        try:
            if not hasattr(os, "waitid"):  # macOS before Python 3.13: looking and reaping are one step there
                pid, raw = os.waitpid(-1, os.WNOHANG)
                if pid:
                    processes.kill_group(pid)
                return (pid, os.waitstatus_to_exitcode(raw)) if pid else None
            # A zombie keeps its number, so that the group killed is still its own.
            seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if seen is None:
                return None
            processes.kill_group(seen.si_pid)
            return seen.si_pid, os.waitstatus_to_exitcode(os.waitpid(seen.si_pid, 0)[1])
        except ChildProcessError:
            return None

    def _kill_orphans(self) -> None:
        for pid in processes.children(os.getpid()):
            if pid not in self._workers and pid != self._preloader.trial:
                processes.kill_group(pid)

    def _continue_learning(self) -> None:
        """Starts the next trial import, or imports what the trials have let through."""
        parent = os.getpid()
        if self._preloader.start_trial(lambda: self._forget_server(parent)):
            return
        outcome = self._preloader.finish()
        if outcome is not None:
            freeze_heap()
            self._say({"kind": MessageKind.LEARNED.value, "modules": outcome.imported, "refused": outcome.refused})

    def _leave(self) -> NoReturn:
        """Kills all descendants and ends the process."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)
        deadline = time.monotonic() + _LAST_SWEEP_SECONDS
        known = {*self._workers, *([self._preloader.trial] if self._preloader.trial else [])}
        while time.monotonic() < deadline:
            for pid in {*known, *processes.children(os.getpid())}:
                processes.kill_group(pid)
            try:
                pid, _ = os.waitpid(-1, 0)
            except ChildProcessError:
                break
            known.discard(pid)
        os._exit(0)
