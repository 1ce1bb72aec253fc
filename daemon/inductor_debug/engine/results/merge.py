"""What a run has told so far, and how the findings of its stages and targets become one list.

Two stages that look at the same expression find the same thing; the user is told once, in the words of the stage that
looked deeper. What only the preview saw stays: it sees the code that graph breaks hide. Severity, comments and
fingerprints are not decided here (`engine.results.policy`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from inductor_debug_schema import (
    INFERRED_ORIGIN,
    Answered,
    ArtifactMade,
    Event,
    ExpressionFact,
    ExpressionsSeen,
    FileReport,
    FileStatus,
    Finding,
    Finished,
    FractionalSize,
    FreeSize,
    Inferred,
    Loaded,
    Location,
    MemoryOverrun,
    Related,
    SizesSeen,
    Stage,
    StageCaptured,
    StageFinished,
    StageReport,
    StageStarted,
    StageState,
    TargetReport,
    TensorsSeen,
    UntakenBlock,
    UntakenSeen,
)

from inductor_debug.engine.results.packed_timelines import PackedTimelines
from inductor_debug.engine.results.target_coverage import coverage_of
from inductor_debug.engine.text.moving import moved_blocks, moved_facts
from inductor_debug.source.text_changes import difference

Part = tuple[str, Stage]
"""A target's name and a stage of it."""
Key = tuple[str, str, object]

_STAGES = list(Stage)
_SEVEREST = [FileStatus.TIMEOUT, FileStatus.CRASHED]
"""How the look at a target may end before its time, the worst last."""
_OF_THE_WHOLE = frozenset({"peak-memory"})
"""Rules whose one finding sums up a whole run: the deepest look at a target knows best, wherever it puts it."""


