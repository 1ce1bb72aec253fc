"""A cluster as the place where files are checked and models looked at, with the methods that the engine has.

A job is one file or model with its settings. Dask decides where it runs, and runs it again elsewhere where a worker
dies; what dies each time is named and has a result that says so. Of a cluster that is gone the command is told, which
keeps what was done. No more jobs are on their way than the cluster has threads, so this process stays small.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from distributed import Client, KilledWorker
from distributed.client import FutureCancelledError
from inductor_debug_schema import FileReport, FileStatus, Finding, Severity, Stage, WireError

from inductor_debug.cluster import node_facts
from inductor_debug.cluster.cluster_errors import ClusterError
from inductor_debug.cluster.cluster_work import (
    AnswerState,
    NodeAnswer,
    NodeWork,
    Parcel,
    Study,
    read_answer,
    read_outcome,
    read_report,
    written,
)
from inductor_debug.cluster.connecting import connected, local_workers
from inductor_debug.cluster.node import TOPIC, NodePlugin, WorkspacePlugin, facts, memory_of, perform, token_of
from inductor_debug.cluster.node_facts import NodeFacts, NodeVersions
from inductor_debug.cluster.turns import Turns
from inductor_debug.cluster.workspaces import WorkspaceError, pack
from inductor_debug.engine.pool.supervisor import WorkerPool
from inductor_debug.engine.results.analysis import AnalysisUpdate
from inductor_debug.engine.results.kept_runs import NOT_ASKED, Versions
from inductor_debug.engine.results.merge import Ending, Results
from inductor_debug.engine.runner import Runner
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.survey.model_survey import SurveyOptions, Tell, key_of
from inductor_debug.engine.survey.survey_models import SurveyModel
from inductor_debug.engine.survey.survey_rows import ModelOutcome
from inductor_debug.engine.text.source_files import read_source
from inductor_debug.source.text_lines import first_line_range

TRIES = 3
"""How often a job is given to nodes that cannot do it."""
_WORKER_SECONDS = 600.0
_LOOK_SECONDS = 1.0
_OVERHEADS_KEPT = 10_000
_ALONE_TOLD = 60
"""Looks between two complaints that no worker is there."""
_PART = 1 / 1024
"""The part of a worker that a job takes that may run beside others."""


@dataclass(frozen=True)
class ClusterOptions:
    """What the command line says of the cluster.

    `said` is what `--cluster` says. `shared` is a folder that all machines see under the same path, "" for none.
    `resources` are asked for, by each job that runs models with numbers, of Dask's workers. `interpreter` runs the
    models there ("": the worker's own), `jobs` bounds the jobs at once (0: the cluster's threads). `named` are files
    that every workspace must have, and of the folder `results` it has no others. `say` tells the user of what changes.
    """

    said: str
    shared: str = ""
    resources: Mapping[str, float] = field(default_factory=dict)
    interpreter: str = ""
    jobs: int = 0
    named: Sequence[str] = ()
    results: str = ""
    say: Callable[[str], None] = print


class ClusterPlace:
    """Files and models in, reports and outcomes out. `settings_for` are a file's; `study` is asked of models."""

    def __init__(
        self,
        options: ClusterOptions,
        settings_for: Callable[[str], Settings],
        study: SurveyOptions | None = None,
        settings_like: Callable[[str, str], Settings] | None = None,
    ) -> None:
        self._options, self._settings_for = options, settings_for
        self._study, self._settings_like = study, settings_like
        self._name = f"inductor-debug-{secrets.token_hex(4)}"
        self._numbers = itertools.count(1)
        self._turns = Turns()
        self._stack = contextlib.AsyncExitStack()
        self._opening = asyncio.Lock()
        self._client: Client | None = None
        self._memory: dict[str, int] = {}
        self._refused: set[str] = set()
        self._workers: dict[str, int] = {}
        self._workspaces: dict[str, asyncio.Task[str]] = {}
        self._runner = Runner(WorkerPool, None, 1)  # for its policy: nothing is run here
        self.versions: Versions = NOT_ASKED
        """What the nodes run models with."""
        self.overheads: deque[float] = deque(maxlen=_OVERHEADS_KEPT)
        """Seconds that each of the last jobs took beside the work of its node: the wire, and waiting for a thread."""

    async def check(
        self, path: str, on_progress: Callable[[AnalysisUpdate], None] | None = None, *, keep_graphs: bool = False
    ) -> FileReport:
        """As `Engine.check`, on a node; there is no progress to tell.

        Raises:
            ConfigurationError: the settings for the file cannot be used.
            ClusterError: there is no cluster, or none any more.
        """
        settings = self._settings_for(path)
        try:
            return read_report((await self._done(NodeWork(path, settings, keep_graphs))).result)
        except (_GivenUpError, ValueError) as error:
            return self._died(path, settings, error)

    async def outcome(self, model: SurveyModel, tell: Tell) -> ModelOutcome:
        """As `ModelSurvey.outcome`, on a node.

        Raises:
            ConfigurationError: the settings for a file cannot be used.
            ClusterError: there is no cluster, or none any more.
        """
        options = self._study
        assert options is not None
        assert self._settings_like is not None
        if model.problem or not model.paths:
            return ModelOutcome(model, "", key_of(model, options.asked), 0.0, None, model.problem)
        path = model.paths[0]
        settings = self._settings_for(path)
        like = {name: self._settings_like(path, name) for name in options.accelerators}
        try:
            answer = await self._done(NodeWork(path, settings, study=Study(model, options, like)), tell)
            return replace(read_outcome(answer.result), model=model)
        except (_GivenUpError, ValueError) as error:
            report = self._died(path, settings, error)
            return ModelOutcome(model, path, key_of(model, options.asked), 0.0, report)

    async def shutdown(self) -> None:
        """Lets go of the cluster: the nodes' processes end, and so does an embedded cluster."""
        for task in self._workspaces.values():
            task.cancel()
        await self._stack.aclose()
        await self._runner.close()

    async def _done(self, work: NodeWork, tell: Tell = lambda doing: None) -> NodeAnswer:
        """Has work done by a node; a node that cannot is not asked again."""
        client = await self._opened()
        workspace = await self._workspace(client, work)
        async with self._turns.turn():
            tell(work.study.model.name if work.study is not None else work.path)
            started = asyncio.get_running_loop().time()
            unable: dict[str, str] = {}
            for _try in range(TRIES):
                answer = await self._answer(client, work, workspace, unable)
                if answer.state is AnswerState.DONE:
                    self.overheads.append(asyncio.get_running_loop().time() - started - answer.seconds)
                    self.versions = Versions(answer.torch or self.versions.torch, answer.python or self.versions.python)
                    return answer
                unable[answer.node] = answer.why
        told = "; ".join(f"{node or 'a worker'}: {why}" for node, why in unable.items())
        raise _GivenUpError(f"No worker of the cluster could analyse this file: {told}.")

    async def _answer(self, client: Client, work: NodeWork, workspace: str, unable: Mapping[str, str]) -> NodeAnswer:
        runs_numbers = work.study is not None and bool(work.study.options.backends)
        alone = runs_numbers and work.study is not None and work.study.options.measuring is not None
        memory = min(work.settings.memory_limit, max(self._memory.values(), default=0) or work.settings.memory_limit)
        needs = {token_of(self._name): 1 if alone else _PART, memory_of(self._name): memory}
        others = [address for address in self._workers if not any(address in node for node in unable)]
        if client.status != "running":
            raise self._lost()
        key = f"{self._name}-{next(self._numbers)}"
        own = replace(work, settings=self._bare(work.settings), study=_bare_study(work.study, self._bare))
        future = client.submit(
            perform,
            self._name,
            key,
            written(Parcel(written(own), work.settings.project_root, workspace, memory)),
            key=key,
            pure=False,
            resources={**needs, **(self._options.resources if runs_numbers else {})},
            workers=others if unable and others else None,
        )
        try:
            return read_answer(await future)
        except KilledWorker as error:
            raise _GivenUpError(
                f"The worker that analysed this file died, {error.allowed_failures + 1} times on end, the last one at "
                f"{error.last_worker.address}: its machine may have run out of memory, or gone away."
            ) from None
        except FutureCancelledError:
            raise self._lost() from None
        except (WireError, TypeError, ValueError) as error:
            return NodeAnswer(AnswerState.FAILED, "", 0.0, why=f"an answer that is not ours: {error}")
        finally:
            future.release()

    def _bare(self, settings: Settings) -> Settings:
        """Without what is this machine's alone."""
        return replace(settings, interpreter="")

    async def _opened(self) -> Client:
        async with self._opening:
            if self._client is None:
                self._client = await self._open()
            return self._client

    async def _open(self) -> Client:
        """Connects, and makes nodes of the workers of one version.

        Raises:
            ClusterError: there is no cluster, or none of its workers can work.
        """
        client = await self._stack.enter_async_context(connected(self._options.said))
        if local_workers(self._options.said) is None:
            self._options.say(f"connected with {client.scheduler.address}")
        try:
            await client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except (TimeoutError, asyncio.TimeoutError):
            raise ClusterError(f"no worker came to the cluster within {_WORKER_SECONDS:g} s") from None
        told = await client.run(facts, self._options.interpreter, on_error="return")
        found = {address: _facts_told(text) for address, text in told.items()}
        wanted = node_facts.chosen(found)
        for address, known in found.items():
            if wanted is None or (why := node_facts.refusal(known, wanted)):
                self._refuse(address, str(known.trouble or known.versions) if wanted is None else why)
        if wanted is None:
            raise ClusterError(
                "none of the cluster's workers has this version of inductor-debug with a torch: install "
                '"inductor-debug[cluster]" beside torch where workers run'
            )
        self._memory = {address: facts.memory for address, facts in found.items() if address not in self._refused}
        self.versions = Versions(wanted.torch, wanted.python)
        client.subscribe_topic(TOPIC, self._take_event)
        plugin = NodePlugin(self._name, node_facts.facts_text(wanted), self._options.interpreter)
        await client.register_plugin(plugin)
        self._stack.push_async_callback(_unregistered, client, self._name)
        watch = asyncio.create_task(self._watch(client))
        self._stack.callback(watch.cancel)
        return client

    async def _watch(self, client: Client) -> None:
        """Follows how many threads the cluster has."""
        alone = 0
        while client.status == "running":
            with contextlib.suppress(OSError):
                threads = await client.nthreads()
                self._workers = {address: count for address, count in threads.items() if address not in self._refused}
            slots = sum(self._workers.values())
            await self._turns.allow(min(slots, self._options.jobs or slots))
            alone = 0 if slots else alone + 1
            if alone % _ALONE_TOLD == _ALONE_TOLD - 1:
                self._options.say("the cluster has no workers that could go on; waiting for one")
            await asyncio.sleep(_LOOK_SECONDS)

    def _take_event(self, event: tuple[Any, Any]) -> None:
        """A worker says that it may not take part."""
        _, said = event
        if isinstance(said, dict) and said.get("run") == self._name:
            self._refuse(str(said.get("worker")), str(said.get("why")))

    def _refuse(self, address: str, why: str) -> None:
        if address not in self._refused:
            self._refused.add(address)
            self._options.say(f"the worker {address} is not used: {why}")

    async def _workspace(self, client: Client, work: NodeWork) -> str:
        """The digest of the copy that nodes work in; "" where they see the files themselves.

        Raises:
            ClusterError: it cannot be sent.
        """
        root, shared = work.settings.project_root, self._options.shared
        if local_workers(self._options.said) is not None:
            return ""
        if shared:
            if not f"{root}/".startswith(f"{shared.rstrip('/')}/"):
                raise ClusterError(f"{root} is not below the shared folder {shared}")
            return ""
        if root not in self._workspaces:
            self._workspaces[root] = asyncio.create_task(self._send(client, work.settings))
        return await asyncio.shield(self._workspaces[root])

    async def _send(self, client: Client, settings: Settings) -> str:
        results = self._options.results

        def left_out(path: str) -> bool:
            return path == results or settings.excludes(path)

        try:
            packed = await asyncio.to_thread(pack, settings.project_root, left_out, self._options.named)
        except WorkspaceError as error:
            raise ClusterError(str(error)) from None
        size = len(packed.archive) / (1 << 20)
        self._options.say(f"sending {packed.root} to the workers ({size:.1f} MiB)")
        plugin = WorkspacePlugin(packed.digest, packed.archive)
        await client.register_plugin(plugin)
        self._stack.push_async_callback(_unregistered, client, plugin.name)
        return packed.digest

    def _lost(self) -> ClusterError:
        return ClusterError(f"the scheduler of the cluster ({self._options.said}) is gone")

    def _died(self, path: str, settings: Settings, error: Exception) -> FileReport:
        """The report of a file that no node gave one of."""
        text = read_source(path)
        results = Results(path, "" if isinstance(text, Finding) else text, settings.stages)
        why = str(error) if isinstance(error, _GivenUpError) else f"A worker's answer was not understood: {error}."
        place = first_line_range(results.text)
        finding = Finding(rule="crash", severity=Severity.ERROR, message=why, path=path, range=place, stage=Stage.LOAD)
        results.fail(Ending(FileStatus.CRASHED, finding), broken=True)
        return self._runner.report(results, settings)


def _facts_told(said: Any) -> NodeFacts:
    """What a worker said when it was asked for its facts: an error, where ours are not installed there."""
    try:
        return node_facts.read_facts(said)
    except (TypeError, ValueError):
        nothing = NodeVersions("", "", "")
        return NodeFacts(nothing, trouble=f"it cannot say what it has ({type(said).__name__}: {said})")


class _GivenUpError(Exception):
    """No node has done the work; the message says why."""


def _bare_study(study: Study | None, bare: Callable[[Settings], Settings]) -> Study | None:
    if study is None:
        return None
    return replace(study, alternatives={name: bare(settings) for name, settings in study.alternatives.items()})


async def _unregistered(client: Client, name: str) -> None:
    """Takes a plugin away, if the cluster is still there."""
    if client.status == "running":
        with contextlib.suppress(OSError, ValueError, asyncio.TimeoutError):
            await asyncio.wait_for(client.unregister_worker_plugin(name), 10.0)


def interpreter_there(interpreter: str) -> str:
    """What nodes are told of an interpreter: nothing of the one that this process happens to run in."""
    return "" if interpreter == sys.executable else interpreter
