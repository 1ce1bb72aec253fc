"""What proves a fix: an analysis of the edited text that no longer has the findings, and has no new one.

Reports in, a verdict out; nothing is run here.
"""

from __future__ import annotations

from collections.abc import Collection

from inductor_debug_schema import FileReport, FileStatus, Finding, Severity, StageState

from inductor_debug.engine.merge import key_of, moved

_ANALYSED = (FileStatus.CLEAN, FileStatus.FINDINGS)


def proves(after: FileReport, before: FileReport, mended: Collection[Finding], old: str, new: str) -> bool:
    """Whether the report of the text `new` shows that it mends findings of `old` and breaks nothing.

    Every finding that is left was there before, at least as severe, and every stage that saw a target still does. Where
    an exception is mended, what it hid may come to light, as long as nothing of it is an error.

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
    left = {key_of(finding): finding.severity.rank for finding in moved(before.findings, before.path, old, new)}
    hidden = any(finding.rule == "capture-error" for finding in mended)
    return all(
        key_of(finding) not in gone
        and (
            left.get(key_of(finding), finding.severity.rank + 1) <= finding.severity.rank
            or (hidden and key_of(finding) not in left and finding.severity is not Severity.ERROR)
        )
        for finding in after.findings
    )


def _seen(report: FileReport) -> set[tuple[str, str]]:
    """The targets and stages that a report says were seen whole."""
    return {
        (target.name, stage.stage.value)
        for target in report.targets
        for stage in target.stages
        if stage.state is StageState.DONE
    }
