"""From a text to its results: faults that need no worker, the cache, the pools, one job.

Knows nothing of documents, generations or listeners; the sessions and `Engine.check` both stand on it. One pool serves
each (interpreter, project root); the least recently used idle one is closed when there are too many.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import json
import logging
import os
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from inductor_debug_schema import (
    CellStart,
    Event,
    ExpressionsSeen,
    FileReport,
    FileStatus,
    Finding,
    Finished,
    InferenceHint,
    JobRequest,
    SizesSeen,
    StageCaptured,
    TensorsSeen,
    to_wire,
)

from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.pool.pool import Pool, PoolFactory
from inductor_debug.engine.results.cache import ResultCache, RunKey, key_of
from inductor_debug.engine.results.endings import conclude, gives_up, wants_numbers
from inductor_debug.engine.results.kept_hints import Hints
from inductor_debug.engine.results.kept_runs import NOT_ASKED, KeptRuns, Versions
from inductor_debug.engine.results.merge import CarriedFindings, Ending, Results
from inductor_debug.engine.results.policy import apply_policy
from inductor_debug.engine.results.remembered_files import Place
from inductor_debug.engine.results.unheard_surroundings import unheard_surroundings
from inductor_debug.engine.results.working_texts import WorkingTexts
from inductor_debug.engine.settings import folders
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.text.source_facts import PolicySource, source_of
from inductor_debug.engine.text.source_files import SourceFiles, size_fault
from inductor_debug.engine.trials import TrialTurns
from inductor_debug.source.notebooks.reading import cells_of
from inductor_debug.source.parsing import LARGEST_PARSED, SyntaxFault, parse
from inductor_debug.system.wall_clock import ClockReading

_LOG = logging.getLogger(__name__)
MOST_POOLS = 3
"""Fork servers kept at once; each holds a torch."""
LOGS_KEPT = 20

Progress = Callable[[Results, "Event | None"], None]
"""Told the results so far: None when a worker gets the job, then after every event but the last that has findings."""


@dataclass(frozen=True)
class Work:
    """A text to analyse as the file at the absolute `path`. `parsed` says that it is known to parse.

    With an `order` it is more than an analysis, or another one than usual: nothing of it is cached. With `shows` the
    results hold the captured graphs and the lives of tensors, for whoever wants to see them.
    """

    path: str
    text: str
    settings: Settings
    parsed: bool = False
    order: Order | None = None
    shows: bool = False

    def ordered(self, order: Order) -> Work:
        """The same text as work for an order, in the order's stages."""
        return replace(self, order=order, settings=replace(self.settings, stages=order.stages))


@dataclass
class _Station:
    """A pool, how many jobs it has now, and where its user code's output goes."""

    pool: Pool
    log: Path
    jobs: int = 0


