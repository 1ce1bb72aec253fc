"""Workers that are warm processes of their own, where there is no `fork`: one job each, the next made ahead of time."""

from __future__ import annotations

import asyncio
import contextlib

from inductor_debug.engine.pool.job_log import OutputSpool, ProjectLog
from inductor_debug.engine.pool.launch import START_SECONDS, Launch, StartFailedError
from inductor_debug.engine.pool.worker_handle import Channel, Worker
from inductor_debug.engine.pool.worker_source import ReadyWorker
from inductor_debug.worker.frames import FrameError, Message
from inductor_debug.worker.protocol import MessageKind


class SpareSource:
    """Workers that are warm processes of their own, one job each."""

    def __init__(self, launch: Launch, log: ProjectLog) -> None:
        self._launch = launch
        self._log = log
        self._ready = ReadyWorker(lambda: asyncio.ensure_future(self._spawn()))
        self._running: set[Worker] = set()
        self.alive = False
        self.greeting: Message = {}

    async def start(self) -> None:
        """Spawns the first spare and waits until it is warm."""
        worker = await self._spawn()
        self._ready = ReadyWorker(lambda: asyncio.ensure_future(self._spawn()))
        self._ready.keep(worker)
        self.alive = True

    async def take(self) -> Worker:
        """The spare; the next one is started."""
        worker = await self._ready.take()
        try:
            return worker or await self._spawn()
        except StartFailedError:
            self.alive = False
            raise
        finally:
            if self.alive:
                self._ready.prepare()

    def learn(self, modules: list[str]) -> None:
        """A spare serves one job and would import them no earlier than that."""

    async def close(self) -> None:
        """Ends all processes."""
        self.alive = False
        self._ready.drop()
        running = list(self._running)
        for worker in running:
            worker.dispose()
        if running:
            await asyncio.wait([worker.exited for worker in running], timeout=1.5)

    async def _spawn(self) -> Worker:
        self._launch.check()
        output = OutputSpool(self._log)
        try:
            process = await asyncio.create_subprocess_exec(
                *self._launch.command("inductor_debug.worker.spare", None),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=output.fileno(),
                cwd=self._launch.project_root,
                env=self._launch.environ(),
                start_new_session=True,
            )
        except OSError as error:
            output.close()
            raise self._launch.cannot_run(error) from None
        assert process.stdout is not None
        assert process.stdin is not None
        worker = Worker(Channel(process.stdout, process.stdin), output, lambda: None)
        worker.pid = process.pid
        self._running.add(worker)
        worker.follow(process.wait())
        worker.exited.add_done_callback(lambda _future: self._running.discard(worker))
        try:
            await self._greet(worker)
        except BaseException:
            worker.dispose()
            raise
        return worker

    async def _greet(self, worker: Worker) -> None:
        """Waits until the process is warm."""
        try:
            message = await asyncio.wait_for(worker.channel.receive(), START_SECONDS)
        except asyncio.TimeoutError:
            raise self._launch.late() from None
        except FrameError:
            message = None
        if message is None or message.get("kind") != MessageKind.READY.value:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(worker.exited), 1.0)
            status = worker.exited.result() if worker.exited.done() else None
            raise self._launch.died(status, worker.output.tail())
        worker.output.pump()
        self.greeting = message
