"""`check`: what `inductor-debug check` finds, and what `torch.compile` makes of a model, as something to assert on.

A number is only given where it was seen: of what was not checked, asking raises and says why.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from inductor_debug_schema import (
    Checked,
    FileReport,
    Finding,
    GraphDocument,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
)
from inductor_debug_schema.answers.guards_document import GraphEnd, GraphRecompile, GuardsDocument
from inductor_debug_schema.answers.statistics_document import StatisticsDocument

from inductor_debug import __version__
from inductor_debug.artifacts.savable_report import SavableReport
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.made_documents import documents_of, guards_of, statistics_of
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.report.file_names import FileNames, repository_root
from inductor_debug.report.formats.json_report import JsonReport
from inductor_debug.report.formats.notebook_html import check_inline
from inductor_debug.report.run_report import CheckedFile, CheckResult, Tool, summary
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.text import TextReport
from inductor_debug.scripting.carrying_out import Tell, in_engine, run_on, settings_for
from inductor_debug.scripting.engine_thread import EngineThread
from inductor_debug.scripting.subjects import Subject, subject_of

STAGES = (Stage.PREVIEW, Stage.MOCK)
"""What every report has: the run, and the graphs that torch.compile captures."""


class NotCheckedError(RuntimeError):
    """What is asked for was not seen, so there is no answer; the message says why."""


@dataclass(frozen=True, repr=False)
class CheckReport(SavableReport):
    """What a check told of a model, or of the targets of a file; as text it is what `inductor-debug check` prints.

    Attributes:
        result: everything, as the reports of the command line have it.
        guards: by target, the captured graphs, what they rely on, where they end, and what compiled them again.
        statistics: by target, what was captured: operators and how often, dtypes, bytes, FLOPs, the peak of memory.
        captured: by target, the graphs that were captured.
        names: how files are called.
        sources: the texts that findings point into.
    """

    result: CheckResult
    guards: list[GuardsDocument]
    statistics: list[StatisticsDocument]
    captured: list[GraphDocument]
    names: FileNames
    sources: ShownTexts

    @property
    def findings(self) -> list[Finding]:
        """What was found, in reading order.

        Raises:
            NotCheckedError: nothing was, and something was not checked.
        """
        found = [finding for _, finding in self.result.findings()]
        lacking = next((target for target in self.targets if target.checked is Checked.NO), None)
        if not found and lacking is not None:
            raise NotCheckedError(f"{lacking.name} was not checked: {lacking.why}")
        return found

    @property
    def failures(self) -> list[Finding]:
        """The findings that fail a build: by default warnings and errors."""
        return [finding for finding in self.findings if self.result.fails(finding)]

    @property
    def targets(self) -> list[TargetReport]:
        """The targets, each with its stages, how much of it was `checked`, and why no more."""
        return [target for file in self.result.files for target in file.report.targets]

    @property
    def checked(self) -> bool:
        """Whether all of every target was looked at."""
        return all(target.checked is Checked.YES for target in self.targets)

    @property
    def graphs(self) -> int:
        """How many graphs `torch.compile` captured.

        Raises:
            NotCheckedError: it did not come to its end.
        """
        return sum(stage.graphs for stage in self._captures())

    @property
    def graph_breaks(self) -> int:
        """How often graphs were broken.

        Raises:
            NotCheckedError: `torch.compile` did not come to its end.
        """
        return sum(stage.graph_breaks for stage in self._captures())

    @property
    def breaks(self) -> list[GraphEnd]:
        """Where graphs end, in words, with the expression; among them functions that were left to eager Python.

        Raises:
            NotCheckedError: `torch.compile` did not come to its end.
        """
        self._captures()
        return [end for document in self.guards for end in document.breaks]

    @property
    def recompilations(self) -> int:
        """How often functions were compiled again, over all sets of inputs.

        Raises:
            NotCheckedError: `torch.compile` did not come to its end.
        """
        return len(self.recompiles)

    @property
    def recompiles(self) -> list[GraphRecompile]:
        """What was compiled again, for which call, and because of which guards.

        Raises:
            NotCheckedError: `torch.compile` did not come to its end.
        """
        self._captures()
        return [recompile for document in self.guards for recompile in document.recompiles]

    @property
    def operations(self) -> int:
        """How many ATen operations ran.

        Raises:
            NotCheckedError: a target did not run to its end.
        """
        return sum(stage.ops for stage in self._stages(Stage.PREVIEW))

    def of_rule(self, rule: str) -> list[Finding]:
        """The findings of one rule, such as `graph-break`."""
        return [finding for finding in self.findings if finding.rule == rule]

    def to_dict(self) -> dict[str, Any]:
        """The `check` document as plain dicts and lists."""
        return JsonReport(self.names).document(self.result)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {summary(self.result)}>"

    def __str__(self) -> str:
        text = TextReport(self.names, self.sources, Styler(enabled=False))
        return "".join([*map(text.file, self.result.files), text.end(self.result)])

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return check_inline(self.result, self.names, self.sources)

    def _captures(self) -> list[StageReport]:
        stages = self._stages(Stage.MOCK)
        if len(self.guards) != len(stages):
            raise NotCheckedError("torch.compile captured no graphs: " + str(self))
        return stages

    def _stages(self, wanted: Stage) -> list[StageReport]:
        """How this stage went, of every target."""
        ended = []
        for target in self.targets:
            stage = next((stage for stage in target.stages if stage.stage is wanted), None)
            if stage is None or stage.state is not StageState.DONE or stage.shortfall is not None:
                why = target.why or "; ".join(finding.message for finding in self.findings)
                raise NotCheckedError(f"{target.name} was not seen to its end: {why}")
            ended.append(stage)
        if not ended:
            raise NotCheckedError("nothing was checked: " + str(self))
        return ended


def check(
    subject: str | os.PathLike[str] | Callable[..., Any],
    inputs: Any = None,
    *,
    accelerator: str | None = None,
    stages: Sequence[str] = (),
    allow: Sequence[str] | None = None,
    timeout: float | None = None,
    progress: Tell | None = None,
) -> CheckReport:
    """Checks a model, or the targets of a file: what `inductor-debug check` finds, breaks and recompilations.

    It runs in worker processes; nothing of it runs in this one.

    Args:
        subject: `"model.py"` or `"model.py::Net"`; or a module or function of this process, which travels as its source
            file and its state.
        inputs: for a subject of this process, the arguments of a call: a tuple, a dict of keywords, or one tensor. A
            list of tuples has several sets, and what compiles again between them is found.
        accelerator: a built-in accelerator, an installed one or a TOML file; None for what the project's settings say.
        stages: looked at beside the run and the capture: `"aot"`, `"inductor"`.
        allow: what the code may do to the world: "network", "write", "subprocess".
        timeout: seconds for everything.
        progress: is given a line of text whenever there is something to tell.

    Returns:
        The findings and what was captured.

    Raises:
        FileTargetError: there is no such file.
        NoSourceError: a subject of this process that no other process could build.
        OrderFailedError: the file offers no such target, or none at all.
        ConfigurationError: settings for the file, or the accelerator, cannot be used.
        TypeError: a subject of this process without inputs, or a file with some.
        ValueError: there is no such stage.
    """
    said = {"accelerator": accelerator, "allow": allow, "timeout": timeout}
    return check_with(None, subject, inputs, said, stages=stages, progress=progress)


def check_with(
    opened: EngineThread | None,
    subject: str | os.PathLike[str] | Callable[..., Any],
    inputs: Any,
    said: dict[str, Any],
    *,
    stages: Sequence[str] = (),
    progress: Tell | None = None,
) -> CheckReport:
    """As `check`, with an engine that stays open where there is one, and settings by name."""
    order = check_order(stages)
    with subject_of(subject, inputs) as meant:
        resolver = settings_for(meant, {"artifacts": "off", **said})

        async def work(engine: Engine) -> CheckReport:
            return await checked_by(engine, meant, order, resolver(meant.file.path), progress)

        return in_engine(resolver, work) if opened is None else opened.run(resolver, work)


def check_order(stages: Sequence[str] = ()) -> Order:
    """The order for a report.

    Raises:
        ValueError: there is no such stage.
    """
    return Order(stages=_stages(stages), keep_graphs=True, keep_guards=True)


async def checked_by(
    engine: Engine,
    subject: Subject,
    order: Order,
    settings: Settings,
    tell: Tell | None = None,
    sources: ShownTexts | None = None,
) -> CheckReport:
    """What a check of a subject tells, by an engine that has its `settings`; `sources` are its texts, if not on disk.

    Raises:
        OrderFailedError: the file offers no such target, or none at all.
        ConfigurationError: the settings for it cannot be used.
    """
    moment, started = datetime.now(timezone.utc), time.perf_counter()
    performed = await run_on(engine, subject, replace(order, target=subject.file.target), tell)
    seconds = time.perf_counter() - started
    accelerator = settings.chosen_accelerator
    names = names_for(subject)
    file = CheckedFile(
        shown=names.shown(subject.file.path),
        report=_about(subject.file.target, performed.report),
        accelerator=accelerator,
        seconds=seconds,
        explicit=True,
        required=settings.require_targets,
    )
    versions = engine.versions
    tool = Tool("inductor-debug", __version__, versions.torch or None, versions.python or None)
    result = CheckResult((file,), tool, seconds, Severity.WARNING, moment)
    return CheckReport(
        result,
        guards_of(performed.artifacts),
        [document for document in statistics_of(performed.artifacts) if document.stage is Stage.MOCK],
        [document for document, _ in documents_of(performed.artifacts) if document.stage is Stage.MOCK],
        names,
        sources or ShownTexts(),
    )


def _about(target: str, report: FileReport) -> FileReport:
    """The report without the targets that nobody asked about."""
    targets = [known for known in report.targets if target in ("", known.name)]
    return replace(report, targets=targets)


def names_for(subject: Subject) -> FileNames:
    """How files are called to who asks about the subject: its own as they named it."""
    folder, file = os.getcwd(), subject.file
    given = {} if subject.entry else {file.path: file.shown}
    return FileNames(folder, repository_root(folder), given)


def _stages(more: Sequence[str]) -> tuple[Stage, ...]:
    """In the order in which each refines the one before."""
    wanted = {*STAGES, *map(Stage, more)}
    return tuple(stage for stage in Stage if stage in wanted)
