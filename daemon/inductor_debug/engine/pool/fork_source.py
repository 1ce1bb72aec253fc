"""Workers that are children of a fork server: cheap, and as many at once as are asked for."""

from __future__ import annotations

import asyncio

from inductor_debug.engine.pool.fork_link import ForkServerLink
from inductor_debug.engine.pool.job_log import ProjectLog
from inductor_debug.engine.pool.launch import Launch, StartFailedError
from inductor_debug.engine.pool.worker_handle import Worker
from inductor_debug.engine.pool.worker_source import ReadyWorker, ServerLostError
from inductor_debug.worker.frames import Message


class ForkSource:
    """Workers forked from a warm process, one ahead of time; with `one_job` none for jobs after the first."""

    def __init__(self, launch: Launch, log: ProjectLog, *, one_job: bool = False) -> None:
        self._launch = launch
        self._log = log
        self._one_job = one_job
        self._link: ForkServerLink | None = None
        self._learned: list[str] = []
        self._ready = ReadyWorker(lambda: asyncio.ensure_future(self._order(ahead=True)))
        self.greeting: Message = {}

    @property
    def alive(self) -> bool:
        """Whether the fork server runs."""
        return self._link is not None and self._link.alive

    async def start(self) -> None:
        """Spawns a fork server; the one before, if any, is gone or goes now."""
        await self._close_link()
        link = self._link = await ForkServerLink.open(self._launch, self._log)
        self.greeting = link.greeting.result()
        link.on_learned = self._take_learned
        if self._learned:
            link.learn(self._learned)
        self._ready.prepare()

    async def take(self) -> Worker:
        """The ready child, or one forked now."""
        worker = await self._ready.take()
        try:
            return worker or await self._order(ahead=False)
        except ServerLostError as error:
            raise StartFailedError(f"{error}; run the analysis again to start another one") from None
        finally:
            if self.alive and not self._one_job:
                self._ready.prepare()

    def learn(self, modules: list[str]) -> None:
        """Passes them on to the fork server."""
        if self._link is not None:
            self._link.learn(modules)

    async def close(self) -> None:
        """Ends the fork server and with it all workers."""
        await self._close_link()

    async def _close_link(self) -> None:
        self._ready.drop()
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    async def _order(self, *, ahead: bool) -> Worker:
        """Has a worker forked; one made ahead of time gets itself warm, unless jobs side by side need the cores."""
        if self._link is None:
            raise ServerLostError("the fork server is gone")
        return await self._link.order(self._log, rehearse=ahead and self._link.workers <= 1)

    def _take_learned(self, message: Message) -> None:
        modules = message["modules"]
        self._learned += [name for name in modules if name not in self._learned]
        if modules:  # the child that waits was forked before
            self._ready.drop()
            self._ready.prepare()