def key_of(finding: Finding) -> Key:
    """What makes two findings the same one: rule, file and expression."""
    return finding.rule, finding.path, finding.range


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run, or the look at one target, was over before its time.

    Coverage says it, and a finding where it is `told`. `by_limit` says that a limit which the settings set has ended
    it, `timed` that this was the one of time.
    """

    status: FileStatus
    finding: Finding
    told: bool = True
    by_limit: bool = False
    timed: bool = False


@dataclass
class Results:
    """All events of one run of one text, in a form that can be asked at any time.

    `asked` are the stages that are to be run. `general` are the worker's findings of no target; `ending` is the
    engine's own, why there is no more to come. `given_up` are the targets in which a process ended, so that another one
    looked at the rest, `fixed` those that are run once more with numbers for their free sizes, and `may_be_slowed` says
    whether the running one is such. `status` is None until the run has ended. `complete` says that every target was
    seen by every stage that was asked for; `broken` that the run itself failed, not the user's code. `declared` are the
    targets whose inputs somebody gave. Which `sizes` are free is found by another run; until they were sought, those of
    `sizes_before` are shown.
    """

    path: str
    text: str
    asked: tuple[Stage, ...] = ()
    lines: dict[str, int] = field(default_factory=dict)
    declared: frozenset[str] = frozenset()
    reports: dict[Part, StageReport] = field(default_factory=dict)
    parts: dict[Part, list[Finding]] = field(default_factory=dict)
    expressions: dict[Part, list[ExpressionFact]] = field(default_factory=dict)
    timelines: PackedTimelines = field(default_factory=PackedTimelines)
    inferred: dict[str, Inferred] = field(default_factory=dict)
    untaken: dict[str, list[UntakenBlock]] = field(default_factory=dict)
    general: list[Finding] = field(default_factory=list)
    ending: Ending | None = None
    given_up: dict[str, Ending] = field(default_factory=dict)
    fixed: list[str] = field(default_factory=list)
    may_be_slowed: bool = False
    dependencies: list[str] = field(default_factory=list)
    looked_at: list[str] = field(default_factory=list)
    loaded: bool = False
    running: Part | None = None
    status: FileStatus | None = None
    complete: bool = False
    broken: bool = False
    answers: list[Answered] = field(default_factory=list)
    artifacts: list[ArtifactMade] = field(default_factory=list)
    captures: dict[Part, StageCaptured] = field(default_factory=dict)
    sizes: dict[str, SizesSeen] = field(default_factory=dict)
    sizes_sought: bool = False
    sizes_before: dict[str, list[FreeSize]] = field(default_factory=dict)

    def accept(self, event: Event) -> None:
        """Takes in what a worker sent."""
        if isinstance(event, Loaded):
            self.loaded = True
            self.lines = {target.name: target.line for target in event.targets}
            self.declared = frozenset(item.name for item in event.targets if item.origin != INFERRED_ORIGIN)
            self.dependencies = list(event.dependencies)
        elif isinstance(event, StageStarted):
            self.running, self.may_be_slowed = (event.target, event.stage), event.symbols_may_slow
        elif isinstance(event, StageFinished):
            part = (event.target, event.report.stage)
            self.lines.setdefault(event.target, 0)
            self.reports[part] = event.report
            self.parts[part] = list(event.findings)
            if event.inferred is not None:
                self.inferred[event.target] = event.inferred
            self.running = None
        elif isinstance(event, ExpressionsSeen):
            self.expressions[event.target, event.stage] = event.expressions
        elif isinstance(event, SizesSeen):
            self.sizes[event.target] = event
        elif isinstance(event, StageCaptured):
            self.captures[event.target, event.stage] = event
        elif isinstance(event, TensorsSeen):
            self.timelines.keep(event.target, event.timeline)
        elif isinstance(event, UntakenSeen):
            self.untaken[event.target] = event.blocks
        elif isinstance(event, Answered):
            self.answers.append(event)
        elif isinstance(event, ArtifactMade):
            self.artifacts.append(event)
        elif isinstance(event, Finished):
            self.general = list(event.findings)
            self.status = event.status
            self.dependencies = list(dict.fromkeys([*self.dependencies, *event.dependencies]))
            self.looked_at = event.looked_at

    def take_sizes(self, found: Results) -> None:
        """Takes in the free sizes that another run of the same text found."""
        self.sizes = {**found.sizes, **self.sizes}
        self.sizes_sought = True
        self.sizes_before = {}

    def surroundings(self) -> list[str]:
        """The files and folders beside its own on which it rests."""
        return sorted({*self.dependencies, *self.looked_at} - {self.path})

    def graphs_of(self, target: str, stages: Iterable[Stage]) -> list[ArtifactMade] | None:
        """The graphs of a target from each of these stages; None where one is missing."""
        made = {artifact.stage: artifact for artifact in self.artifacts if artifact.target == target}
        wanted = [made.get(stage) for stage in stages]
        return None if None in wanted else [artifact for artifact in wanted if artifact is not None]

    def close(self) -> None:
        """The run is over and finished by itself: settles status and completeness."""
        done = [report.state is StageState.DONE for (_, stage), report in self.reports.items() if stage in self.asked]
        wanted = len(self.lines) * len(self.asked)
        if self.status is FileStatus.FAILED and self._some_target_seen():
            self.status = FileStatus.CLEAN
        failed = self.status in (None, FileStatus.FAILED)
        if self.given_up:
            self.broken = True
            self.status = max((one.status for one in self.given_up.values()), key=_SEVEREST.index)
        self.complete = not failed and all(done) and len(done) == wanted

    def give_up(self, target: str, ending: Ending) -> None:
        """A process ended in a target. What was found stays; another process goes on with the rest."""
        self.given_up[target] = ending
        self.running = None

    def fail(self, ending: Ending, *, broken: bool) -> None:
        """There is no more to come: what was found stays."""
        self.status = ending.status
        self.broken = broken
        self.complete = False
        self.ending = ending

    def endings(self) -> list[Ending]:
        """All that was over before its time."""
        return [*self.given_up.values(), *([] if self.ending is None else [self.ending])]

    @property
    def owes(self) -> bool:
        """Whether a target that somebody declared was not seen by every stage that was asked for."""
        return any(map(self.lacks, self.declared))

    def lacks(self, target: str) -> bool:
        """Whether a target was not seen by every stage that was asked for, and may yet be."""
        return target not in self.given_up and any((target, stage) not in self.reports for stage in self.asked)

    def targets(self, carried: CarriedFindings | None = None) -> list[TargetReport]:
        """Targets in the order of the file, with the stages that have ended, or else as they were in `carried`."""
        before = {} if carried is None or self.status is not None else {each.name: each for each in carried.targets}
        if before and not self.loaded:
            return list(before.values())
        return [_since(before.get(name), self._target(name, line)) for name, line in self.lines.items()]

    def _target(self, name: str, line: int) -> TargetReport:
        reports = {stage: self.reports[name, stage] for stage in _STAGES if (name, stage) in self.reports}
        inferred, untaken = self.inferred.get(name), self.untaken.get(name, [])
        if inferred is None and self.loaded and self.status is not None and name not in self.declared:
            inferred = Inferred()
        ended = self.given_up.get(name, self.ending)
        coverage = coverage_of(
            reports,
            self.asked if self.status is not None and self.asked else list(reports),
            [finding for stage in reports for finding in self.parts[name, stage]],
            path=self.path,
            inferred=inferred,
            broke_off=None if ended is None else ended.finding.headline,
            untaken=untaken,
        )
        sizes = self.sizes[name].sizes if name in self.sizes else self.sizes_before.get(name, [])
        reached = list(reports.values())
        return TargetReport(name, line, reached, inferred, coverage.checked, coverage.why, sizes, untaken)

    def findings(self, carried: CarriedFindings | None = None) -> list[Finding]:
        """All findings so far, united; those of `carried` stand in for stages that have not ended."""
        parts = self.parts if carried is None else {**carried.missing_in(self), **self.parts}
        general = [*(ending.finding for ending in self.endings() if ending.told), *self.general]
        if carried is not None and not self.loaded and self.status is None:
            general = [*general, *carried.general]
        return unite(general, parts, self.reports)

    def report(self, findings: list[Finding], carried: CarriedFindings | None = None) -> FileReport:
        """The file's report with `findings`, which policy has made of ours and those of `carried`."""
        status = self.status or FileStatus.CLEAN
        if status in (FileStatus.CLEAN, FileStatus.FINDINGS):
            status = FileStatus.FINDINGS if findings else FileStatus.CLEAN
        return FileReport(self.path, status, self.targets(carried), findings)

    def _some_target_seen(self) -> bool:
        return any(report.state is StageState.DONE for report in self.reports.values())