class Runner:
    """Runs work, at most `jobs` at once.

    With `remembers`, inputs and saved texts that ran are known again by the next daemon. With `keeps_runs`, so are
    whole runs, of which only what makes a report.
    """

    def __init__(
        self,
        pool_factory: PoolFactory,
        cache_folder: Path | None,
        jobs: int | None,
        *,
        remembers: bool = False,
        keeps_runs: bool = False,
    ) -> None:
        self._pool_factory = pool_factory
        self._folder = cache_folder or folders.cache_folder()
        self._slots = asyncio.Semaphore(jobs or os.cpu_count() or 1)
        self._stations: OrderedDict[tuple[str, str], _Station] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()
        self._cache = ResultCache()
        self._hints = Hints(self._folder / "inputs" if remembers else None)
        self._ran = WorkingTexts(self._folder / "ran" if remembers else None)
        self._kept = KeptRuns(self._folder / "runs") if keeps_runs else None
        self._numbers = itertools.count(1)
        self._files = SourceFiles()
        self.trials = TrialTurns()
        self.versions = NOT_ASKED
        """What the first interpreter that was needed said of itself, now or when its runs were kept."""

    def known(self, work: Work) -> Results | None:
        """The results that need no worker: cached ones, or why the text cannot run."""
        known = self._cache.get(self._key(work)) or self.fault(work)
        return known or self._after_edit(work) or self._kept_results(work)

    def _after_edit(self, work: Work) -> Results | None:
        """Results of an earlier text, where the edit has left all that they rest on."""
        if cells_of(work.path) or len(work.text) > LARGEST_PARSED or not self.parser_speaks_for(work.settings):
            return None
        return self._cache.after_edit(self._key(work), work.text)

    def fault(self, work: Work) -> Results | None:
        """Why the text cannot run at all; None if nothing is known against it."""
        finding = size_fault(work.path, work.text)
        if (
            finding is None
            and not work.parsed
            and len(work.text) <= LARGEST_PARSED
            and self.parser_speaks_for(work.settings)
        ):
            tree = parse(work.text)
            finding = tree.finding(work.path) if isinstance(tree, SyntaxFault) else None
        return None if finding is None else failed(work.path, work.text, finding)

    async def run(self, work: Work, on_event: Progress) -> Results:
        """Runs the work in a worker, for which every trial makes way. Cancelling the awaiting task kills it."""
        with self.trials.postponed():
            return await self._run(work, on_event, self._slots)

    async def attempt(self, work: Work, wanted: Callable[[], bool]) -> Results | None:
        """Runs a text that nobody wrote, to see what would become of it: when nothing else runs, one at a time.

        Returns None when it is not `wanted` any more before it has ended. It takes no slot from an analysis, which
        begins at once while the trial is still being killed.
        """

        async def run() -> Results:
            known = self.known(work) if work.order is None else self.fault(work)
            slot: AbstractAsyncContextManager[Any] = contextlib.nullcontext()
            return known if known is not None else await self._run(work, _unheard, slot, learns=False)

        return await self.trials.run(run, wanted)

    async def _run(
        self, work: Work, on_event: Progress, slot: AbstractAsyncContextManager[Any], *, learns: bool = True
    ) -> Results:
        results = Results(work.path, work.text, work.settings.stages)
        told: list[Event] = []

        def receive(event: Event) -> None:
            if isinstance(event, InferenceHint):
                # What ran with a text that nobody wrote judges nobody's edits.
                if learns:
                    self._hints.keep(_place(work.path, work.settings), event)
                return
            results.accept(event)
            told.append(event)
            if not isinstance(event, (Finished, ExpressionsSeen, StageCaptured, SizesSeen, TensorsSeen)):
                on_event(results, event)

        station = self._station(work.settings)
        station.jobs += 1
        try:
            async with slot:
                await station.pool.start()
                on_event(results, None)
                started = ClockReading.now()
                while True:
                    request = self._request(work, results)
                    end = await station.pool.run(request, receive, timeout=work.settings.timeout)
                    if wants_numbers(results, end):
                        continue
                    if work.order is not None or not gives_up(results, end, work.settings):
                        break
        finally:
            station.jobs -= 1
        conclude(results, end, work.settings, ordered=work.order is not None)
        versions = Versions(station.pool.torch_version, station.pool.python_version)
        self.versions = self.versions if self.versions.torch else versions
        if started.clock_was_set():  # what changed meanwhile cannot be told by the times of files
            return results
        if not results.broken and work.order is None:
            self._cache.put(self._key(work), results, started.wall)
            if self._kept is not None and learns and not work.settings.sizes:
                self._kept.put(work.settings.run_digest(), results, told, versions, started.wall)
        elif self._kept is not None and learns and work.order is None and not work.settings.sizes:
            self._keep_cut_short(work, results, told, versions, started.wall)
        return results

    def _keep_cut_short(
        self, work: Work, results: Results, told: list[Event], versions: Versions, started: int
    ) -> None:
        """Keeps a run that was ended by a limit which the settings set, and would be again."""
        assert self._kept is not None
        settings = work.settings
        if all(ending.by_limit for ending in results.endings()):
            around = unheard_surroundings(settings.project_root, settings.interpreter)
            self._kept.put_cut_short(settings.run_digest(), results, told, versions, started, settings.timeout, around)

    def _kept_results(self, work: Work) -> Results | None:
        """What an earlier process learned, if that is all that is asked for and still holds."""
        if self._kept is None or work.shows or work.order is not None:
            return None
        run = self._kept.get(work.path, work.text, work.settings.run_digest(), work.settings.timeout)
        if run is None:
            return None
        self.versions = self.versions if self.versions.torch else run.versions
        return run.results(work.path, work.text, work.settings.stages)

    def report(self, results: Results, settings: Settings, carried: CarriedFindings | None = None) -> FileReport:
        """The report to show for `results` and for what is wrong with the settings, with policy applied."""
        found = [*results.findings(carried), *settings.complaints]
        return results.report(self.judged(results, found, settings), carried)

    def judged(self, results: Results, findings: Iterable[Finding], settings: Settings) -> list[Finding]:
        """What policy makes of findings in the text of `results` and in other files."""

        def source_for(path: str) -> PolicySource | None:
            return source_of(results.text) if path == results.path else self._files(path)

        return apply_policy(
            findings, path=results.path, settings=settings, source_for=source_for, complete=results.complete
        )

    def keep_if_ran(self, work: Work, report: FileReport, *, saved: bool) -> None:
        """Remembers the text for those of its targets that ran, as the report shows; `saved` texts for good."""
        self._ran.keep(_place(work.path, work.settings), work.text, report, saved=saved)

    def last_ran(self, path: str, settings: Settings, target: str) -> str | None:
        """The last text of a file with which a target ran, as far as one is known; "" is any target."""
        return self._ran.of(_place(path, settings), target)

    def parser_speaks_for(self, settings: Settings) -> bool:
        """Whether the daemon's own parser knows the same Python as the project's interpreter.

        If it does not, only a worker can tell a syntax error from newer syntax.
        """
        if settings.interpreter == sys.executable:
            return True
        station = self._stations.get(_station_key(settings))
        version = station.pool.python_version if station else None
        ours = f"{sys.version_info.major}.{sys.version_info.minor}"
        return version is not None and (version == ours or version.startswith(f"{ours}."))

    def prewarm(self, settings: Settings) -> None:
        """Starts the pool for these settings in the background."""
        self._keep(asyncio.ensure_future(self._station(settings).pool.start()))

    def log_paths(self) -> list[Path]:
        """The logs of the pools, most recently used last."""
        return [station.log for station in self._stations.values()]

    def forget(self) -> None:
        """Forgets results, and inputs that ran."""
        self._cache.clear()
        self._hints.clear()

    def forget_results(self) -> None:
        """Forgets results, and for what no inputs were found; inputs that ran stay."""
        self._cache.clear()
        self._hints.forget_refusals()

    def infer_anew(self, path: str) -> None:
        """Forgets the inputs with which the classes of a file last ran, and what was judged by them."""
        self._hints.forget(path)
        self._cache.forget(path)

    async def close(self) -> None:
        """Closes every pool; they start anew when they are needed again."""
        stations = list(self._stations.values())
        self._stations.clear()
        await asyncio.gather(*(station.pool.close() for station in stations), return_exceptions=True)
        if self._closing:
            await asyncio.gather(*self._closing, return_exceptions=True)

    def _key(self, work: Work) -> RunKey:
        station = self._stations.get(_station_key(work.settings))
        version = station.pool.torch_version if station else None
        return key_of(work.path, work.text, work.settings.run_digest(), version)

    def _request(self, work: Work, so_far: Results) -> JobRequest:
        settings, order = work.settings, work.order or Order()
        request = JobRequest(
            job=next(self._numbers),
            path=work.path,
            text=work.text,
            project_root=settings.project_root,
            stages=list(settings.stages),
            profile=settings.profile,
            targets=list(settings.targets),
            memory_limit=settings.memory_limit,
            infer=settings.infer,
            allow=list(settings.allow),
            entries=list(settings.entry),
            follow_main=settings.follow_main,
            argv=list(settings.argv),
            task=order.task,
            only=[order.target] if order.target else [],
            without=list(so_far.given_up),
            fixed=list(so_far.fixed),
            keep_graphs=order.keep_graphs,
            show_graphs=work.shows,
            seek_sizes=order.seek_sizes,
            sizes=list(settings.sizes),
            keep_captures=order.keep_captures,
            trace_tensors=work.shows or order.trace_tensors,
            seed=order.seed,
            keep_guards=order.keep_guards,
            keep_costs=order.keep_costs,
            larger_sizes=order.larger_sizes,
            keep_trace=order.keep_trace,
            export_formats=order.export_formats or work.order is None,
            torch_logs=settings.torch_logs,
            cells=[CellStart(line, number) for number, line in cells_of(work.path)],
            hints=self._hints.of(_place(work.path, work.settings)) if settings.infer else [],
        )
        if _LOG.isEnabledFor(logging.DEBUG):
            _LOG.debug("job %s", _told(settings, request))
        return request

    def _station(self, settings: Settings) -> _Station:
        key = _station_key(settings)
        if key not in self._stations:
            log = _log_path(self._folder / "logs", *key)
            pool = self._pool_factory(
                interpreter=settings.interpreter, project_root=settings.project_root, log_path=log
            )
            self._stations[key] = _Station(pool, log)
            self._close_superfluous(key)
        self._stations.move_to_end(key)
        return self._stations[key]

    def _close_superfluous(self, wanted: tuple[str, str]) -> None:
        idle = [key for key, station in self._stations.items() if station.jobs == 0 and key != wanted]
        for key in idle[: max(0, len(self._stations) - MOST_POOLS)]:
            self._keep(asyncio.ensure_future(self._stations.pop(key).pool.close()))

    def _keep(self, task: asyncio.Future[None]) -> None:
        """Holds on to a background task, which the loop itself only knows weakly."""
        assert isinstance(task, asyncio.Task)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def failed(path: str, text: str, finding: Finding, *, broken: bool = False) -> Results:
    """Results that consist of the reason why there are none."""
    results = Results(path, text)
    results.fail(Ending(FileStatus.FAILED, finding), broken=broken)
    return results


