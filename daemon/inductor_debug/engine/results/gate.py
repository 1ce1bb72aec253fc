"""The one gate between an analysis and whoever listens: nothing of an older generation or a closed document passes.

It also keeps what is shown, and moves findings along when the text has changed since they were found, so that every
update speaks of the document's present version. It decides nothing else.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable, Sequence

from inductor_debug_schema import FileReport, FileStatus, Finding, Severity, Stage

from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.results.endings import CONFIGURATION_RULE
from inductor_debug.engine.results.merge import Key, key_of, moved, moved_targets
from inductor_debug.engine.text.documents import Document
from inductor_debug.source.parsing import SYNTAX_RULE

_IN_PLACE = (SYNTAX_RULE, CONFIGURATION_RULE)
_LOG = logging.getLogger(__name__)

Listener = Callable[[AnalysisUpdate], None]


class Gate:
    """One document's updates. `generation` is the only one that may pass; `latest` is the last that did."""

    def __init__(self, document: Document, listener: Listener) -> None:
        self.generation = 0
        self.latest: AnalysisUpdate | None = None
        self._document = document
        self._listener = listener
        self._open = True
        self._report = FileReport(document.path, FileStatus.CLEAN)
        self._text = document.text
        self._cause = ""
        self._started = time.monotonic()

    def begin(self, cause: str) -> int:
        """A new generation, because of `cause`; its seconds count from now. Returns its number."""
        self.generation += 1
        self._cause = cause
        self._started = time.monotonic()
        return self.generation

    def shut(self) -> None:
        """Lets nothing pass any more."""
        self._open = False

    def show(
        self, generation: int, state: AnalysisState, report: FileReport, text: str, stage: Stage | None = None
    ) -> None:
        """Delivers a report whose positions are those of `text`, unless it comes too late."""
        if self._open and generation == self.generation:
            self._report, self._text = report, text
            self._deliver(state, self._moved(), stage)

    def show_again(self, state: AnalysisState, extra: Sequence[Finding] = ()) -> None:
        """Delivers what is shown in a new state, and `extra` findings (positions of the present text) before it.

        What was shown in place of an analysis is left out: whoever calls knows what holds now.
        """
        if self._open:
            report = self._moved()
            kept = [finding for finding in report.findings if finding.rule not in _IN_PLACE]
            self._deliver(state, dataclasses.replace(report, findings=[*extra, *kept]), None)

    def amend(self, report: FileReport, text: str) -> None:
        """Delivers more of what was delivered last, in the same state and as of the same moment."""
        if self._open and self.latest is not None:
            self.replace(report, text)
            self._deliver(self.latest.state, self._moved(), self.latest.stage, self.latest.seconds)

    def replace(self, report: FileReport, text: str) -> None:
        """Changes what `show_again` will show, without telling anybody."""
        self._report, self._text = report, text

    def errors(self) -> set[Key]:
        """The errors that are shown, at their places in the present text."""
        return {key_of(finding) for finding in self._moved().findings if finding.severity is Severity.ERROR}

    def _moved(self) -> FileReport:
        document = self._document
        if self._text == document.text:
            return self._report
        findings = moved(self._report.findings, document.path, self._text, document.text)
        targets = moved_targets(self._report.targets, self._text, document.text)
        return dataclasses.replace(self._report, findings=findings, targets=targets)

    def _deliver(
        self, state: AnalysisState, report: FileReport, stage: Stage | None, seconds: float | None = None
    ) -> None:
        document = self._document
        update = AnalysisUpdate(
            uri=document.uri,
            path=document.path,
            version=document.version,
            generation=self.generation,
            state=state,
            stage=stage,
            report=report,
            seconds=time.monotonic() - self._started if seconds is None else seconds,
            cause=self._cause,
        )
        self.latest = update
        try:
            self._listener(update)
        except Exception:  # a fault of the listener's must not end the analysis
            _LOG.exception("the listener failed on an update of %s", document.uri)
