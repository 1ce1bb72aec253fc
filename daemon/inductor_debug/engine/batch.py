"""One file of a batch check: tells of its progress as if it were a document, and makes its report.

There is only one generation and nothing to be stale against. It starts nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from inductor_debug_schema import Event, Stage, StageFinished, StageStarted

from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.results.merge import Results
from inductor_debug.engine.runner import Runner
from inductor_debug.engine.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class OnDisk:
    """The check of a file as it lay on disk: its last update, the text that ran, and the files that this imported."""

    update: AnalysisUpdate
    text: str
    dependencies: frozenset[str]


class Batch:
    """The check of the file at the absolute `path`; `listener` may be None."""

    def __init__(
        self, runner: Runner, path: str, settings: Settings, listener: Callable[[AnalysisUpdate], None] | None
    ) -> None:
        self._runner = runner
        self._path = path
        self._settings = settings
        self._listener = listener
        self._started = time.monotonic()

    def progress(self, results: Results, event: Event | None) -> None:
        """Tells how far it has come."""
        if self._listener is not None:
            self._listener(self._update(results, AnalysisState.RUNNING, stage_of(event)))

    def end(self, results: Results) -> OnDisk:
        """Makes the report and tells that it is the last."""
        update = self._update(results, AnalysisState.FAILED if results.broken else AnalysisState.DONE, None)
        if self._listener is not None:
            self._listener(update)
        return OnDisk(update, results.text, frozenset(results.dependencies) - {self._path})

    def _update(self, results: Results, state: AnalysisState, stage: Stage | None) -> AnalysisUpdate:
        return AnalysisUpdate(
            uri=Path(self._path).as_uri(),
            path=self._path,
            version=None,
            generation=0,
            state=state,
            stage=stage,
            report=self._runner.report(results, self._settings),
            seconds=time.monotonic() - self._started,
            cause="check",
        )


def stage_of(event: Event | None) -> Stage:
    """The stage that an event speaks of; before the first one the file is being loaded."""
    if isinstance(event, StageStarted):
        return event.stage
    if isinstance(event, StageFinished):
        return event.report.stage
    return Stage.LOAD