def _unheard(results: Results, event: Event | None) -> None:
    """Progress of a trial interests nobody."""


def _place(path: str, settings: Settings) -> Place:
    return (*_station_key(settings), path)


def _station_key(settings: Settings) -> tuple[str, str]:
    return settings.interpreter, settings.project_root


def _log_path(folder: Path, interpreter: str, project_root: str) -> Path:
    """A log of this process and pool; the oldest logs of others are removed."""
    digest = hashlib.blake2b(f"{interpreter}\0{project_root}".encode(), digest_size=4).hexdigest()
    name = f"{Path(project_root).name or 'root'}-{digest}-{os.getpid()}.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        logs = sorted(folder.glob("*.log"), key=lambda log: log.stat().st_mtime)
    except OSError:
        with contextlib.suppress(OSError):
            return Path(tempfile.mkdtemp(prefix="inductor-debug-")) / name
        return folder / name  # what cannot be written is given up
    for log in logs[: max(0, len(logs) + 1 - LOGS_KEPT)]:
        with contextlib.suppress(OSError):
            log.unlink()
    return folder / name


def _told(settings: Settings, request: JobRequest) -> str:
    """A job for the log, as JSON: what was set, and what the worker is asked; neither the text nor what was learned."""
    asked = {name: value for name, value in to_wire(request).items() if name not in ("text", "hints", "profile")}
    return json.dumps({"settings": asdict(settings), "request": asked}, default=str)
