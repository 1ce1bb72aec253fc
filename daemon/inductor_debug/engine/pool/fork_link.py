"""The supervisor's end of one fork server: spawn it, order workers from it, learn of their ends.

A link lives as long as its process. When the process goes, the link is dead for good and its workers count as killed;
whether another one is started is the pool's business.
"""

from __future__ import annotations

import asyncio
import itertools
import signal
import socket
import subprocess
from collections.abc import Callable
from typing import Any

from inductor_debug.engine.pool.job_log import OutputSpool, ProjectLog
from inductor_debug.engine.pool.launch import START_SECONDS, Launch
from inductor_debug.engine.pool.worker_handle import Channel, Worker
from inductor_debug.engine.pool.worker_source import ServerLostError
from inductor_debug.system import processes
from inductor_debug.worker.frames import FrameError, FrameReader, Message, encode
from inductor_debug.worker.protocol import MessageKind

_ANSWER_SECONDS = 90.0
"""A fork server that imports a big module does not answer meanwhile; beyond this it hangs."""

_EXIT_SECONDS = 1.5
"""How long a fork server that was told to go may take to sweep up."""


class ForkServerLink:
    """A running fork server."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket, output: OutputSpool) -> None:
        self._process = process
        self._control = control
        self._output = output
        self._frames = FrameReader()
        self._numbers = itertools.count(1)
        self._workers: dict[int, Worker] = {}
        self._forked: dict[int, asyncio.Future[None]] = {}
        self.alive = True
        self.on_learned: Callable[[Message], None] = lambda _message: None
        self.greeting: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(control, self._read)

    @classmethod
    async def open(cls, launch: Launch, log: ProjectLog) -> ForkServerLink:
        """Spawns a fork server and waits until it is warm.

        Raises:
            StartFailedError: it does not come up.
        """
        launch.check()
        output = OutputSpool(log)
        ours, theirs = socket.socketpair()
        with theirs:
            command = launch.command("inductor_debug.worker.fork_server", theirs.fileno())
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output.fileno(),
                    stderr=output.fileno(),
                    pass_fds=(theirs.fileno(),),
                    cwd=launch.project_root,
                    env=launch.environ(),
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                output.close()
                raise launch.cannot_run(error) from None
        ours.setblocking(False)
        link = cls(process, ours, output)
        try:
            await asyncio.wait_for(asyncio.shield(link.greeting), START_SECONDS)
        except asyncio.TimeoutError:
            await link.close()
            raise launch.late() from None
        except ServerLostError:
            raise launch.died(await link.close(), output.tail()) from None
        except BaseException:
            await link.close()
            raise
        output.pump()
        return link

    @property
    def workers(self) -> int:
        """How many workers it has."""
        return len(self._workers)

    async def order(self, log: ProjectLog, *, rehearse: bool) -> Worker:
        """Has a worker forked, which gets itself warm before it looks at its job if it is to `rehearse`.

        Raises:
            ServerLostError: the fork server is gone.
        """
        number = next(self._numbers)
        answer = self._forked[number] = asyncio.get_running_loop().create_future()
        ours, theirs = socket.socketpair()
        with theirs:
            output = OutputSpool(log)
            try:
                reader, writer = await asyncio.open_connection(sock=ours)
            except BaseException:
                ours.close()
                raise
            worker = Worker(
                Channel(reader, writer), output, lambda: self._send({"kind": MessageKind.KILL.value, "worker": number})
            )
            self._workers[number] = worker
            fork = {"kind": MessageKind.FORK.value, "worker": number, "rehearse": rehearse}
            self._send(fork, theirs.fileno(), output.fileno())
        try:
            if not self.alive:
                raise ServerLostError("the fork server is gone")
            await asyncio.wait_for(answer, _ANSWER_SECONDS)
        except asyncio.TimeoutError:
            worker.dispose()
            self._lose()
            raise ServerLostError("the fork server does not answer") from None
        except BaseException:
            worker.dispose()
            raise
        finally:
            self._forked.pop(number, None)
        return worker

    def learn(self, modules: list[str]) -> None:
        """Asks for third-party modules to be imported; `on_learned` tells of the end."""
        self._send({"kind": MessageKind.LEARN.value, "modules": modules})

    async def close(self) -> int | None:
        """Ends the process and all below it; returns its status, None if it had to be killed."""
        starting = not self.greeting.done()
        self._lose()
        if starting:  # it imports torch, so it would not notice us, and it has no workers to sweep up yet
            processes.kill_group(self._process.pid)
            self._process.wait()
            self._output.close()
            return None
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _EXIT_SECONDS
        while self._process.poll() is None and loop.time() < deadline:
            await asyncio.sleep(0.01)
        status = self._process.poll()
        if status is None:
            self._process.kill()
            self._process.wait()
        self._output.close()
        return status

    def _send(self, message: Message, *descriptors: int) -> None:
        if not self.alive:
            return
        try:
            data = encode(message)
            if descriptors:
                sent = socket.send_fds(self._control, [data], list(descriptors))
            else:
                sent = self._control.send(data)
        except OSError:
            sent = -1
        if sent != len(data):
            self._lose()

    def _read(self) -> None:
        try:
            data = self._control.recv(1 << 16)
            messages = self._frames.feed(data)
        except BlockingIOError:
            return
        except (OSError, FrameError):
            data, messages = b"", []
        for message in messages:
            self._take(message)
        if not data:
            self._lose()

    def _take(self, message: dict[str, Any]) -> None:
        kind = message.get("kind")
        number = message.get("worker")
        if kind == MessageKind.READY.value and not self.greeting.done():
            self.greeting.set_result(message)
        elif kind == MessageKind.LEARNED.value:
            self._output.pump()
            self.on_learned(message)
        elif kind == MessageKind.FORKED.value and number in self._workers:
            self._workers[number].pid = message["pid"]
            answer = self._forked.get(number)
            if answer is not None and not answer.done():
                answer.set_result(None)
        elif kind == MessageKind.EXITED.value and number in self._workers:
            self._workers.pop(number).set_exited(message["status"])

    def _lose(self) -> None:
        """Lets go of the process: it sees the end of its control channel, kills its workers and ends."""
        if not self.alive:
            return
        self.alive = False
        asyncio.get_running_loop().remove_reader(self._control)
        self._control.close()
        awaited: list[asyncio.Future[Any]] = [self.greeting, *self._forked.values()]
        for future in awaited:
            if not future.done():
                future.set_exception(ServerLostError("the fork server is gone"))
                future.exception()  # somebody may have stopped waiting
        for worker in self._workers.values():
            if worker.pid is not None and not worker.exited.done():
                processes.kill_group(worker.pid)  # a server that died cannot sweep up itself
            worker.set_exited(-signal.SIGKILL)
        self._workers.clear()
