"""All fixes of one file at once, for the command line: its proved fixes, proved together, until none is left.

It writes nothing: who asked gets the new text. Fixes that change what the model computes are left out unless they are
asked for, as nobody looks at them one by one. Texts are tried as they stand: whoever names a file wants it run, and the
edits are ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from inductor_debug_schema import Answered, FileReport, Finding

from inductor_debug.engine.fixes.edits import Fix, TextEdit, apart, applied
from inductor_debug.engine.fixes.fix_candidates import guesses
from inductor_debug.engine.fixes.proof import Proved, comparison
from inductor_debug.engine.fixes.tried_edits import first_proved, together
from inductor_debug.engine.orders.orders import Listener, Order, Performed, preview_of
from inductor_debug.engine.results.folding import at_each_place

_MOST_ROUNDS = 5
"""What a mended finding hid comes to light in the next round."""
_Mended = tuple[Finding, Proved]


class Checks(Protocol):
    """What runs texts; the engine, outside of tests."""

    async def check(self, path: str, *, text: str | None = None) -> FileReport:
        """Analyses a text as that file."""

    async def perform(
        self, path: str, order: Order, on_event: Listener | None = None, *, text: str | None = None
    ) -> Performed:
        """Carries out an order on a text."""


@dataclass(frozen=True)
class FixedFile:
    """What became of a file: its text before and after, the fixes in it, and how many were left out as unsafe."""

    path: str
    before: str
    after: str
    fixes: list[Proved] = field(default_factory=list)
    unsafe: int = 0


async def fixed(checks: Checks, path: str, text: str, profile: Mapping[str, Any], *, unsafe: bool) -> FixedFile:
    """The file with all of its fixes.

    Args:
        checks: runs it.
        path: absolute.
        text: what stands in it.
        profile: the accelerator's document.
        unsafe: also take fixes after which the model computes something else, or of which nobody knows.
    """
    now, fixes, left_out = text, list[Proved](), 0
    for _ in range(_MOST_ROUNDS):
        one = _Round(checks, path, now)
        report = await checks.check(path, text=now)
        found = await one.proved(report, profile)
        wanted = [each for each in found if unsafe or each[1].same_results]
        left_out = len({each[1].fix for each in found} - {each[1].fix for each in wanted})
        chosen = await one.joined(report, wanted)
        if not chosen:
            break
        fixes += chosen
        now = applied(now, together([each.fix for each in chosen]).edits)
    return FixedFile(path, text, now, fixes, left_out)


@dataclass(frozen=True)
class _Round:
    """One text of the file, on which fixes are tried."""

    checks: Checks
    path: str
    text: str

    async def try_edits(self, uri: str, edits: Sequence[TextEdit], only: str = "") -> FileReport:
        """What an analysis of the edited text reports, or the preview of one target."""
        text = applied(self.text, edits)
        if only:
            return (await self.checks.perform(self.path, preview_of(only), text=text)).report
        return await self.checks.check(self.path, text=text)

    async def compare_fix(self, uri: str, fix: Fix, target: str) -> list[Answered]:
        """Whether a target computes the same as before."""
        text, order = comparison(self.text, fix, target)
        return (await self.checks.perform(self.path, order, text=text)).answers

    async def proved(self, report: FileReport, profile: Mapping[str, Any]) -> list[_Mended]:
        """The fix of each finding that has one, at each place where it holds."""
        found: list[_Mended] = []
        for finding in itertools.chain.from_iterable(map(at_each_place, report.findings)):
            if finding.path == report.path:
                tried = guesses(self.text, finding, profile)
                proved = await first_proved(self, "", self.text, report, [finding], tried)
                if proved is not None:
                    found.append((finding, proved))
        return found

    async def joined(self, report: FileReport, wanted: Sequence[_Mended]) -> list[Proved]:
        """As many of the fixes as hold together, in the order of the findings; usually all."""
        separate = apart([proved.fix for _, proved in wanted])
        left = [each for each in wanted if each[1].fix in separate]
        if await self._holds(report, left):
            return _once(left)
        kept: list[_Mended] = []
        for each in left:
            if await self._holds(report, [*kept, each]):
                kept.append(each)
        return _once(kept)

    async def _holds(self, report: FileReport, mended: Sequence[_Mended]) -> bool:
        fixes = _once(mended)
        if len(fixes) < 2:
            return True  # proved by itself
        whole = together([each.fix for each in fixes])
        findings = [finding for finding, _ in mended]
        return await first_proved(self, "", self.text, report, findings, [whole]) is not None


def _once(mended: Sequence[_Mended]) -> list[Proved]:
    by_fix: dict[Fix, Proved] = {proved.fix: proved for _, proved in mended}
    return list(by_fix.values())
