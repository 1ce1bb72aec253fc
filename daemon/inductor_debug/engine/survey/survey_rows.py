"""What was learned of one model, as rows of a survey: one for each target that its file offers.

Paths are written relative to `folder` where they lie below it, with forward slashes, so that results of two machines
and of two revisions compare. Nothing is run here.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from inductor_debug_schema import (
    AcceleratorColumn,
    AcceleratorComparison,
    Checked,
    DiffDocument,
    FileReport,
    FileStatus,
    Finding,
    GraphBreak,
    GraphDocument,
    MeasurementDocument,
    Stage,
    StageReport,
    StageState,
    SurveyColumn,
    SurveyComparison,
    SurveyFinding,
    SurveyRow,
    TargetCost,
    TargetReport,
)

from inductor_debug.engine.orders.outcomes import reason
from inductor_debug.engine.survey.survey_models import SurveyModel
from inductor_debug.engine.text.source_files import read_source
from inductor_debug.source.notebooks.reading import place_in_words, place_of
from inductor_debug.source.source_text import SourceText

_EXCERPT_LINES = 4
"""Lines of source that are kept of a finding."""
_EXCERPT_WIDTH = 160
_ROW = "row"


@dataclass(frozen=True)
class ModelOutcome:
    """All that came of one model: what it captured, or why nothing was, and what was asked beside that, by target.

    `drawn` are the graphs of each target, stage by stage.
    """

    model: SurveyModel
    path: str
    key: str
    seconds: float
    learned: AcceleratorComparison | FileReport | None
    problem: str = ""
    measured: Mapping[str, list[MeasurementDocument]] = field(default_factory=dict)
    compared: Mapping[str, list[DiffDocument]] = field(default_factory=dict)
    drawn: Mapping[str, list[GraphDocument]] = field(default_factory=dict)

    def findings(self, target: str) -> list[Finding]:
        """What was found of a target, each once, for whichever accelerator."""
        columns = self.learned.columns if isinstance(self.learned, AcceleratorComparison) else []
        found = [finding for column in columns for finding in column.findings if finding.target == target]
        return list({(finding.fingerprint, finding.message): finding for finding in found}.values())


class SurveyRows:
    """Makes rows; each file is read once for its excerpts."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._texts: dict[str, SourceText | None] = {}

    def of(self, outcome: ModelOutcome) -> list[SurveyRow]:
        """The rows of a model, at least one."""
        learned = outcome.learned
        if isinstance(learned, AcceleratorComparison):
            targets, columns = learned.targets, learned.columns
            status, why = columns[0].status if columns else FileStatus.CLEAN, ""
        else:
            report = learned or FileReport(outcome.path, FileStatus.FAILED)
            targets, status = report.targets, report.status
            columns = [AcceleratorColumn("none", "none", "", True, status, findings=report.findings)]
            why = outcome.problem or (reason(report) if status not in (FileStatus.CLEAN, FileStatus.FINDINGS) else "")
        if outcome.model.target:
            targets = [target for target in targets if target.name == outcome.model.target]
        if not targets:
            return [self._row(outcome, None, columns, status, why, (0, 1))]
        return [
            self._row(outcome, target, columns, status, why, (number, len(targets)))
            for number, target in enumerate(targets)
        ]

    def _row(
        self,
        outcome: ModelOutcome,
        target: TargetReport | None,
        columns: Sequence[AcceleratorColumn],
        status: FileStatus,
        why: str,
        place: tuple[int, int],
    ) -> SurveyRow:
        name = target.name if target is not None else ""
        first = place[0] == 0
        own = [
            dataclasses.replace(column, findings=[found for found in column.findings if _is_of(found, name, first)])
            for column in columns
        ]
        findings = self._findings(own)
        recompiles = [finding for finding in findings if finding.rule == "recompile"]
        costs = [next((cost for cost in column.costs if cost.target == name), None) for column in own]
        cost = next(filter(None, costs), None)
        deepest = _deepest(target)
        if status in (FileStatus.CLEAN, FileStatus.FINDINGS):
            status = FileStatus.FINDINGS if findings else FileStatus.CLEAN
        return SurveyRow(
            kind=_ROW,
            model=outcome.model.name,
            target=name,
            path=self._shown(outcome.path),
            tags=list(outcome.model.tags),
            key=outcome.key,
            index=outcome.model.index,
            number=place[0],
            of=place[1],
            status=status,
            checked=target.checked if target is not None else Checked.NO,
            why=(target.why if target is not None and target.why else why),
            seconds=round(outcome.seconds, 3),
            stage=cost.stage if cost is not None else deepest,
            signature=target.inferred.signature if target is not None and target.inferred is not None else "",
            graphs=_graphs(target),
            breaks=sum(finding.rule == "graph-break" for finding in findings),
            recompiles=len(recompiles),
            recompile_cause=recompiles[0].message if recompiles else "",
            parameters=cost.parameters if cost is not None else None,
            parameter_bytes=cost.parameter_bytes if cost is not None else None,
            columns=[_column(column, found) for column, found in zip(own, costs, strict=True)],
            findings=findings,
            measured=list(outcome.measured.get(name, ())),
            compared=[self._comparison(document) for document in outcome.compared.get(name, ())],
        )

    def _findings(self, columns: Sequence[AcceleratorColumn]) -> list[SurveyFinding]:
        """Each finding once, with the accelerators that have it."""
        known: dict[tuple[str, str, str], tuple[Finding, list[str]]] = {}
        for column in columns:
            for finding in column.findings:
                kept = known.setdefault((finding.fingerprint, finding.message, finding.severity.value), (finding, []))
                kept[1].append(column.name)
        found = sorted(known.values(), key=lambda item: (item[0].severity.rank, item[0].path, item[0].range.start))
        return [self._finding(finding, names) for finding, names in found]

    def _finding(self, finding: Finding, accelerators: list[str]) -> SurveyFinding:
        first = finding.range.start.line
        place = place_of(finding.path, first)
        return SurveyFinding(
            rule=finding.rule,
            severity=finding.severity,
            message=finding.message,
            path=self._shown(finding.path),
            range=finding.range,
            stage=finding.stage,
            op=finding.op,
            module=finding.module,
            count=finding.count,
            inferred=finding.inferred,
            fingerprint=finding.fingerprint,
            accelerators=accelerators,
            cause=finding.facts.breaks_by.value if isinstance(finding.facts, GraphBreak) else "",
            excerpt=self._excerpt(finding),
            excerpt_line=first,
            cell=place.cell if place is not None else 0,
            cell_line=place.line if place is not None else 0,
        )

    def _excerpt(self, finding: Finding) -> list[str]:
        if finding.path not in self._texts:
            read = read_source(finding.path)
            self._texts[finding.path] = SourceText(read) if isinstance(read, str) else None
        text = self._texts[finding.path]
        first, last = finding.range.start.line, finding.range.end.line
        lines = text.lines[first : min(last, first + _EXCERPT_LINES - 1) + 1] if text is not None else []
        return [line[:_EXCERPT_WIDTH] for line in lines]

    def _comparison(self, document: DiffDocument) -> SurveyComparison:
        blamed = next(iter(document.blame), None)
        blame = ""
        if blamed is not None:
            shown, area = self._shown(blamed.path) if blamed.path else "", blamed.range
            place = place_in_words(shown, blamed.path, area.start.line) if blamed.path and area is not None else shown
            blame = f"{place}: {blamed.op}" if place else blamed.op
        ratios = [
            float(ratio)
            for tensor in (*document.outputs, *document.gradients)
            if isinstance(ratio := tensor.metrics.anchored_ratio, (int, float))
        ]
        return SurveyComparison(
            compared_backend=document.backend,
            verdict=document.verdict,
            why=document.why,
            blame=blame,
            error=max(ratios, default=None),
        )

    def _shown(self, path: str) -> str:
        inside = path == self._folder or path.startswith(self._folder + os.sep)
        return os.path.relpath(path, self._folder).replace(os.sep, "/") if inside else path