@dataclass(frozen=True)
class CarriedFindings:
    """What an earlier run told, kept in view until the stage that may tell it anew has run."""

    path: str
    text: str
    parts: Mapping[Part, list[Finding]]
    general: list[Finding]
    targets: list[TargetReport]

    @staticmethod
    def of(results: Results, earlier: CarriedFindings | None = None) -> CarriedFindings:
        """What stays of `results` (which may have broken off) and of what it had itself carried."""
        if results.status is not None or earlier is None:
            return CarriedFindings(results.path, results.text, results.parts, results.general, results.targets())
        general = results.general if results.loaded else [*results.general, *earlier.general]
        parts = {**earlier.missing_in(results), **results.parts}
        return CarriedFindings(results.path, results.text, parts, general, results.targets(earlier))

    def moved_to(self, text: str) -> CarriedFindings:
        """The same findings at their places in the changed text of the file."""
        parts = {part: moved(found, self.path, self.text, text) for part, found in self.parts.items()}
        general = moved(self.general, self.path, self.text, text)
        return CarriedFindings(self.path, text, parts, general, moved_targets(self.targets, self.text, text))

    def missing_in(self, results: Results) -> dict[Part, list[Finding]]:
        """The parts that `results` does not have yet.

        What an ended stage of the new run no longer finds is gone, even if a later stage had found it, too: otherwise a
        mended line would keep its squiggle until the slowest stage has run.
        """
        kept: dict[Part, list[Finding]] = {}
        for part, found in self.parts.items():
            target, stage = part
            if part in results.parts or (results.loaded and target not in results.lines):
                continue
            settled = {
                key_of(finding)
                for (name, other), earlier in self.parts.items()
                if name == target and other is not stage and (name, other) in results.parts
                for finding in earlier
            }
            kept[part] = [finding for finding in found if key_of(finding) not in settled]
        return kept


