"""Which graph breaks of a run might be taken out together by one edit, for what that would gain.

Only those that keep operations apart: a break before the first operation costs no more than its time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from inductor_debug_schema import Finding, Location
from inductor_debug_schema.answers.suggestions_document import RemovedBreak

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.rules.captures.breaks_within import is_told_with
from inductor_debug.rules.recording.ops import Recording

Broken = tuple[Location, ...]
"""The places of breaks that one edit takes out."""


def groups_of(breaks: Sequence[Finding], recording: Recording) -> list[Broken]:
    """The breaks that keep parts of a run from each other, by what one edit takes out, in the order of the run."""
    between = {place for border in recording.borders for place in border.causes}
    groups: dict[object, list[Location]] = {}
    for finding in breaks:
        outer = next((other for other in breaks if is_told_with(finding, other)), finding)
        groups.setdefault(outer.cause or id(outer), []).append(_place(finding))
    found = (tuple(dict.fromkeys(places)) for places in groups.values())
    return [places for places in found if between & {*places}]


def removed_breaks(breaks: Sequence[Finding], places: Collection[Location], sources: SourceMap) -> list[RemovedBreak]:
    """What is told of breaks at some places, but for those that are part of another one of them."""
    meant = [finding for finding in breaks if _place(finding) in places]
    outermost = [finding for finding in meant if not any(is_told_with(finding, other) for other in meant)]
    return [
        RemovedBreak(finding.path, finding.range, sources.excerpt(_place(finding)), finding.message)
        for finding in outermost
    ]


def _place(finding: Finding) -> Location:
    return Location(finding.path, finding.range)
