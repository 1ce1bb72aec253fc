"""What runs beside a Dask worker: one engine with its warm fork server, in a thread with an event loop of its own.

Dask's own loop stays free, so that a worker that judges a big model is not taken for dead. Models run in processes that
the fork server forks, never in the worker: whatever they do costs one job. The plugin brings the node up with each
worker that fits, and marks it as one that takes our tasks; it goes when the run does.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import threading
import time
from collections.abc import Coroutine
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from distributed import Status, Worker, WorkerPlugin, get_worker

from inductor_debug.cluster import node_facts
from inductor_debug.cluster.cluster_work import (
    AnswerState,
    NodeAnswer,
    NodeWork,
    Parcel,
    moved,
    read_parcel,
    read_work,
    written,
)
from inductor_debug.cluster.workspaces import folder_of, unpacked
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.survey.model_survey import ModelSurvey

TOPIC = "inductor-debug"
"""Under what workers that may not take part say so."""
_REGISTERING_SECONDS = 0.05
_CLOSING_SECONDS = 10.0
_SETTINGS: ContextVar[Settings] = ContextVar("settings of the work at hand")


def token_of(name: str) -> str:
    """The Dask resource that a run's workers have one of: a job takes a part of it, a measurement all."""
    return f"{name}-worker"


def memory_of(name: str) -> str:
    """The Dask resource that is a worker's memory in bytes, as far as this run has use for it."""
    return f"{name}-memory"


def perform(name: str, job: str, parcel: str) -> str:
    """The one task that Dask is given: a text in, a text out. `name` is that of the run's plugin."""
    plugin = get_worker().plugins.get(name)
    if not isinstance(plugin, NodePlugin) or plugin.node is None:
        return written(NodeAnswer(AnswerState.FAILED, "", 0.0, why="this worker has not been made ready"))
    return plugin.node.perform(job, parcel)


async def facts(interpreter: str, dask_worker: Worker) -> str:
    """What the machine of a worker has (`NodeFacts` as JSON)."""
    memory = dask_worker.memory_manager.memory_limit or 0
    found = await asyncio.to_thread(node_facts.facts_here, interpreter, memory)
    return node_facts.facts_text(found)