def unite(
    general: Iterable[Finding], parts: Mapping[Part, list[Finding]], reports: Mapping[Part, StageReport]
) -> list[Finding]:
    """One list, without doubles: by (rule, path, range), then by (message, path, range).

    Within a target the later stage's finding wins, but an exception keeps its first words; across targets the first
    target's does, with the larger count. A `capture-error` of one stage that nobody could explain is dropped where a
    later stage of the target got through without it, and what is said of the run as a whole where a later stage of the
    target went through. What raises by itself is no graph break as well, nor an exception elsewhere: capture
    only meets the same one.
    """
    united: dict[Key, Finding] = {}
    for finding in general:
        united.setdefault(key_of(finding), finding)
    order = {name: index for index, name in enumerate(dict.fromkeys(target for target, _ in parts))}
    raised: dict[str, list[Finding]] = {}
    for target, stage in sorted(parts, key=lambda part: (order[part[0]], _STAGES.index(part[1]))):
        for finding in parts[target, stage]:
            if finding.rule == "capture-error" and _overcome(finding, target, stage, parts, reports):
                continue
            if finding.rule in _OF_THE_WHOLE and _seen_deeper(target, _reach(finding, stage), reports):
                continue
            if _is_met_again(finding, raised.get(target, [])):
                continue
            if finding.rule == "capture-error":
                raised.setdefault(target, []).append(finding)
            known = united.get(key_of(finding))
            united[key_of(finding)] = finding if known is None else _both(known, finding, same=known.target == target)
    return _without_echoes(united.values())


def _is_met_again(finding: Finding, raised: Iterable[Finding]) -> bool:
    """Whether a finding of a stage is what an earlier stage, whose exceptions are `raised`, has told already.

    A run ends with its first exception, so that an exception of a later stage can only be that one, though compiled
    code may raise it elsewhere: Dynamo's bytecode raises in the line of the `def` what it looks up late.
    """
    earlier = [each for each in raised if each.stage is not finding.stage]
    if finding.rule == "capture-error":
        return any((each.path, each.range) != (finding.path, finding.range) for each in earlier)
    return finding.rule == "graph-break" and any(
        place.path == finding.path and finding.range.start <= place.range.start and place.range.end <= finding.range.end
        for place in map(_raised_at, earlier)
    )


def _raised_at(finding: Finding) -> Location:
    """Where an exception was raised, which may be told at its cause."""
    facts = finding.facts
    return facts.refused_at if isinstance(facts, FractionalSize) else Location(finding.path, finding.range)


def _overcome(
    finding: Finding,
    target: str,
    stage: Stage,
    parts: Mapping[Part, list[Finding]],
    reports: Mapping[Part, StageReport],
) -> bool:
    """Whether a later stage refutes an exception. It cannot refute what is understood.

    Dynamo looks an attribute up only where its value is used, and eager Python does so at once: a name that does not
    exist raises, whatever is captured.
    """
    if finding.facts is not None:
        return False
    for (name, later), report in reports.items():
        if name != target or _STAGES.index(later) <= _STAGES.index(stage) or report.state is not StageState.DONE:
            continue
        if key_of(finding) not in {key_of(other) for other in parts.get((name, later), ())}:
            return True
    return False


def _reach(finding: Finding, stage: Stage) -> Stage:
    """The last stage that knows no more of a whole run than a finding tells: backward passes begin with AOTAutograd."""
    facts = finding.facts
    return Stage.MOCK if isinstance(facts, MemoryOverrun) and facts.eager_training else stage


