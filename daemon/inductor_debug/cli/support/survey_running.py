"""Runs a survey: several models at once with one engine, rows added to the file as they come, and a line of progress.

The event loop of the command lives here. Ctrl-C ends it in order: what was added stays. Nothing here prints results.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Protocol

from inductor_debug_schema import SurveyHeader, SurveyRow

from inductor_debug.cli.support import console
from inductor_debug.cli.support.batch_runner import Pools, remark_on, until_interrupted
from inductor_debug.cli.support.running.graph_pages import GraphPages
from inductor_debug.cli.support.running.places import AT_ONCE, RunPlace, StudyPlace
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.pool.pool import PoolFactory
from inductor_debug.engine.settings.settings_ladder import Settings, SettingsResolver
from inductor_debug.engine.survey.model_survey import ModelSurvey, SurveyOptions, key_of
from inductor_debug.engine.survey.results_file import SCHEMA, ResultsFile
from inductor_debug.engine.survey.survey_models import SurveyModel
from inductor_debug.engine.survey.survey_rows import SurveyRows
from inductor_debug.report.run_report import Tool
from inductor_debug.report.survey.survey_columns import failed, name_of

_TOLD_APART = 30.0
"""Seconds between lines of progress where there is no terminal to show one on."""


class SurveyPlace(StudyPlace, RunPlace, Protocol):
    """A place other than this machine's engine."""


_Where = tuple[RunPlace, StudyPlace, int]
"""Where a survey runs, what looks at models there, and how many at once."""


@dataclass(frozen=True)
class SurveyPlan:
    """What to survey, how, into which file; with a `place` there, as many models at once as it sees fit."""

    name: str
    models: Sequence[SurveyModel]
    options: SurveyOptions
    settings: SettingsResolver
    file: ResultsFile
    jobs: int
    pool_factory: PoolFactory
    quiet: bool = False
    place: SurveyPlace | None = None


def run(plan: SurveyPlan) -> None:
    """Surveys all models that the file does not have yet.

    Raises:
        InterruptedRunError: Ctrl-C or a polite kill; what was done is in the file.
        ConfigurationError: the settings for a file cannot be used.
        ResultsError: the file was begun with other versions or options.
        ClusterError: the cluster cannot be had, or is gone; what was done is in the file.
        OSError: a page with graphs cannot be written.
        PageError: this installation has no page for graphs.
    """
    asyncio.run(_run(plan))


async def _run(plan: SurveyPlan) -> None:
    pools = Pools(plan.pool_factory)
    if plan.place is not None:
        place, study, jobs = _elsewhere(plan, plan.place)
    else:
        place, study, jobs = _here(plan, pools)
    keeper = _Keeper(plan, lambda: pools.tool(place.versions))

    def close() -> None:
        keeper.progress.clear()
        plan.file.close()

    await until_interrupted(_survey_all(plan, study, jobs, keeper), place, close)
    if not plan.quiet:
        remark_on(pools.tool(place.versions))


def _elsewhere(plan: SurveyPlan, place: SurveyPlace) -> _Where:
    return place, place, min(len(plan.models), AT_ONCE)


def _here(plan: SurveyPlan, pools: Pools) -> _Where:
    jobs = max(plan.jobs, 1)
    engine = Engine(settings_for=plan.settings, listener=lambda update: None, pool_factory=pools.make, jobs=jobs)
    return engine, ModelSurvey(engine, plan.options, plan.settings, settings_like(plan.settings)), jobs


def settings_like(settings: SettingsResolver) -> Callable[[str, str], Settings]:
    """What gives the settings of a file with another accelerator, whose profile is named from where we are."""
    folder = os.getcwd()
    return lambda path, accelerator: settings.for_accelerator(path, accelerator, folder=folder)


async def _survey_all(plan: SurveyPlan, study: StudyPlace, jobs: int, keeper: _Keeper) -> None:
    waiting = iter([model for model in plan.models if not keeper.knows(model)])
    rows, pages = SurveyRows(os.getcwd()), GraphPages(plan.file.path, os.getcwd())

    async def work() -> None:
        for model in waiting:
            outcome = await study.outcome(model, keeper.progress.tell)
            keeper.add(pages.linked(rows.of(outcome), outcome))

    workers = [asyncio.ensure_future(work()) for _ in range(jobs)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


class _Keeper:
    """Adds rows to the file, and knows how far the survey is."""

    def __init__(self, plan: SurveyPlan, tool: Callable[[], Tool]) -> None:
        self._plan, self._tool = plan, tool
        self._begun = False
        known = sum(self.knows(model) for model in plan.models)
        self.progress = SurveyProgress(len(plan.models), known, enabled=not plan.quiet)

    def knows(self, model: SurveyModel) -> bool:
        """Whether the file has the rows of a model already, of the same text."""
        return self._plan.file.done.get(model.name) == key_of(model, self._plan.options.asked)

    def add(self, rows: list[SurveyRow]) -> None:
        """Adds the rows of a model; the first ones bring the header, for which the versions have to be known."""
        if not self._begun:
            self._plan.file.begin(self._header())
            self._begun = True
        self._plan.file.add(rows)
        self.progress.step(rows)

    def _header(self) -> SurveyHeader:
        plan, tool = self._plan, self._tool()
        return SurveyHeader(
            kind="survey",
            schema=SCHEMA,
            name=plan.name,
            version=tool.version,
            torch=tool.torch or "",
            python=tool.python or "",
            machine=f"{os.cpu_count() or 1} × {platform.machine()}",
            started=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            asked=dict(plan.options.asked),
            models=len(plan.models),
        )


class SurveyProgress:
    """How many models are done, how fast, when the rest will be, and which failed so far."""

    def __init__(self, total: int, known: int, *, enabled: bool) -> None:
        self._total, self._done, self._new = total, known, 0
        self._failed: list[str] = []
        self._started = self._told = time.monotonic()
        self._line = console.Progress(total, enabled=enabled)
        self._enabled = enabled
        self._now = ""
        for _ in range(known):
            self._line.step()

    def tell(self, doing: str) -> None:
        """Says what is done now."""
        self._now = doing
        self._line.show(f"{self._words()} · {doing}")

    def step(self, rows: Sequence[SurveyRow]) -> None:
        """One more model is done."""
        self._done += 1
        self._new += 1
        self._failed += [name_of(row) for row in rows if failed(row)]
        self._line.step()
        self.tell(self._now)
        now = time.monotonic()
        if self._enabled and not sys.stderr.isatty() and now - self._told >= _TOLD_APART:
            self._told = now
            console.say(f"{self._done}/{self._total} {self._words()}")

    def clear(self) -> None:
        """Takes the line away."""
        self._line.clear()

    def _words(self) -> str:
        seconds = time.monotonic() - self._started
        if not self._new:
            return "starting"
        left = (self._total - self._done) * seconds / self._new
        rate = 60 * self._new / seconds if seconds else 0.0
        failures = f", {len(self._failed)} failed, the last {self._failed[-1]}" if self._failed else ""
        return f"{rate:.1f}/min, {_minutes(left)} left{failures}"


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
