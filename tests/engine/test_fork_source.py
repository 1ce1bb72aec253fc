"""Which workers a fork server is asked for, and when."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from inductor_debug.engine.pool import fork_source
from inductor_debug.engine.pool.fork_source import ForkSource
from inductor_debug.engine.pool.job_log import ProjectLog
from inductor_debug.engine.pool.launch import Launch, WorkerEntry
from inductor_debug.worker.frames import Message


class CountingLink:
    """Stands for a fork server: notes what is ordered."""

    alive = True
    workers = 0

    def __init__(self) -> None:
        self.ordered: list[bool] = []
        self.greeting: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.greeting.set_result({})

    async def order(self, _log: ProjectLog, *, rehearse: bool) -> Any:
        """Notes whether the worker is to get itself warm."""
        self.ordered.append(rehearse)
        return SimpleNamespace(exited=asyncio.get_running_loop().create_future())


@pytest.mark.parametrize(("one_job", "orders"), [(True, 1), (False, 2)])
async def test_a_worker_is_forked_ahead_only_where_another_job_may_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_job: bool, orders: int
) -> None:
    link = CountingLink()

    async def opened(_launch: Launch, _log: ProjectLog) -> Any:
        return link

    monkeypatch.setattr(fork_source.ForkServerLink, "open", opened)
    launch = Launch("python", str(tmp_path), {}, WorkerEntry())
    source = ForkSource(launch, ProjectLog(tmp_path / "worker.log"), one_job=one_job)
    await source.start()
    assert cast("Any", await source.take()).exited
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(link.ordered) == orders
    await source.take()
    assert len(link.ordered) >= 2, "the next job has a worker all the same"
