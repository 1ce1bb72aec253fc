"""From what `--cluster` says to a Dask client: an embedded cluster, a scheduler's address or file, or a Python file.

`local[:N]` starts N workers of one thread here, which speak TLS with certificates made for this run: other users of the
machine could hand them tasks without. A Python file has a `cluster`, as dask-jobqueue and dask-kubernetes make them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import runpy
from collections.abc import AsyncIterator
from typing import Any

import dask
from distributed import Client, LocalCluster, Security, Status

from inductor_debug.cluster.cluster_errors import ClusterError

CONNECT_SECONDS = 30.0
RETRIES = 2
"""How often a task whose worker died is tried again, by an embedded cluster: others decide for themselves."""
SETTINGS = {
    "logging.distributed": "critical",
    "distributed.scheduler.allowed-failures": RETRIES,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.monitor-interval": "500ms",
}
"""What Dask is told of an embedded cluster. As it comes, a worker looks 160 times a second at what it does (profiler,
ticks, memory), which costs more than our tasks do. No model runs in it, and our processes have limits of their own.
"""
_NAME = "inductor-debug"
_LOOK_SECONDS = 1.0
_READABLE = ["msgpack"]
"""What may be read of what workers have made: texts and numbers. A pickled result is refused."""


def require_known(said: str) -> None:
    """Looks at what `--cluster` says.

    Raises:
        ClusterError: it is nothing that could be connected to.
    """
    if local_workers(said) is None and "://" not in said and not os.path.isfile(said):
        raise ClusterError(
            f"--cluster {said}: neither local, local:N, an address such as tcp://host:8786, nor a file: "
            "a scheduler's file (JSON), or Python with a `cluster`"
        )


@contextlib.asynccontextmanager
async def connected(said: str) -> AsyncIterator[Client]:
    """A client of what `--cluster` says, closed in the end with what was started for it.

    Raises:
        ClusterError: it cannot be had.
    """
    require_known(said)
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(dask.config.set({"distributed.admin.log-length": 0}))
        workers = local_workers(said)
        if workers is not None:
            stack.enter_context(dask.config.set(SETTINGS))
            cluster = await stack.enter_async_context(_embedded(workers))
            where: dict[str, Any] = {"address": cluster.scheduler_address, "security": cluster.security}
        elif "://" in said:
            where = {"address": said}
        elif said.endswith(".py"):
            own = await _own(said)
            stack.push_async_callback(asyncio.to_thread, own.close)
            where = {"address": own.scheduler_address, "security": getattr(own, "security", None)}
        else:
            where = {"scheduler_file": said}
        yield await stack.enter_async_context(_client(said, where))


@contextlib.asynccontextmanager
async def _client(said: str, where: dict[str, Any]) -> AsyncIterator[Client]:
    client = Client(
        **where, asynchronous=True, timeout=CONNECT_SECONDS, deserializers=_READABLE, set_as_default=False, name=_NAME
    )
    try:
        await client
    except (OSError, ValueError, TypeError) as error:  # TimeoutError is an OSError
        raise ClusterError(f"--cluster {said}: {error}") from None
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # the scheduler may be gone
            await client.close()


def local_workers(said: str) -> int | None:
    """How many workers are meant here; None where it is elsewhere."""
    found = re.fullmatch(r"local(?::(\d+))?", said)
    if found is None:
        return None
    return max(1, int(found[1])) if found[1] else os.cpu_count() or 1


@contextlib.asynccontextmanager
async def _embedded(workers: int) -> AsyncIterator[LocalCluster]:
    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        asynchronous=True,
        protocol="tls://",
        security=Security.temporary(),
    )
    try:
        await cluster
        keeping = asyncio.create_task(kept(cluster, workers))
        try:
            yield cluster
        finally:
            keeping.cancel()  # before it closes, or its workers would be brought back
    finally:
        await cluster.close()


async def kept(cluster: LocalCluster, workers: int) -> None:
    """Brings workers of this machine back that Dask has given up, until it is cancelled.

    It starts a worker that died again, but not one that dies again as it starts, or that takes long to come back where
    all cores are busy: as many of those as there are workers, and nobody would be left to go on.
    """
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        for name, nanny in list(cluster.workers.items()):
            if nanny.status in (Status.failed, Status.closed):
                del cluster.workers[name]
        cluster.scale(workers)


async def _own(path: str) -> Any:
    """The cluster that a Python file of the user's makes."""
    try:
        found = await asyncio.to_thread(runpy.run_path, path)
    except Exception as error:
        raise ClusterError(f"{path}: {type(error).__name__}: {error}") from None
    cluster = found.get("cluster")
    if not hasattr(cluster, "scheduler_address"):
        raise ClusterError(f"{path} makes no `cluster` with a scheduler, as dask_jobqueue's SLURMCluster() would be")
    return cluster
