"""What has changed between two surveys, for the worse first, with a threshold for each number that knows its noise.

What is computed (findings, operations, bytes, bounds) is equal wherever the same text runs, so any difference is one,
be it one operation among thousands. What was measured is compared by the speed-up against eager, which took turns with
the backend, so that a slower machine is none; a bootstrap over the repeats says how sure that is. Of compile times
there are few.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inductor_debug_schema import Checked, FileStatus, MeasurementDocument, Severity, SurveyRow

from inductor_debug.engine.survey.results_file import SurveyResults

_ROUNDING = 1e-9
"""The part by which bounds may differ, which are quotients; what is counted may not at all."""
_LEAST_SPEED = 0.05
"""The part of a speed-up that has to be lost at least."""
_RESAMPLES = 1000
_SURE = 0.005
"""The part of all resamples that may say otherwise, on either side."""
_COMPILE_FACTOR, _COMPILE_SECONDS = 1.5, 1.0
"""By how much a single compilation has to be slower: two on one machine differ by a third."""
_BROKEN = (FileStatus.FAILED, FileStatus.TIMEOUT, FileStatus.CRASHED)
_CHECKED = [Checked.YES, Checked.PARTLY, Checked.NO]

Told = tuple[str, bool]
"""A sentence, and whether it is for the worse."""


@dataclass(frozen=True, slots=True)
class SurveyChange:
    """Something that is otherwise than before, of the row `name`."""

    name: str
    text: str
    worse: bool


@dataclass(frozen=True, slots=True)
class SurveyDifference:
    """Two surveys: `changes` with what is worse first, rows that are in one alone, and how many were compared."""

    changes: list[SurveyChange]
    gone: list[str]
    new: list[str]
    compared: int

    @property
    def regressions(self) -> list[SurveyChange]:
        """What is worse than before."""
        return [change for change in self.changes if change.worse]


def row_name(row: SurveyRow) -> str:
    """By what rows of two surveys are matched, and called."""
    return f"{row.model}::{row.target}" if row.of > 1 else row.model


def difference_of(old: SurveyResults, new: SurveyResults) -> SurveyDifference:
    """Compares the rows of two surveys by their names."""
    before = {row_name(row): row for row in old.rows}
    after = {row_name(row): row for row in new.rows}
    common = [name for name in after if name in before]
    changes = [
        SurveyChange(name, text, worse) for name in common for text, worse in _changes(before[name], after[name])
    ]
    return SurveyDifference(
        changes=sorted(changes, key=lambda change: not change.worse),
        gone=[name for name in before if name not in after],
        new=[name for name in after if name not in before],
        compared=len(common),
    )


def _changes(before: SurveyRow, after: SurveyRow) -> Iterator[Told]:
    if (before.status in _BROKEN) != (after.status in _BROKEN):
        yield f"ended as {after.status.value}, before as {before.status.value}", after.status in _BROKEN
    if before.checked is not after.checked:
        worse = _CHECKED.index(after.checked) > _CHECKED.index(before.checked)
        yield f"checked: {after.checked.value}, before {before.checked.value}", worse
    yield from _findings(before, after)
    yield from _figures(before, after)
    yield from _verdicts(before, after)
    yield from _measured(before, after)


def _findings(before: SurveyRow, after: SurveyRow) -> Iterator[Told]:
    counts = [Counter((one.rule, one.severity) for one in row.findings) for row in (before, after)]
    for rule, severity in sorted({*counts[0], *counts[1]}, key=lambda item: (item[1].rank, item[0])):
        old, new = counts[0][rule, severity], counts[1][rule, severity]
        if old != new:
            worse = new > old and severity.rank <= Severity.WARNING.rank
            yield f"{severity.value} {rule}: {new}, before {old}", worse


def _figures(before: SurveyRow, after: SurveyRow) -> Iterator[Told]:
    yield from _number("graph breaks", before.breaks, after.breaks)
    yield from _number("recompilations", before.recompiles, after.recompiles)
    yield from _number("parameters", before.parameters, after.parameters)
    known = {column.accelerator: column for column in before.columns}
    for column in after.columns:
        old = known.get(column.accelerator)
        where = "" if column.accelerator == "none" else f" on {column.accelerator}"
        for label, attribute in _OF_COLUMNS:
            if old is not None:
                yield from _number(f"{label}{where}", getattr(old, attribute), getattr(column, attribute))


_OF_COLUMNS = (
    ("ops", "ops"),
    ("FLOPs", "flops"),
    ("bytes", "moved_bytes"),
    ("peak memory", "peak_bytes"),
    ("ops on the CPU", "fallback_ops"),
    ("ops that run nowhere", "unsupported_ops"),
    ("seconds at least", "seconds_at_least"),
)


def _number(label: str, old: float | None, new: float | None) -> Iterator[Told]:
    """A number that is computed: less is better."""
    if old is None or new is None or old == new:
        return
    if isinstance(new, float) and math.isclose(old, new, rel_tol=_ROUNDING):
        return
    part = f"{new / old - 1:+.1%}" if old else ""
    told = f" ({part})" if part.strip("+-0.%") else ""
    yield f"{label}: {_plain(new)}, before {_plain(old)}{told}", new > old


def _verdicts(before: SurveyRow, after: SurveyRow) -> Iterator[Told]:
    known = {one.compared_backend: one.verdict for one in before.compared}
    for one in after.compared:
        old = known.get(one.compared_backend)
        if old is not None and one.verdict is not None and old is not one.verdict:
            text = f"numbers of {one.compared_backend}: {one.verdict.value}, before {old.value}"
            yield text, one.verdict.rank > old.rank


def _measured(before: SurveyRow, after: SurveyRow) -> Iterator[Told]:
    known = {one.measured_backend: one for one in before.measured}
    for one in after.measured:
        old = known.get(one.measured_backend)
        if old is None:
            continue
        if bool(old.problem) != bool(one.problem):
            yield f"{one.measured_backend}: {one.problem or 'measured again'}", bool(one.problem)
        yield from _speed(old, one)
        yield from _compiling(old, one)


def _speed(old: MeasurementDocument, new: MeasurementDocument) -> Iterator[Told]:
    """The speed-up against eager, where all resamples but a few agree on which way it has changed."""
    sides = (old.eager_seconds, old.seconds, new.eager_seconds, new.seconds)
    if new.measured_backend == "eager" or min(map(len, sides)) < 5:
        return
    ratio = _ratio([statistics.median(side) for side in sides])
    low, high = _interval(sides, _ratio)
    if high < 1 - _LEAST_SPEED or low > 1 + _LEAST_SPEED:
        sure = f"{low - 1:+.0%} to {high - 1:+.0%}"
        yield f"{new.measured_backend}, speed-up against eager: {ratio - 1:+.0%} ({sure})", ratio < 1


def _ratio(medians: Sequence[float]) -> float:
    old_eager, old, new_eager, new = medians
    return (new_eager / new) / (old_eager / old)


def _interval(sides: Sequence[Sequence[float]], value: Callable[[Sequence[float]], float]) -> tuple[float, float]:
    """Between which numbers a value of medians lies, by resampling each side; the same each time."""
    chance = random.Random(0)
    found = sorted(
        value([statistics.median(chance.choices(side, k=len(side))) for side in sides]) for _ in range(_RESAMPLES)
    )
    return found[int(_SURE * _RESAMPLES)], found[int((1 - _SURE) * _RESAMPLES) - 1]


def _compiling(old: MeasurementDocument, new: MeasurementDocument) -> Iterator[Told]:
    for kind, earlier, later in (("cold", old.cold, new.cold), ("warm", old.warm, new.warm)):
        if not earlier or not later:
            continue
        then, now = (statistics.median(one.seconds for one in times) for times in (earlier, later))
        slow, quick = max(then, now), min(then, now)
        if slow > quick * _COMPILE_FACTOR and slow - quick > _COMPILE_SECONDS:
            yield f"{new.measured_backend}, {kind} compile time: {now:.1f} s, before {then:.1f} s", now > then


def _plain(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
