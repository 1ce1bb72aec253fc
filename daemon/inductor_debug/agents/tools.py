"""The tools, without the protocol: each takes what an agent says, has an order carried out, and answers in brief.

One order at a time, with workers that stay warm. A call that is cancelled ends its worker. Checked code may neither
connect, nor write, nor start processes, whatever the project's settings say: an agent may have written these.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from inductor_debug_schema import BisectDocument, BisectOptions, DiffDocument, DiffOptions, Range
from inductor_debug_schema.answers.guards_document import GuardsDocument

from inductor_debug.agents.allowed_folders import AllowedFolders
from inductor_debug.agents.short_answers import (
    DiffRow,
    OperatorCount,
    ShortBisect,
    ShortCheck,
    ShortDiff,
    ShortGraph,
    ShortRepro,
    ShortRule,
    ShortSurvey,
    fitted,
)
from inductor_debug.agents.surveying import MOST_MODELS, models_below, results_of, short_survey
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.bisecting import bisect_order
from inductor_debug.engine.orders.comparing import diff_order
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.reproducing import order_for, proved, refused
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.engine.survey.model_survey import ModelSurvey, SurveyOptions
from inductor_debug.engine.survey.survey_rows import SurveyRows
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.formats.brief import BriefFindings, unchecked
from inductor_debug.report.run_report import summary
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.survey.survey_text import survey_text
from inductor_debug.report.text.graph_text import GraphText
from inductor_debug.rules.registry import find
from inductor_debug.scripting.carrying_out import OrderFailedError, carried_out
from inductor_debug.scripting.check_report import CheckReport, check_order, checked_by
from inductor_debug.scripting.subjects import Subject

SCHEME = "inductor-debug"
_MOST_KEPT = 32
_LONGEST_KEPT = 200_000


class AgentTools:
    """The tools of one session.

    Args:
        folders: what may be named.
        interpreter: the Python that runs models; the project does not choose it.
    """

    def __init__(self, folders: AllowedFolders, interpreter: str) -> None:
        self._folders = folders
        self._interpreter = interpreter
        self._turn = asyncio.Lock()
        self._resolver: SettingsResolver | None = None
        self._engine: Engine | None = None
        self._kept: OrderedDict[str, str] = OrderedDict()

    async def check(self, path: str, accelerator: str | None = None, stages: list[str] | None = None) -> ShortCheck:
        """Checks the models of a Python file: whether they compile and run, and which expression is to blame if not.

        `path` is FILE or FILE::TARGET. `accelerator` is a name such as h100 or spyre. `stages` adds "aot" (backward
        passes) or "inductor" (kernels). Needs no inputs: they are inferred. Mend what it names and check again.
        """
        chosen = None if accelerator is None else self._folders.named(accelerator)
        report, places, sources = await self._checked(path, chosen, stages or [])
        brief = BriefFindings(places, sources)
        return fitted(
            ShortCheck(
                summary=summary(report.result),
                findings=[brief.of(finding) for _, finding in report.result.findings()],
                unchecked=unchecked(report.result.files),
                accelerator=report.result.accelerator or "",
            )
        )

    async def graph_summary(self, target: str) -> ShortGraph:
        """What torch.compile captures of FILE::TARGET.

        Graphs, where they break, what compiles again, operators, FLOPs and peak memory. The resource in `text` has
        every node with its line of source.
        """
        report, places, sources = await self._checked(target, None, [])
        if len(report.captured) != 1:
            names = ", ".join(document.target for document in report.captured)
            raise OrderFailedError(f"{target}: {f'name one of {names}' if names else str(report)}")
        [document], [statistics], [guards] = report.captured, report.statistics, report.guards
        text = GraphText(places, sources, Styler(enabled=False)).text(document)
        placed = _Places(places, sources)
        return fitted(
            ShortGraph(
                target=document.target,
                graphs=len(document.graphs),
                graph_breaks=[f"{placed.of(end.path, end.range)}{end.text}" for end in guards.breaks],
                recompilations=_recompilations(guards),
                eager=[f"{placed.of(eager.path, eager.range)}{eager.function}" for eager in guards.eager],
                operators=[OperatorCount(name, count) for name, count in statistics.by_op.items()],
                flops=statistics.flops,
                peak_bytes=statistics.peak.bytes,
                text=self._keep("graph.txt", text),
            )
        )

    async def survey(self, paths: list[str], accelerators: list[str] | None = None, limit: int = 25) -> ShortSurvey:
        """Checks many models at once: files and folders by their paths, one row for each target, those to mend first.

        `accelerators` are names such as h100 or spyre. At most `limit` files are run. The resource in `text` has the
        whole table; `check` says more of one file.
        """
        if not 1 <= limit <= MOST_MODELS:
            raise ValueError(f"limit is from 1 to {MOST_MODELS}")
        chosen = tuple(self._folders.named(name) for name in accelerators or ())
        async with self._resolved() as (engine, settings):
            models = models_below(paths, self._folders, settings)
            if not models:
                raise OrderFailedError(f"no models were found in {', '.join(paths)}")
            first = models[0].paths[0]
            chosen = tuple(settings.name_of(first, name, folder=self._folders.first) for name in chosen)

            def settings_like(path: str, accelerator: str) -> Settings:
                return settings.for_accelerator(path, accelerator, folder=self._folders.first)

            asked = SurveyOptions(asked={}, accelerators=chosen)
            study, rows = ModelSurvey(engine, asked, settings, settings_like), SurveyRows(self._folders.first)
            told = [row for model in models[:limit] for row in rows.of(await study.outcome(model, lambda _: None))]
            results = results_of(told, engine.versions, min(limit, len(models)))
        text = self._keep("survey.txt", survey_text(results, Styler(enabled=False), verbose=True))
        return fitted(short_survey(results, max(0, len(models) - limit), text))

    async def explain(self, rule: str) -> ShortRule:
        """What a rule means, such as `graph-break`: why it matters, an example, how to mend and how to silence it."""
        return fitted(ShortRule(rule, find(rule.strip().lower()).page.text))

    async def diff(self, target: str, backend: str = "inductor", gradients: bool = False) -> ShortDiff:
        """Runs FILE::TARGET in eager and with a backend, and judges the difference by what precision explains.

        `backend` is inductor, aot_eager, or an accelerator, which is emulated. The expression at fault is in `blame`.
        Takes seconds to minutes.
        """
        subject = Subject(self._folders.target(target))
        options = DiffOptions(backend=self._folders.named(backend), gradients=gradients or None)
        order = diff_order(options, target=subject.file.target)
        performed = await self._carried_out(subject, order)
        document = _only(performed.documents(DiffDocument), subject)
        placed = _Places(*self._shown(subject))
        return fitted(
            ShortDiff(
                target=document.target,
                backend=document.backend,
                reference=document.reference,
                verdict=document.verdict.value if document.verdict else "failed",
                why=document.why,
                results=[
                    DiffRow(
                        row.name, row.verdict.value, _ratio(row.metrics.anchored_ratio), row.metrics.max_abs, row.why
                    )
                    for row in (*document.outputs, *document.gradients)
                ],
                blame=[f"{placed.of(blame.path, blame.range)}{blame.op}: {blame.why}" for blame in document.blame],
            )
        )

    async def bisect(self, target: str, backends: list[str] | None = None) -> ShortBisect:
        """Climbs a ladder of backends with FILE::TARGET and names the first layer of the compiler that goes wrong.

        Then the graph, pass, operation and expression. Takes minutes.
        """
        subject = Subject(self._folders.target(target))
        options = BisectOptions(backends=[*map(self._folders.named, backends or ())] or None)
        async with self._engine_for(subject) as (engine, settings):
            order = replace(bisect_order(options, settings), target=subject.file.target)
            performed = await carried_out(engine, subject, order, None, one=True)
        document = _only(performed.documents(BisectDocument), subject)
        placed, guilty = _Places(*self._shown(subject)), document.guilty
        parts = () if guilty is None else (guilty.backend, guilty.graph, guilty.pass_, guilty.op, guilty.node)
        place = "" if guilty is None else placed.of(guilty.path, guilty.range)
        return fitted(
            ShortBisect(
                target=document.target,
                verdict=document.verdict.value,
                ladder=[f"{rung.backend} {rung.state.value}: {rung.why}" for rung in document.ladder],
                guilty=place + ", ".join(filter(None, parts)),
                commands=document.commands,
            )
        )

    async def repro(self, target: str, rule: str = "", line: int | None = None, backend: str = "") -> ShortRepro:
        """Reduces what goes wrong with FILE::TARGET to the smallest script that shows it, run in a clean process.

        It is about a finding of `rule`, or at `line` (from 1), or what `backend` does wrong. Takes seconds to minutes.
        """
        subject = Subject(self._folders.target(target))
        if rule:
            find(rule)
        order = order_for(
            rule=rule, line=None if line is None else line - 1, target=subject.file.target, backend=backend
        )
        found = refused(order)
        if found is None:
            async with self._engine_for(subject) as (engine, settings):
                found = await proved(await carried_out(engine, subject, order, None), settings)
        script = found.script or ""
        text = self._keep("repro.py", script) if script else ""
        return fitted(ShortRepro(found.document.verified, found.document.why, script, text))

    def kept(self) -> list[str]:
        """The addresses of the texts that answers named, the newest last."""
        return [*self._kept]

    def text_of(self, number: str, name: str) -> str:
        """A text that an answer named.

        Raises:
            KeyError: it is not, or no longer, there.
        """
        return self._kept[_address(number, name)]

    async def close(self) -> None:
        """Ends the workers."""
        if self._engine is not None:
            await self._engine.shutdown()

    async def _checked(
        self, words: str, accelerator: str | None, stages: Sequence[str]
    ) -> tuple[CheckReport, FileNames, ShownTexts]:
        subject = Subject(self._folders.target(words))
        order = check_order(stages)
        async with self._engine_for(subject, accelerator=accelerator) as (engine, settings):
            report = await checked_by(engine, subject, order, settings)
        return report, *self._shown(subject)

    async def _carried_out(self, subject: Subject, order: Order) -> Performed:
        async with self._engine_for(subject) as (engine, _):
            return await carried_out(engine, subject, order, None, one=True)

    @contextlib.asynccontextmanager
    async def _engine_for(self, subject: Subject, **said: Any) -> AsyncIterator[tuple[Engine, Settings]]:
        """The engine, for one order, and the settings of the subject's file."""
        async with self._resolved(**said) as (engine, settings):
            yield engine, settings(subject.file.path)

    @contextlib.asynccontextmanager
    async def _resolved(self, **said: Any) -> AsyncIterator[tuple[Engine, SettingsResolver]]:
        """The engine, for one order, and what gives the settings of any file: no project allows its code anything."""
        async with self._turn:
            held = {"interpreter": self._interpreter, "allow": [], "artifacts": "off"}
            self._resolver = resolver = SettingsResolver(command_line={**said, **held})
            if self._engine is None:
                self._engine = Engine(settings_for=self._settings, listener=lambda update: None, jobs=1)
            yield self._engine, resolver

    def _settings(self, path: str) -> Settings:
        assert self._resolver is not None
        return self._resolver(path)

    def _shown(self, subject: Subject) -> tuple[FileNames, ShownTexts]:
        first = self._folders.first
        return FileNames(first, first, {subject.file.path: subject.file.shown}), ShownTexts()

    def _keep(self, name: str, text: str) -> str:
        """Keeps a text to be read as a resource; the oldest makes way."""
        number = 1 + max((int(known.split("/")[3]) for known in self._kept), default=0)
        address = _address(str(number), name)
        self._kept[address] = text[:_LONGEST_KEPT]
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return address


class _Places:
    """Writes places as they are called."""

    def __init__(self, places: FileNames, sources: ShownTexts) -> None:
        self._places, self._sources = places, sources

    def of(self, path: str | None, area: Range | None) -> str:
        """`model.py:12:9 ` or nothing."""
        if path is None or area is None:
            return ""
        return self._sources.location(self._places.shown(path), path, area.start) + " "


def _address(number: str, name: str) -> str:
    return f"{SCHEME}://texts/{number}/{name}"


def _only(documents: Sequence[Any], subject: Subject) -> Any:
    if not documents:
        raise OrderFailedError(f"{subject.file.shown}: there was no answer")
    return documents[0]


def _recompilations(guards: GuardsDocument) -> list[str]:
    return [
        f"{again.function} for call {again.inputs}: {'; '.join(guard.text for guard in again.broken)}"
        for again in guards.recompiles
    ]


def _ratio(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, (int, float)) else str(value or "")
