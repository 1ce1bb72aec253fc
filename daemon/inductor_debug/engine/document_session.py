"""One document's road from an event to an update.

What happens to a document (opened, typed, saved, a dependency changed, a command) leads to one of three things:
- *request*: a new generation; whatever ran for an older one is killed; the text is answered from cache, by a fault
  that needs no worker, or by a job (QUEUED, RUNNING stage by stage, then DONE or FAILED);
- *wait*: a new generation that runs nothing, because unsaved top-level code never runs (STALE). The last findings
  stay, moved along with the edit. Where the text does not parse, saved or not, a `syntax-error` finding joins them;
- nothing, where what runs or is shown is still right.

New errors wait until the typing has paused: a statement that is being written is not wrong yet.

A job that crashed or timed out is never started again by itself: the next edit, save or command does that. Updates
leave through the document's `Gate` only.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inductor_debug_schema import (
    Event,
    FileReport,
    FileStatus,
    Finding,
    Severity,
    SizesSeen,
    Stage,
    StageFinished,
)

from inductor_debug.engine.batch import stage_of
from inductor_debug.engine.document_sizes import DocumentSizes
from inductor_debug.engine.fixes.edits import Fix, TextEdit, applied
from inductor_debug.engine.fixes.proof import comparison
from inductor_debug.engine.results.analysis import TOP_LEVEL_CHANGED, AnalysisState, AnalysisUpdate
from inductor_debug.engine.results.endings import configuration_finding, internal_finding
from inductor_debug.engine.results.gate import Gate, Listener
from inductor_debug.engine.results.known_expressions import ExpressionStore
from inductor_debug.engine.results.merge import CarriedFindings, Key, Results, key_of, moved, withheld
from inductor_debug.engine.runner import Runner, Work, failed
from inductor_debug.engine.scheduling import Debounce
from inductor_debug.engine.selection.selection import Selector, Skip, SkipReason, words
from inductor_debug.engine.settings.settings import ConfigurationError, Settings, Trigger
from inductor_debug.engine.text.documents import Document, Runnable
from inductor_debug.engine.text.evident import evident_faults
from inductor_debug.source.parsing import LARGEST_PARSED, SyntaxFault, unparsed

if TYPE_CHECKING:
    from inductor_debug.engine.whatif.changed_sizes import ResizedResults

_LOG = logging.getLogger(__name__)

NOT_SAVED = "waiting for a save: the file is not on disk"
NOT_PARSED = "waiting for an edit: the text does not parse"
SIZES_SET = "sizes set"
SIZES_SETTLE = 0.5
"""Seconds for which sizes stay as they are before the code is run with them: a slider passes many."""
NOT_ASKED = "waiting for a save or a command"
_NEVER_RUN = frozenset((SkipReason.SET_UP, SkipReason.MIGRATION, SkipReason.WITHOUT_TORCH, SkipReason.WITHOUT_MODEL))
"""Files in which there is nothing to find."""


class DocumentSession:
    """One open document; see the module's text."""

    def __init__(
        self,
        document: Document,
        *,
        settings_for: Callable[[str], Settings],
        runner: Runner,
        listener: Listener,
        selects: bool = False,
    ) -> None:
        self.document = document
        self.gate = Gate(document, listener)
        self._settings_for = settings_for
        self._runner = runner
        self._selects = selects
        self._debounce = Debounce()
        self._settings: Settings | None = None
        self._job: _Job | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._results: Results | None = None
        self._carried: CarriedFindings | None = None
        self._selected: tuple[str, Skip | None] | None = None
        """The saved text for which it was last decided whether there is anything to compile, and what came of it."""
        self.expressions = ExpressionStore()
        self._sizes = DocumentSizes()

    @property
    def busy(self) -> bool:
        """Whether a job is queued or running."""
        return self._job is not None

    def work_on(self, edits: Sequence[TextEdit]) -> Work | None:
        """The present text with `edits`, as work for a trial; None where nobody could tell what a trial proves.

        The present text must be analysed to its end, so that there is something to compare with, or wait for a save,
        and running the edited one must be as safe: see `Engine.try_edits`.
        """
        document, settings, latest = self.document, self._settings, self.gate.latest
        if settings is None or self.busy or latest is None or not latest.conclusive:
            return None
        answered = self._results is not None and self._results.text == document.text
        if latest.state is AnalysisState.DONE and not answered:
            return None
        text = applied(document.text, edits)
        if document.dirty and dataclasses.replace(document, text=text).verdict() is not Runnable.RUN:
            return None
        return Work(document.path, text, settings)

    def work_to_compare(self, fix: Fix, target: str) -> Work | None:
        """The comparison of what the text computes with a fix and without it; None as for `work_on`, or if it waits."""
        work = self.work_on(fix.edits)
        if work is None or self.document.verdict() is not Runnable.RUN:
            return None
        text, order = comparison(self.document.text, fix, target)
        return dataclasses.replace(work, text=text, order=order)

    def last_ran(self, target: str) -> str | None:
        """The last text with which a target of the document ran; None where none is known."""
        return None if self._settings is None else self._runner.last_ran(self.document.path, self._settings, target)

    def held(self) -> Results | None:
        """What the analysis of the present text found; None where there is none, or it has not ended."""
        results = self._results
        return results if results is not None and results.text == self.document.text and not self.busy else None

    def sized(self, target: str) -> ResizedResults | None:
        """What is known of a target with its sizes as they are now; None where nothing is."""
        results, settings = self._results, self._settings
        if results is None or settings is None or results.text != self.document.text:
            return None
        return self._sizes.tried(results, target, settings)

    def take_sizes(self, found: Results) -> None:
        """Another run of the present text has found which sizes are free."""
        results, settings = self._results, self._settings
        if results is not None and settings is not None and results.text == found.text:
            results.take_sizes(found)
            self._carried = CarriedFindings.of(results)
            self.gate.amend(self._runner.report(results, settings), results.text)

    async def paused(self) -> None:
        """Waits until nobody types."""
        while wait := self._debounce.quiet_in():
            await asyncio.sleep(wait)

    def seen_sizes(self) -> dict[str, SizesSeen]:
        """The free sizes of each target, as far as they are known of the present text."""
        results = self._results
        return results.sizes if results is not None and results.text == self.document.text else {}

    def set_sizes(self, target: str, values: Mapping[str, int]) -> ResizedResults | None:
        """The user has set sizes of a target, all others are as usual again.

        What its run with symbols tells of them is shown at once, and returned; then the code is run with them.
        """
        self._sizes.give(target, values)
        settings = self._resolve(SIZES_SET, asked=True)
        if settings is None:
            return None
        sized = self.sized(target)
        if sized is not None:
            self._answer(self._begin(SIZES_SET), sized.results, settings)
        self._consider(settings, SIZES_SET, delay=SIZES_SETTLE if sized is not None else 0.0)
        return sized

    # What happens to a document.

    def opened(self) -> None:
        """The document was opened."""
        self.reconsider("opened")

    def changed(self, version: int, text: str) -> None:
        """The document has a new text."""
        same = self.document.text == text
        self.document.version = version
        self.document.text = text
        delay = self._debounce.delay()
        if same and self.busy:
            return
        settings = self._resolve("edited")
        if settings is None:
            return
        if settings.trigger is Trigger.ON_TYPE:
            self._consider(settings, "edited", delay=delay)
        elif not self.busy:  # a job that runs goes on: it tells of the saved text
            self._wait(NOT_ASKED)

    def saved(self, text: str | None) -> None:
        """The document was written to disk as it is, or as `text`."""
        if text is not None:
            self.document.text = text
        self.document.saved = self.document.text
        if self._job is not None and self._job.begun and self._job.work.text == self.document.text:
            return
        settings = self._resolve("saved")
        if settings is None:
            return
        if settings.trigger is Trigger.MANUAL:
            self._wait(NOT_ASKED)
        else:
            self._request(settings, "saved")

    def disk_changed(self) -> None:
        """Something other than the editor may have written or removed the file."""
        now = self.document.on_disk()
        if now != self.document.saved:
            self.document.saved = now
            if now is not None:
                self.reconsider("changed on disk")

    def reconsider(self, cause: str) -> None:
        """Something that matters to the analysis is different now: does what the trigger asks for."""
        settings = self._resolve(cause)
        if settings is None:
            return
        on_save = settings.trigger is Trigger.ON_SAVE and not self.document.dirty
        if settings.trigger is Trigger.ON_TYPE or on_save:
            self._consider(settings, cause)
        elif not self.busy:
            self._wait(NOT_ASKED)

    def asked(self, cause: str) -> None:
        """The user asked for an analysis: past the cache and whatever the trigger."""
        settings = self._resolve(cause, asked=True)
        if settings is not None:
            self._consider(settings, cause, fresh=True)

    def settings_changed(self) -> None:
        """Settings may be different now."""
        before = self._settings
        settings = self._resolve("settings changed")
        if settings is None or settings == before:
            return
        if before is not None and self._results is not None and not self.busy:
            self.gate.replace(self._runner.report(self._results, settings), self._results.text)
        self.reconsider("settings changed")

    def cancelled(self) -> None:
        """The user stopped it."""
        if self.busy:
            self._stop()
            self.gate.show_again(AnalysisState.CANCELLED)
            self.gate.begin("cancelled")

    def closed(self) -> None:
        """The document was closed: nothing is delivered any more."""
        self.gate.shut()
        self._stop()

    @property
    def dependencies(self) -> frozenset[str]:
        """The files that the last text to have run imports."""
        own = self.document.path
        return frozenset(self._results.dependencies if self._results is not None else ()) - {own}

    def depends_on(self, paths: set[str]) -> bool:
        """Whether a change of one of these files may change the findings."""
        source = self._results
        if self._job is not None:
            source = self._job.results
            if source is None or not source.loaded:  # which version the worker reads is anybody's guess
                return self._in_project(paths)
        if source is None:
            return False
        if not paths.isdisjoint(source.dependencies):
            return True
        return any(finding.rule == "import-error" for finding in source.general) and self._in_project(paths)

    async def settled(self) -> AnalysisUpdate | None:
        """Waits until nothing is queued or running."""
        while self._job is not None and self._job.task is not None and not self._job.task.done():
            await asyncio.wait([self._job.task])
        return self.gate.latest

    @property
    def ending(self) -> bool:
        """Whether stopped jobs are still on their way out."""
        return bool(self._ending)

    async def ended(self) -> None:
        """Waits until the jobs that were stopped are gone."""
        if self._ending:
            await asyncio.wait(list(self._ending))

    # What follows from it.

    def _resolve(self, cause: str, *, asked: bool = False) -> Settings | None:
        """The settings that hold now; None where they forbid to run, which the document then says.

        A file that has nothing to compile is run only where the user `asked` for it.
        """
        document = self.document
        try:
            own = self._settings_for(document.path)
            self._settings = dataclasses.replace(own, sizes=(*own.sizes, *self._sizes.settings()))
        except ConfigurationError as error:
            self._settings = None
            finding = configuration_finding(error, document.path, document.text)
            results = failed(document.path, document.text, finding, broken=True)
            self._answer(self._begin(cause), results, Settings(os.path.dirname(document.path)))
            return None
        if self._settings.awaits_accelerator:
            self._settings = None  # they change, which is said, once the accelerator is known
            return None
        if document.path and self._settings.excludes(document.path):
            report = FileReport(document.path, FileStatus.NO_TARGET)
            self.gate.show(self._begin("excluded"), AnalysisState.DONE, report, document.text)
            return None
        if not asked and (why := self._nothing_to_compile(self._settings)) is not None:
            report = FileReport(document.path, FileStatus.NO_TARGET)
            self.gate.show(self._begin(f"not run: {why}"), AnalysisState.DONE, report, document.text)
            return None
        return self._settings

    def _nothing_to_compile(self, settings: Settings) -> str | None:
        """Why the saved file need not run, in words; None where it may have something to compile.

        Scripts and tests are run here, for who opens one wants to know of its models.
        """
        document = self.document
        if not self._selects or not document.path or document.saved is None:
            return None
        if self._selected is None or self._selected[0] != document.saved:
            skip = Selector(settings.project_root).skip(document.path, settings.project_root, settings, document.ran)
            self._selected = document.saved, skip
        skip = self._selected[1]
        return words(skip) if skip is not None and skip.reason in _NEVER_RUN else None

    def _consider(self, settings: Settings, cause: str, *, delay: float = 0.0, fresh: bool = False) -> None:
        verdict = self.document.verdict()
        if verdict is Runnable.RUN:
            self._request(settings, cause, delay=delay, fresh=fresh)
        elif isinstance(verdict, SyntaxFault) and self._runner.parser_speaks_for(settings):
            alone = failed(self.document.path, self.document.text, verdict.finding(self.document.path))
            self._wait(NOT_PARSED)
            self._when_quiet(self.gate.generation, self._runner.report(alone, settings).findings)
        else:
            self._wait(NOT_SAVED if self.document.saved is None else TOP_LEVEL_CHANGED)
            self._tell_evident(settings)

    def _tell_evident(self, settings: Settings) -> None:
        """Tells what needs no run, of a text that may not run."""
        path, text = self.document.path, self.document.text
        if len(text) <= LARGEST_PARSED and (faults := evident_faults(text, path)):
            told = self._runner.judged(Results(path, text), faults, settings)
            self._when_quiet(self.gate.generation, told)

    def _wait(self, cause: str) -> None:
        self._begin(cause)
        self.gate.show_again(AnalysisState.STALE)

    def _when_quiet(self, generation: int, faults: list[Finding]) -> None:
        """Shows faults of the present text before what is shown, as soon as the typing pauses."""
        wait = self._debounce.quiet_in()
        if generation != self.gate.generation:
            return
        if wait:
            asyncio.get_running_loop().call_later(wait, self._when_quiet, generation, faults)
        else:
            self.gate.show_again(AnalysisState.STALE, faults)

    def _request(self, settings: Settings, cause: str, *, delay: float = 0.0, fresh: bool = False) -> None:
        document = self.document
        if not document.path:
            self._wait(NOT_SAVED)
            return
        generation = self._begin(cause)
        work = Work(
            document.path, document.text, settings, parsed=document.dirty, shows=True
        )  # the verdict has parsed it
        known = self._runner.fault(work) if fresh else self._runner.known(work)
        self._carried = self._carried.moved_to(work.text) if self._carried is not None else None
        job = _Job(work, generation, self._carried, self.gate.errors())
        if known is not None and not self._premature(job, self._runner.report(known, settings)):
            self._answer(generation, known, settings)
            return
        self.gate.show_again(AnalysisState.QUEUED)
        self._job = job
        job.task = asyncio.get_running_loop().create_task(self._run(job, delay, known))

    async def _run(self, job: _Job, delay: float, known: Results | None) -> None:
        """Brings a job to its end. With `known` results it only waits until they may be shown."""
        work = job.work
        if delay:
            await asyncio.sleep(delay)
        job.begun = time.monotonic()
        try:
            results = known or await self._runner.run(work, lambda *news: self._progress(job, *news))
        except Exception as error:
            _LOG.exception("the analysis of %s failed", work.path)
            results = failed(work.path, work.text, internal_finding(error, work.path, work.text), broken=True)
        while self._premature(job, self._runner.report(results, work.settings)):
            await asyncio.sleep(self._debounce.quiet_in())
        if self._job is job:
            self._job = None
            self._answer(job.generation, results, work.settings)

    def _progress(self, job: _Job, results: Results, event: Event | None) -> None:
        job.results = results
        self.expressions.take(results)
        if isinstance(event, StageFinished) and not job.told:
            job.told = True
            self._debounce.first_findings = time.monotonic() - job.begun
        self._tell(job, stage_of(event))

    def _tell(self, job: _Job, stage: Stage | None) -> None:
        """Shows how far a job has come, but for what is premature, which follows as soon as the typing pauses."""
        if self._job is not job or job.results is None:
            return
        report = self._runner.report(job.results, job.work.settings, job.carried)
        premature = self._premature(job, report)
        job.withheld = bool(premature)
        if premature:
            asyncio.get_running_loop().call_later(self._debounce.quiet_in(), self._tell, job, stage)
            report = withheld(report, premature, [] if job.carried is None else job.carried.targets)
        self.gate.show(job.generation, AnalysisState.RUNNING, report, job.work.text, stage)

    def _premature(self, job: _Job, report: FileReport) -> list[Finding]:
        """The errors that are not shown yet, while somebody types."""
        if not self._debounce.quiet_in():
            return []
        errors = (finding for finding in report.findings if finding.severity is Severity.ERROR)
        return [finding for finding in errors if key_of(finding) not in job.shown]

    def _answer(self, generation: int, results: Results, settings: Settings) -> None:
        """The end of a generation. A text that does not parse takes away nothing of what was known."""
        if not results.sizes_sought and self.gate.latest is not None:
            results.sizes_before = {target.name: target.sizes for target in self.gate.latest.report.targets}
        report = self._runner.report(results, settings)
        if self._results is not None and unparsed(report.findings, results.path):
            faults = moved(report.findings, results.path, results.text, self.document.text)
            self.gate.show_again(AnalysisState.DONE, faults)
            return
        self._results = results
        self._carried = CarriedFindings.of(results)
        self.expressions.take(results)
        state = AnalysisState.FAILED if results.broken else AnalysisState.DONE
        self.gate.show(generation, state, report, results.text)
        if results.path:
            saved = results.text == self.document.saved
            self._runner.keep_if_ran(Work(results.path, results.text, settings), report, saved=saved)
        if self.document.text != results.text:
            self.gate.show_again(AnalysisState.STALE)

    def _begin(self, cause: str) -> int:
        """A new generation; what ran for the older one is killed."""
        self._stop()
        return self.gate.begin(cause)

    def _stop(self) -> None:
        self._runner.trials.make_way()
        if self._job is None:
            return
        if self._job.results is not None and not self._job.withheld:
            self._carried = CarriedFindings.of(self._job.results, self._carried)
        task, self._job = self._job.task, None
        assert task is not None
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        task.cancel()

    def _in_project(self, paths: set[str]) -> bool:
        if self._settings is None:
            return False
        root = Path(self._settings.project_root)
        return any(path.endswith(".py") and root in Path(path).parents for path in paths)


@dataclass
class _Job:
    """Work in hand. `carried` stands in for what it has not found yet; `begun` is when its delay was over.

    `shown` are the errors that were shown when it was given out; with `withheld` it has found others, which are not.
    """

    work: Work
    generation: int
    carried: CarriedFindings | None
    shown: set[Key]
    task: asyncio.Task[None] | None = None
    begun: float = 0.0
    results: Results | None = None
    told: bool = False
    withheld: bool = False