def _seen_deeper(target: str, stage: Stage, reports: Mapping[Part, StageReport]) -> bool:
    """Whether a later stage of the target went through."""
    return any(
        name == target and _STAGES.index(later) > _STAGES.index(stage) and report.state is StageState.DONE
        for (name, later), report in reports.items()
    )


def _both(known: Finding, finding: Finding, *, same: bool) -> Finding:
    if same and finding.rule == "capture-error":
        return known  # the model's own exception says more than what Dynamo makes of it
    if same and known.facts is not None and finding.facts is None:
        return known  # in the user's own terms
    if same and known.stage is finding.stage:
        return _with_more(known, finding)
    if same:
        return finding if finding.related else dataclasses.replace(finding, related=known.related)
    return dataclasses.replace(known, count=max(known.count, finding.count))


def _with_more(known: Finding, finding: Finding) -> Finding:
    """What one stage told first of a place, which what else it tells there may follow from: breaks within a library."""
    if finding.message == known.message:
        return known
    more = [Related(finding.path, finding.range, f"also: {finding.message}")]
    severity = min(known.severity, finding.severity, key=lambda each: each.rank)
    return dataclasses.replace(known, severity=severity, related=[*known.related, *more])


def _without_echoes(findings: Iterable[Finding]) -> list[Finding]:
    """Two rules may say the same sentence about the same place; the more severe one stays."""
    said: dict[tuple[str, str, object], Finding] = {}
    for finding in findings:
        place = (finding.message, finding.path, finding.range)
        if place not in said or finding.severity.rank < said[place].severity.rank:
            said[place] = finding
    return list(said.values())


def _since(before: TargetReport | None, now: TargetReport) -> TargetReport:
    """A target in a run that goes on: stages that have not ended yet stay as they were `before`."""
    if before is None:
        return now
    if not now.stages:
        return dataclasses.replace(before, line=now.line)
    stages = {report.stage: report for report in (*before.stages, *now.stages)}
    ended = [stages[stage] for stage in _STAGES if stage in stages]
    return dataclasses.replace(
        now, stages=ended, untaken=now.untaken or before.untaken, sizes=now.sizes or before.sizes
    )


def withheld(report: FileReport, premature: Collection[Finding], before: Iterable[TargetReport]) -> FileReport:
    """A report that does not tell of its `premature` findings yet, nor that they ended anything.

    Targets that they ended show in place of the failed stages what these were `before`.
    """
    known = {target.name: target for target in before}
    ended = {finding.target for finding in premature}
    targets = []
    for target in report.targets:
        if target.name in ended or "" in ended:
            stages = [stage for stage in target.stages if stage.state is not StageState.FAILED]
            stood = known.get(target.name)
            verdict = stood or target
            going = dataclasses.replace(target, stages=stages, checked=verdict.checked, why=verdict.why)
            targets.append(_since(stood, going))
        else:
            targets.append(target)
    findings = [finding for finding in report.findings if finding not in premature]
    return dataclasses.replace(report, targets=targets, findings=findings)


def moved(findings: Iterable[Finding], path: str, old: str, new: str) -> list[Finding]:
    """Findings of the text `old` at their places in `new`; those whose text is gone are left out."""
    edit = difference(old, new)
    if not edit.hunks:
        return list(findings)
    result = []
    for finding in findings:
        span = edit.moved(finding.range) if finding.path == path else finding.range
        if span is None:
            continue
        related = [
            dataclasses.replace(place, range=edit.moved(place.range) or place.range) if place.path == path else place
            for place in finding.related
        ]
        facts = moved_facts(finding.facts, path, edit)
        result.append(dataclasses.replace(finding, range=span, related=related, facts=facts))
    return result


def moved_targets(targets: Iterable[TargetReport], old: str, new: str) -> list[TargetReport]:
    """Targets of the text `old` at their lines in `new`; those whose line is gone stay where they were."""
    edit = difference(old, new)
    if not edit.hunks:
        return list(targets)
    return [
        dataclasses.replace(target, line=edit.moved_line(target.line), untaken=list(moved_blocks(target.untaken, edit)))
        for target in targets
    ]
