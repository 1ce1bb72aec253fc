"""What proves a fix: an analysis of the edited text that no longer has the findings, and has no new one.

A fix that claims to keep what the model computes is also compared with the text before it, on real tensors. Reports and
answers in, a verdict out; nothing is run here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from inductor_debug_schema import (
    Answered,
    FileReport,
    FileStatus,
    Finding,
    GraphBreak,
    Range,
    SameResults,
    SameResultsTask,
    Severity,
    Stage,
    StageState,
)

from inductor_debug.engine.fixes.edits import Fix, TextEdit, applied
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.results.folding import at_each_place
from inductor_debug.engine.results.merge import key_of, moved

_ANALYSED = (FileStatus.CLEAN, FileStatus.FINDINGS)


_WITNESS = "__inductor_debug_witness__"
"""The function that the witness of a fix is wrapped in where the text before it is compared with the text after."""


@dataclass(frozen=True, slots=True)
class Proved:
    """A fix that is proved, and what of its claim was seen.

    `same_results` says that both texts computed the same, forward and backward; `ways` what the condition came to that
    the fix is about, in the runs that were compared.
    """

    fix: Fix
    same_results: bool = False
    ways: frozenset[bool] = frozenset()

    @property
    def title(self) -> str:
        """What it does, and what is known of it."""
        if not self.same_results:
            return f"{self.fix.title} (verified)"
        known = "verified, same results"
        if self.fix.condition and len(self.ways) == 1:
            known += f" where the condition is {'true' if True in self.ways else 'false'}"
        return f"{self.fix.title} ({known})"


def comparison(text: str, fix: Fix, target: str) -> tuple[str, Order]:
    """What to run in order to learn whether a fix keeps what a target computes ("" for all): a text and an order."""
    edited, witness = applied(text, fix.edits), ""
    if fix.witness is not None:
        start, end = Range(fix.witness.start, fix.witness.start), Range(fix.witness.end, fix.witness.end)
        text = applied(text, (TextEdit(start, f"{_WITNESS}("), TextEdit(end, ")")))
        witness = _WITNESS
    return text, Order(SameResultsTask(edited, witness, fix.condition), target)


def compared(fix: Fix, answers: Sequence[Answered]) -> Proved | None:
    """What the comparison of a fix's claim shows; None where the model computes something else afterwards.

    Where nothing could be compared, or what the fix is about did not run, it is no more than a fix that runs.
    """
    seen = [answer.document for answer in answers if isinstance(answer.document, SameResults)]
    if any(one.same is False for one in seen):
        return None
    if not any(one.same and one.ran for one in seen):
        return Proved(replace(fix, keeps_results=False))
    ways = frozenset(way for one in seen for way in one.ways)
    return Proved(fix, same_results=True, ways=ways)


def proves(after: FileReport, before: FileReport, mended: Collection[Finding], old: str, new: str) -> bool:
    """Whether the report of the text `new` shows that it mends findings of `old` and breaks nothing.

    Every finding that is left was there before, at least as severe, and every stage that saw a target still does. Where
    an exception is mended, or what kept a function from being compiled, what that hid may come to light, as long as
    nothing of it is an error, nor says that the text now runs with one size by chance.

    Args:
        after: the report of `new`.
        before: the report of `old`.
        mended: those findings of `before` that shall be gone.
        old: the text before the fix.
        new: the text after it.
    """
    if after.status not in _ANALYSED or not _seen(before) <= _seen(after):
        return False
    gone = {key_of(finding) for finding in moved(mended, before.path, old, new)}
    known = moved(before.findings, before.path, old, new)
    left = {key_of(place): finding.severity.rank for finding in known for place in at_each_place(finding)}
    hidden = any(map(_hides, mended))
    return all(
        key_of(finding) not in gone
        and (
            left.get(key_of(finding), finding.severity.rank + 1) <= finding.severity.rank
            or (hidden and key_of(finding) not in left and not _is_worse(finding))
        )
        for finding in after.findings
    )


def runs(report: FileReport, target: str) -> bool:
    """Whether a preview came to the end of a target, and nothing that is found in it keeps it from running."""
    found = (finding for finding in report.findings if finding.target == target)
    return (target, Stage.PREVIEW.value) in _seen(report) and not any(map(ends_run, found))


def ends_run(finding: Finding) -> bool:
    """Whether a finding says that something does not run, however severe that is."""
    return finding.severity is Severity.ERROR or finding.rule == "capture-error"


def _is_worse(finding: Finding) -> bool:
    """Whether a finding that comes with a fix says that it is no good: sizes may have been made to fit by chance."""
    return finding.severity is Severity.ERROR or finding.rule == "fixed-size"


def _hides(finding: Finding) -> bool:
    """Whether what comes after a finding was not looked at because of it."""
    return finding.rule == "capture-error" or (isinstance(finding.facts, GraphBreak) and bool(finding.facts.eager))


def _seen(report: FileReport) -> set[tuple[str, str]]:
    """The targets and stages that a report says were seen whole."""
    return {
        (target.name, stage.stage.value)
        for target in report.targets
        for stage in target.stages
        if stage.state is StageState.DONE
    }
