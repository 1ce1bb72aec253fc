"""The engine: documents and files in, updates and reports out. `serve` and `check` are two faces of it.

It keeps the open documents (a `DocumentSession` each), watches which files they depend on, and owns the `Runner`. It
knows neither the protocol of editors nor torch, starts no thread, and must be used from one event loop.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from inductor_debug_schema import (
    AcceleratorComparison,
    Answered,
    ArtifactMade,
    Event,
    FileReport,
    FileStatus,
    Finding,
    LineTensors,
    Range,
    TargetSizes,
)

from inductor_debug.accelerators.profile import read_profile
from inductor_debug.engine.batch import Batch, OnDisk
from inductor_debug.engine.document_session import DocumentSession
from inductor_debug.engine.file_watching import FileWatch
from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.live_tensors.line import KnownTimeline, Question, RanTimeline, line_tensors
from inductor_debug.engine.orders.orders import Listener, Order, Performed, preview_of
from inductor_debug.engine.pool.pool import PoolFactory
from inductor_debug.engine.pool.supervisor import WorkerPool
from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.results.endings import internal_finding
from inductor_debug.engine.results.keeping import Keeper, KeptArtifact, newest
from inductor_debug.engine.results.kept_runs import Versions
from inductor_debug.engine.results.known_expressions import KnownExpression
from inductor_debug.engine.results.merge import Results
from inductor_debug.engine.runner import Runner, Work, failed
from inductor_debug.engine.settings.settings import ConfigurationError, Settings
from inductor_debug.engine.size_questions import seek_sizes, set_sizes, sizes_of
from inductor_debug.engine.text.documents import Document, Runnable
from inductor_debug.engine.text.source_files import read_source

_LOG = logging.getLogger(__name__)

__all__ = ["AnalysisState", "AnalysisUpdate", "ConfigurationError", "Engine", "Settings"]


class Engine:
    """Documents in, updates out.

    All methods are called in the event loop; the listener runs there, too, once for every accepted update. `jobs`
    bounds the workers at once (default: the number of cores). `cache_folder` is where logs and, unless the settings say
    otherwise, artifacts go (default: the user's). `remembers` and `keeps_runs` are the `Runner`'s.
    """

    def __init__(
        self,
        *,
        settings_for: Callable[[str], Settings],
        listener: Callable[[AnalysisUpdate], None],
        pool_factory: PoolFactory = WorkerPool,
        cache_folder: Path | None = None,
        jobs: int | None = None,
        remembers: bool = False,
        keeps_runs: bool = False,
        selects: bool = False,
    ) -> None:
        self._settings_for = settings_for
        self._selects = selects
        self._listener = listener
        self._runner = Runner(pool_factory, cache_folder, jobs, remembers=remembers, keeps_runs=keeps_runs)
        self._keeper = Keeper(cache_folder)
        self._sessions: dict[str, DocumentSession] = {}
        self._leaving: set[DocumentSession] = set()
        self._watch = FileWatch(self._on_disk_change)
        self._open = True

    def open(self, uri: str, path: str, version: int, text: str) -> None:
        """A document was opened. `path` is absolute, or "" where the document is no file (untitled)."""
        if not self._open:
            return
        self.close(uri)
        document = Document(uri, path, version, text, saved=text)
        document.saved = document.on_disk()
        session = DocumentSession(
            document,
            settings_for=self._settings_for,
            runner=self._runner,
            listener=self._listener,
            selects=self._selects,
        )
        self._sessions[uri] = session
        session.opened()

    def change(self, uri: str, version: int, text: str) -> None:
        """The whole new text of an open document."""
        session = self._sessions.get(uri)
        if session is not None:
            session.changed(version, text)

    def save(self, uri: str, text: str | None = None) -> None:
        """The document was written to disk."""
        session = self._sessions.get(uri)
        if session is not None:
            session.saved(text)
            path = session.document.path
            if any(other.depends_on({path}) for other in self._sessions.values() if other is not session):
                self._watch.notice([path])
            else:
                self._watch.remember(path)

    def close(self, uri: str) -> None:
        """Stops its analysis and drops its findings; no update follows."""
        session = self._sessions.pop(uri, None)
        if session is not None:
            session.closed()
            self._leaving = {left for left in (*self._leaving, session) if left.ending}

    def files_changed(self, paths: list[str], created: Collection[str] = ()) -> None:
        """Files were made, changed or deleted on disk (didChangeWatchedFiles).

        `created` are those of them that are known to be new: they may change what an import finds.
        """
        if self._open:
            self._watch.notice(paths, created)

    def settings_changed(self) -> None:
        """Settings may have changed: analyses again what they concern, shows anew what only policy concerns."""
        for session in list(self._sessions.values()):
            session.settings_changed()

    def analyze(self, uri: str, cause: str) -> None:
        """The user asked for it: runs even with trigger "manual", past the cache and after a crash."""
        session = self._sessions.get(uri)
        if session is not None:
            session.asked(cause)

    def cancel(self, uri: str | None = None) -> None:
        """Stops the analysis of one document, or of all."""
        for session in list(self._sessions.values()):
            if uri is None or session.document.uri == uri:
                session.cancelled()

    def prewarm(self, path: str) -> None:
        """Starts the worker pool that files like the absolute `path` (a file or folder) will need, in the background.

        Raises:
            ConfigurationError: the settings for it cannot be used.
        """
        self._runner.prewarm(self._settings_for(path))

    def latest(self, uri: str) -> AnalysisUpdate | None:
        """The newest update of an open document, if there was one."""
        session = self._sessions.get(uri)
        return session.gate.latest if session is not None else None

    def expressions(self, uri: str) -> list[KnownExpression]:
        """What is known of the expressions of an open document, in positions of its present text.

        From its own runs and, for what those did not see, from those of other open documents that import it. Never
        waits for anything.
        """
        session = self._sessions.get(uri)
        if session is None:
            return []
        document = session.document
        found: dict[Range, KnownExpression] = {}
        for other in (*self._sessions.values(), session):
            seen = other.expressions.at(document.path, document.text, document.saved) if document.path else []
            found.update((known.range, known) for known in seen)
        return list(found.values())

    def tensors(self, uri: str, question: Question) -> LineTensors:
        """The tensors at a line of an open document, from the last runs that passed it. Never waits for anything."""
        session = self._sessions.get(uri)
        if session is None or not session.document.path:
            return LineTensors(question.path, question.line, why="The file is not open, or was never saved.")
        runs: dict[str, RanTimeline] = {}
        for other in (*self._sessions.values(), session):
            for target, run in other.expressions.timelines().items():
                runs[target] = RanTimeline(run.timelines[target], run.path, run.text)
        document = session.document
        question = dataclasses.replace(question, path=document.path)
        try:
            settings = self._settings_for(document.path)
        except ConfigurationError as error:
            return LineTensors(question.path, question.line, why=str(error))
        name = settings.chosen_accelerator
        profile = read_profile(settings.profile) if name else None
        return line_tensors(question, KnownTimeline(runs, document.text, self._saved_text, profile, name or ""))

    def _saved_text(self, path: str) -> str | None:
        """The text of a file as those who import it have it."""
        for session in self._sessions.values():
            if session.document.path == path:
                return session.document.saved
        text = read_source(path)
        return None if isinstance(text, Finding) else text

    async def sizes(self, uri: str) -> list[TargetSizes]:
        """The free sizes of the targets of an open document as they are now, and how the targets do with them."""
        await self.seek_sizes(uri)
        return sizes_of(self._sessions.get(uri))

    async def seek_sizes(self, uri: str) -> None:
        """Waits until it is known which sizes of an open document's targets are free; an update follows then.

        That takes another run of each target, when nobody types and nothing else runs.
        """
        session = self._sessions.get(uri)
        if session is not None:
            await seek_sizes(session, lambda work, of_use: self._tried(uri, work, of_use))

    async def set_sizes(self, uri: str, target: str, values: Mapping[str, int]) -> TargetSizes:
        """Sets sizes of a target of an open document for the session, all others as usual again; updates follow.

        Raises:
            UnknownSizeError: the document has no such target, or the target no such size.
        """
        await self.seek_sizes(uri)
        return set_sizes(self._sessions.get(uri), target, values)

    async def settled(self, uri: str) -> AnalysisUpdate | None:
        """Waits until nothing is queued or running for the document; None if it is not open."""
        await self._watch.settled()
        session = self._sessions.get(uri)
        return await session.settled() if session is not None else None

    async def check(
        self,
        path: str,
        on_progress: Callable[[AnalysisUpdate], None] | None = None,
        *,
        keep_graphs: bool = False,
        text: str | None = None,
    ) -> FileReport:
        """As `check_on_disk`, for who needs the report alone."""
        return (await self.check_on_disk(path, on_progress, keep_graphs=keep_graphs, text=text)).update.report

    async def check_on_disk(
        self,
        path: str,
        on_progress: Callable[[AnalysisUpdate], None] | None = None,
        *,
        keep_graphs: bool = False,
        text: str | None = None,
    ) -> OnDisk:
        """Analyses the file on disk as a whole. `on_progress` gets updates with version None, RUNNING until the last.

        With `keep_graphs` the captured graphs go into the artifact store, and nothing comes from the cache. A `text`
        stands in for the file's: whoever gives one answers for what it does.

        Raises:
            ConfigurationError: the settings for it cannot be used. Nothing else: bad files give findings.
        """
        path = os.path.abspath(path)
        settings = self._settings_for(path)
        batch = Batch(self._runner, path, settings, on_progress)
        source = read_source(path) if text is None else text
        if isinstance(source, Finding):
            return batch.end(failed(path, "", source))
        work = Work(path, source, settings, order=Order(keep_graphs=True, export_formats=True) if keep_graphs else None)
        results = self._runner.fault(work) if keep_graphs else self._runner.known(work)
        if results is None:
            try:
                results = await self._runner.run(work, batch.progress)
            except Exception as error:
                _LOG.exception("the check of %s failed", path)
                results = failed(path, source, internal_finding(error, path, source), broken=True)
        for note in self._keeper.keep(settings, path, results.artifacts).notes:
            _LOG.warning("%s", note)
        return batch.end(results)

    async def compare_accelerators(
        self, path: str, target: str, alternatives: Sequence[Settings], on_event: Listener | None = None
    ) -> AcceleratorComparison | FileReport:
        """Captures a target of a file once, "" for all, and judges that for each of `alternatives`.

        Args:
            path: the file.
            target: the target's name.
            alternatives: the file's settings with each accelerator in turn (`SettingsResolver.for_accelerator`).
            on_event: told of every event of the one run as it comes.

        Returns:
            The comparison; the report of the run where it failed, or where the file offers nothing to compile.

        Raises:
            ConfigurationError: the settings for the file cannot be used.
        """
        # Imported here: an editor waits while the server starts.
        from inductor_debug.engine.whatif.accelerators import compared, judges_itself

        results, settings = await self._carried_out(path, Order(target=target, keep_captures=True), on_event)
        report = self._runner.report(results, settings)
        if results.broken or report.status in (FileStatus.FAILED, FileStatus.NO_TARGET):
            return report
        own = {}
        for alternative in filter(judges_itself, alternatives):
            there, _ = await self._carried_out(path, Order(target=target), on_event, like=alternative)
            own[alternative.accelerator] = there
        return compared(results, target, alternatives, settings, self._runner.report, own)

    @property
    def versions(self) -> Versions:
        """What the first interpreter that was needed said of itself."""
        return self._runner.versions

    def dependencies(self, uri: str) -> frozenset[str]:
        """The files that an open document's last text to have run imports."""
        session = self._sessions.get(uri)
        return session.dependencies if session is not None else frozenset()

    async def perform(
        self, path: str, order: Order, on_event: Listener | None = None, *, text: str | None = None
    ) -> Performed:
        """Carries out an order for a file: its open document's text where that may run, else what is on disk.

        A `text` stands in for either: whoever gives one answers for what it does.

        Cancelling the awaiting task kills the worker.

        Raises:
            ConfigurationError: the settings for it cannot be used. Nothing else: bad files give findings.
        """
        results, settings = await self._carried_out(path, order, on_event, text)
        report = self._runner.report(results, settings)
        kept = self._keeper.keep(settings, results.path, newest(results.artifacts))
        found = (results.answers, results.artifacts, results.broken, kept.references, kept.notes)
        return Performed(report, results.text, *found, found=results.findings(), timelines=results.timelines)

    async def _carried_out(
        self, path: str, order: Order, on_event: Listener | None, text: str | None = None, like: Settings | None = None
    ) -> tuple[Results, Settings]:
        """All that came of an order, and the settings it was carried out with: the file's, or those of `like`."""
        path = os.path.abspath(path)
        own = self._settings_for(path) if like is None else like
        settings = dataclasses.replace(
            own, stages=order.stages or own.stages, timeout=order.timeout if order.timeout is not None else own.timeout
        )
        source = self._text_to_run(path) if text is None else text
        if isinstance(source, Finding):
            return failed(path, "", source), settings
        work = Work(path, source, settings, order=order)

        def tell(results: Results, event: Event | None) -> None:
            if on_event is not None and event is not None:
                on_event(event)

        return self._runner.fault(work) or await self._runner.run(work, tell), settings

    async def held(self, path: str, order: Order) -> Performed | None:
        """What the order's stages captured of its target when the present text of an open document was analysed.

        Waits for an analysis that goes on. None where there is nothing: the document is closed, or was not analysed to
        the end of these stages.

        Raises:
            ConfigurationError: the settings for the file cannot be used.
        """
        path = os.path.abspath(path)
        session = next((session for session in self._sessions.values() if session.document.path == path), None)
        if session is None:
            return None
        await session.settled()
        results = session.held()
        graphs = results.graphs_of(order.target, order.stages) if results is not None else None
        if results is None or graphs is None:
            return None
        settings = self._settings_for(path)
        kept = self._keeper.keep(settings, path, graphs)
        report = self._runner.report(results, settings)
        return Performed(report, results.text, [], graphs, False, kept.references, kept.notes)

    def judged(self, path: str, findings: Sequence[Finding], text: str | None) -> list[Finding]:
        """What policy makes of findings that stand beside an analysis. `text` is what their positions in `path` are in.

        Raises:
            ConfigurationError: the settings for the file cannot be used.
        """
        return self._runner.judged(Results(path, text or ""), findings, self._settings_for(path))

    def keep(self, path: str, artifacts: Sequence[ArtifactMade]) -> KeptArtifact:
        """Keeps what came of an order that was cancelled before it could be kept.

        Raises:
            ConfigurationError: the settings for the file cannot be used.
        """
        path = os.path.abspath(path)
        return self._keeper.keep(self._settings_for(path), path, newest(artifacts))

    def _text_to_run(self, path: str) -> str | Finding:
        """Unsaved top-level code never runs: where there is some, the saved text does."""
        for session in self._sessions.values():
            document = session.document
            if document.path == path and document.verdict() is Runnable.RUN:
                return document.text
        return read_source(path)

    def last_ran(self, uri: str, target: str) -> str | None:
        """The last text of an open document with which a target ran, "" for any; None where none is known."""
        session = self._sessions.get(uri)
        return session.last_ran(target) if session is not None else None

    async def try_edits(self, uri: str, edits: Sequence[TextEdit], only: str = "") -> FileReport | None:
        """What an analysis of an open document's text would report with these edits; nothing of the document changes.

        With `only` it is no more than the preview of that target.

        It runs when no analysis does, makes way for any that begins, and is answered from the same cache. None says
        that nobody can tell: the document is closed or not analysed to its end, or was edited meanwhile.

        Unsaved top-level code never runs here, either. Of a saved document, edits of top-level code do run: whoever
        calls passes edits of `engine.fixes`, which put what the user has saved in another form, or add calls of torch's
        own functions. That is ours, and as safe as the saved file. Of an unsaved document they do not, until it is
        saved.
        """
        session = self._sessions.get(uri)
        work = session.work_on(edits) if session is not None else None
        if work is not None and only:
            work = work.ordered(preview_of(only))
        results = await self._tried(uri, work)
        return None if work is None or results is None else self._runner.report(results, work.settings)

    async def compare_fix(self, uri: str, fix: Fix, target: str) -> list[Answered] | None:
        """Whether a target of an open document ("" for all) computes the same with a fix: see `fixes.proof.compared`.

        It runs as `try_edits` does, uncached; None says that nobody can tell.
        """
        session = self._sessions.get(uri)
        results = await self._tried(uri, session.work_to_compare(fix, target) if session is not None else None)
        return None if results is None else results.answers

    async def _tried(self, uri: str, work: Work | None, of_use: Callable[[], bool] = lambda: True) -> Results | None:
        session = self._sessions.get(uri)
        if session is None or work is None:
            return None
        generation = session.gate.generation

        def wanted() -> bool:
            return self._sessions.get(uri) is session and session.gate.generation == generation and of_use()

        return await self._runner.attempt(work, wanted)

    def log_paths(self) -> list[Path]:
        """The logs of the worker pools (user code's output), the most recently used last."""
        return self._runner.log_paths()

    def infer_anew(self, path: str) -> None:
        """Forgets the inputs with which the classes of a file last ran, and analyses the file again if it is open."""
        self._runner.infer_anew(path)
        for session in list(self._sessions.values()):
            if session.document.path == path:
                session.asked("inputs inferred anew")

    async def restart(self) -> None:
        """Stops everything, forgets every cached result and analyses the open documents again."""
        for session in self._sessions.values():
            session.cancelled()
        await self._stopped()
        self._runner.forget()
        for session in list(self._sessions.values()):
            session.reconsider("restarted")

    async def shutdown(self) -> None:
        """Stops everything for good. Returns when no worker is left."""
        self._open = False
        self._watch.close()
        for uri in list(self._sessions):
            self.close(uri)
        await self._stopped()

    async def _stopped(self) -> None:
        await asyncio.gather(*(session.ended() for session in (*self._sessions.values(), *self._leaving)))
        await self._runner.close()

    def _on_disk_change(self, paths: set[str], new: bool) -> None:
        """Files were noticed to have changed; `new` says that some came or went, which can change what imports find."""
        if new:
            self._runner.forget_results()
        settings = any(path.endswith(".toml") for path in paths)
        for session in list(self._sessions.values()):
            if session.document.path in paths:
                session.disk_changed()
            if settings:
                session.settings_changed()
            if session.depends_on(paths - {session.document.path}):
                session.reconsider(_because(paths))


def _because(paths: set[str]) -> str:
    names = sorted(os.path.basename(path) for path in paths)
    return f"{names[0]} changed" if len(names) == 1 else f"{len(names)} files changed"
