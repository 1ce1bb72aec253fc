"""Graph breaks within the expression of another one that the same edit mends: they are told with it.

`print("loss", loss.item())` splits the graph where the number is read and where it is printed. Without the line neither
is there, so this is one thing to tell. Elsewhere the parts of an expression are mended one by one, unless both
work with files or pickles: what is pickled and read back at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inductor_debug_schema import BreakCause, Finding, GraphBreak, Related

_OUTPUT = frozenset({BreakCause.PRINT, BreakCause.LOGGING, BreakCause.WARNING})
"""Calls that are there for people alone: what they are given is computed for nothing else."""


def folded(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without such breaks, each of which is a place that is related to what it is told with."""
    parts: dict[int, list[Finding]] = {}
    left_out = set()
    for finding in findings:
        around = [outer for outer in findings if is_told_with(finding, outer)]
        if around:
            outermost = next(outer for outer in around if not any(is_told_with(outer, other) for other in around))
            parts.setdefault(id(outermost), []).append(finding)
            left_out.add(id(finding))
    return [
        replace(finding, related=[*finding.related, *map(_related, parts.get(id(finding), ()))])
        for finding in findings
        if id(finding) not in left_out
    ]


def is_told_with(finding: Finding, outer: Finding) -> bool:
    """Whether a break is part of another one that the same edit mends."""
    facts, around = finding.facts, outer.facts
    if not isinstance(facts, GraphBreak) or not isinstance(around, GraphBreak) or finding.path != outer.path:
        return False
    if finding.range == outer.range or not outer.range.encloses(finding.range):
        return False
    return around.breaks_by in _OUTPUT or (around.breaks_by is BreakCause.FILE and facts.breaks_by is BreakCause.FILE)


def _related(finding: Finding) -> Related:
    return Related(finding.path, finding.range, "it splits the graph here, too")