def _is_of(finding: Finding, target: str, first: bool) -> bool:
    """Findings of no target are told with the first row of their file."""
    return finding.target == target or (first and not finding.target)


def _column(column: AcceleratorColumn, cost: TargetCost | None) -> SurveyColumn:
    return SurveyColumn(
        accelerator=column.name,
        rules=dict(sorted(Counter(finding.rule for finding in column.findings).items())),
        ops=cost.computing_ops if cost is not None else None,
        fallback_ops=cost.fallback_ops if cost is not None else None,
        unsupported_ops=cost.unsupported_ops if cost is not None else None,
        flops=cost.operations if cost is not None else None,
        moved_bytes=cost.moved_bytes if cost is not None else None,
        peak_bytes=cost.peak_bytes if cost is not None else None,
        padding_bytes=cost.padding_bytes if cost is not None else None,
        seconds_at_least=cost.seconds_at_least if cost is not None else None,
        limited_by=cost.limited_by if cost is not None else "",
    )


def _deepest(target: TargetReport | None) -> Stage | None:
    done = [report.stage for report in _stages(target) if report.state is StageState.DONE]
    return done[-1] if done else None


def _graphs(target: TargetReport | None) -> int | None:
    """The graphs that torch.compile made of it; None where it was not asked to."""
    counts = [report.graphs for report in _stages(target) if report.stage is Stage.MOCK]
    return counts[0] if counts else None


def _stages(target: TargetReport | None) -> Sequence[StageReport]:
    return target.stages if target is not None else ()
