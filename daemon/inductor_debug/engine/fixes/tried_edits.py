"""Tries guesses one after the other until one is proved. What runs them is the engine's business."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from inductor_debug_schema import Answered, FileReport, Finding

from inductor_debug.engine.fixes.edits import Fix, TextEdit, applied
from inductor_debug.engine.fixes.proof import Proved, compared, ends_run, proves, runs

_FEW = 2
"""As many guesses are analysed at once; of more, those are left out first with which the target does not run."""


class Unknown(Exception):  # noqa: N818  # no error: nobody can tell now, and asking again may help
    """The document was edited or closed before there was an answer."""


class Tries(Protocol):
    """What can run an edited document; the engine, outside of tests. None says that nobody can tell any more."""

    async def try_edits(self, uri: str, edits: Sequence[TextEdit], only: str = "") -> FileReport | None:
        """What an analysis of the edited text reports; with `only` no more than a preview of that target."""

    async def compare_fix(self, uri: str, fix: Fix, target: str) -> list[Answered] | None:
        """Whether a target ("" for all) computes the same as before."""


async def first_proved(
    tries: Tries,
    uri: str,
    text: str,
    before: FileReport,
    mended: Collection[Finding],
    guesses: Sequence[Fix],
    target: str = "",
) -> Proved | None:
    """The first guess that mends the findings (or, where there are none, breaks nothing) and keeps what it claims to.

    Args:
        tries: what runs it.
        uri: the document.
        text: its text.
        before: the report of that text.
        mended: findings of `before` that shall be gone.
        guesses: the likeliest first.
        target: the target that is compared, where it is not the one of all findings.

    Raises:
        Unknown: the document is another one now.
    """
    targets = {finding.target for finding in mended}
    target = targets.pop() if len(targets) == 1 else target
    many = len(guesses) > _FEW and any(map(ends_run, mended)) and any(each.name == target for each in before.targets)
    for fix in guesses:
        if many:
            seen = await tries.try_edits(uri, fix.edits, only=target)
            if seen is None:
                raise Unknown
            if not runs(seen, target):
                continue
        after = await tries.try_edits(uri, fix.edits)
        if after is None:
            raise Unknown
        if not proves(after, before, mended, text, applied(text, fix.edits)):
            continue
        if not fix.keeps_results:
            return Proved(fix)
        answers = await tries.compare_fix(uri, fix, target)
        if answers is None:
            raise Unknown
        proved = compared(fix, answers)
        if proved is not None:
            return proved
    return None


def together(fixes: Sequence[Fix]) -> Fix:
    """One fix that does what all of them do; edits that several of them make are made once."""
    edits = dict.fromkeys(edit for fix in fixes for edit in fix.edits)
    return Fix("Apply all fixes", tuple(sorted(edits)), keeps_results=all(fix.keeps_results for fix in fixes))