class Node:
    """The engine of one worker. `name` is how users know the worker, `interpreter` runs its models."""

    def __init__(self, name: str, interpreter: str) -> None:
        self._name, self._interpreter = name, interpreter
        self._jobs: dict[str, concurrent.futures.Future[str]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="inductor-debug-node", daemon=True)
        self._thread.start()
        self._engine = Engine(settings_for=lambda path: _SETTINGS.get(), listener=lambda update: None)

    def perform(self, job: str, parcel: str) -> str:
        """Does the work in a parcel; the answer, as texts. Called in a thread of Dask's."""
        started = time.perf_counter()
        future = self._in_loop(self._answer(parcel))
        self._jobs[job] = future
        try:
            return str(future.result())
        except concurrent.futures.CancelledError:
            why = "it was cancelled"
        except Exception as error:  # whatever it is, it must not cross the wire as an object
            why = f"inductor-debug itself failed: {type(error).__name__}: {error}"
        finally:
            self._jobs.pop(job, None)
        return written(NodeAnswer(AnswerState.FAILED, self._name, time.perf_counter() - started, why=why))

    def cancel(self, job: str) -> None:
        """Nobody waits for that job any more: its processes go."""
        future = self._jobs.get(job)
        if future is not None:
            future.cancel()

    def close(self) -> None:
        """Ends every process; blocks until they are gone."""
        with contextlib.suppress(concurrent.futures.TimeoutError):  # they end with us: their channel closes then
            self._in_loop(self._engine.shutdown()).result(_CLOSING_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSING_SECONDS)

    def _in_loop(self, work: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _answer(self, text: str) -> str:
        started = time.perf_counter()
        parcel = read_parcel(text)
        folder = str(folder_of(parcel.workspace)) if parcel.workspace else parcel.root
        if not Path(folder).is_dir():
            why = f"it does not see the folder {parcel.root}" if folder == parcel.root else "its workspace is gone"
            return written(NodeAnswer(AnswerState.FAILED, self._name, 0.0, why=why))
        result = await self._result(self._adapted(read_work(moved(parcel.work, parcel.root, folder)), parcel))
        answer = NodeAnswer(
            AnswerState.DONE,
            self._name,
            time.perf_counter() - started,
            moved(written(result), folder, parcel.root),
            torch=self._engine.versions.torch,
            python=self._engine.versions.python,
        )
        return written(answer)

    async def _result(self, work: NodeWork) -> Any:
        _SETTINGS.set(work.settings)
        if work.study is None:
            return await self._engine.check(work.path, keep_graphs=work.keep_graphs)
        study = work.study
        survey = ModelSurvey(
            self._engine, study.options, lambda path: work.settings, lambda path, name: study.alternatives[name]
        )
        return await survey.outcome(study.model, lambda doing: None)

    def _adapted(self, work: NodeWork, parcel: Parcel) -> NodeWork:
        """The work with what is this machine's: its interpreter, and no more memory than it has for a job."""

        def here(settings: Settings) -> Settings:
            memory = min(settings.memory_limit, parcel.memory or settings.memory_limit)
            if not self._interpreter:
                return dataclasses.replace(settings, memory_limit=memory, interpreter=Settings("").interpreter)
            return dataclasses.replace(settings, memory_limit=memory, interpreter=self._interpreter)

        study = work.study
        if study is not None:
            own = {name: here(settings) for name, settings in study.alternatives.items()}
            study = dataclasses.replace(study, alternatives=own)
        return dataclasses.replace(work, settings=here(work.settings), study=study)


class NodePlugin(WorkerPlugin):
    """Makes a node of each worker that has the `wanted` versions (JSON), those that join later among them."""

    def __init__(self, name: str, wanted: str, interpreter: str) -> None:
        self.name, self._wanted, self._interpreter = name, wanted, interpreter
        self.node: Node | None = None
        self._marking: asyncio.Task[None] | None = None

    async def setup(self, worker: Worker) -> None:
        """A worker is there, or this run begins."""
        found = node_facts.read_facts(await facts(self._interpreter, worker))
        why = node_facts.refusal(found, node_facts.read_versions(self._wanted))
        if why:
            worker.log_event(TOPIC, {"run": self.name, "worker": worker.address, "why": why})
            return
        self.node = Node(f"{worker.name} ({worker.address})", self._interpreter)
        marking = self._mark(worker, found.memory)
        if worker.status == Status.running:  # whoever registered us goes on when this is done
            await marking
        else:  # the scheduler waits for us before it lets the worker run
            self._marking = asyncio.create_task(marking)

    async def teardown(self, worker: Worker) -> None:
        """The run or the worker ends."""
        if self._marking is not None:
            self._marking.cancel()
        node, self.node = self.node, None
        if node is not None:
            await asyncio.to_thread(node.close)
            if worker.status == Status.running:
                await worker.set_resources(**{token_of(self.name): 0, memory_of(self.name): 0})

    def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
        """A task of the worker has another state."""
        if self.node is not None and start == "executing" and finish == "cancelled":
            self.node.cancel(str(key))

    async def _mark(self, worker: Worker, memory: int) -> None:
        """Lets tasks of this run come, as soon as the scheduler knows the worker.

        The scheduler does not look for tasks that wait for new resources; for those of a worker that goes on it does.
        """
        while worker.status != Status.running:
            await asyncio.sleep(_REGISTERING_SECONDS)
        await worker.set_resources(**{token_of(self.name): 1, memory_of(self.name): memory or 1 << 60})
        worker.status = Status.paused
        worker.status = Status.running


class WorkspacePlugin(WorkerPlugin):
    """Brings a workspace to every machine, once to each worker."""

    def __init__(self, digest: str, archive: bytes) -> None:
        self.name = f"inductor-debug-workspace-{digest}"
        self._digest, self._archive = digest, archive

    async def setup(self, worker: Worker) -> None:
        """A worker is there, or the workspace is new."""
        await asyncio.to_thread(unpacked, self._digest, self._archive)
