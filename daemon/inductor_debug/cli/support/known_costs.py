"""What targets needed at least when a baseline was written, and which of them need more now.

Bounds and peaks are computed, so they are equal wherever the same text runs with the same inputs. Nothing is measured.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inductor_debug_schema import (
    FileStatus,
    Finding,
    Growth,
    Position,
    Range,
    RunCost,
    Severity,
    Stage,
    TargetReport,
)

from inductor_debug.engine.results.fingerprints import LENGTH
from inductor_debug.report.run_report import CheckedFile
from inductor_debug.rules.words.growth_words import growth_sentence

RULE = "growth"


@dataclass(frozen=True, slots=True, order=True)
class KnownCost:
    """What one target needed: `seconds` is its bound, `inputs` the signature of inferred ones, "" of given ones.

    `file` is the checked file, relative to the baseline's folder, with forward slashes.
    """

    file: str
    target: str
    stage: str
    accelerator: str
    inputs: str
    seconds: float
    peak_bytes: int

    @property
    def subject(self) -> tuple[str, ...]:
        """What must be equal for two costs to be compared."""
        return self.file, self.target, self.stage, self.accelerator, self.inputs


def costs_of(file: CheckedFile, shown: str) -> Iterator[KnownCost]:
    """What each target of a file needs, by the last stage that knows; `shown` is what the baseline calls the file."""
    for target in file.report.targets:
        found = _last_cost(target)
        if found is not None and found[1].total.seconds is not None:
            stage, cost = found
            inputs = target.inferred.signature if target.inferred is not None else ""
            seconds = found[1].total.seconds
            yield KnownCost(shown, target.name, stage.value, cost.accelerator, inputs, seconds, cost.peak_bytes)


def with_growth(file: CheckedFile, shown: str, known: Sequence[KnownCost], most_percent: float) -> CheckedFile:
    """The file with a finding for each target that needs more than it did, by more than so many per cent."""
    before = {cost.subject: cost for cost in known}
    lines = {target.name: target.line for target in file.report.targets}
    grown = [
        _finding(file, lines[cost.target], then, cost)
        for cost in costs_of(file, shown)
        if (then := before.get(cost.subject)) is not None and _has_grown(then, cost, most_percent)
    ]
    if not grown:
        return file
    report = dataclasses.replace(
        file.report,
        findings=[*file.report.findings, *grown],
        status=FileStatus.FINDINGS if file.report.status is FileStatus.CLEAN else file.report.status,
    )
    return dataclasses.replace(file, report=report)


def _last_cost(target: TargetReport) -> tuple[Stage, RunCost] | None:
    costs = [(stage.stage, stage.cost) for stage in target.stages if stage.cost is not None]
    return costs[-1] if costs else None


def _has_grown(then: KnownCost, now: KnownCost, most_percent: float) -> bool:
    allowed = 1 + most_percent / 100
    return now.seconds > then.seconds * allowed or now.peak_bytes > then.peak_bytes * allowed


def _finding(file: CheckedFile, line: int, then: KnownCost, now: KnownCost) -> Finding:
    facts = Growth(then.seconds, then.peak_bytes, now.seconds, now.peak_bytes)
    digest = hashlib.sha256("\0".join((RULE, *now.subject)).encode("utf-8", "surrogatepass"))
    return Finding(
        rule=RULE,
        severity=Severity.ERROR,
        message=growth_sentence(facts, now.accelerator),
        path=file.report.path,
        range=Range(Position(line, 0), Position(line, 0)),
        stage=Stage(now.stage),
        target=now.target,
        facts=facts,
        fingerprint=digest.hexdigest()[:LENGTH],
    )
