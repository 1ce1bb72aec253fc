"""One cause is told once a file: findings that share a cause become the first of them, with the other places related.

A missing operator that eight layers use is one thing to learn and one thing to mend. What the cause is, the finding's
rule has said (`Finding.cause`); comments have silenced by now what somebody wants silenced. Nothing here reads a text.
What an interpreter lacks is one cause in all the files that are imported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from inductor_debug_schema import Finding, Related

_MOST_PLACES = 20
_OF_THE_INTERPRETER = frozenset({"environment", "import-error"})


def folded(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each cause in each file, in the order of the first ones; those without a cause stand alone.

    A library that cannot be imported is one cause for them all.
    """
    groups: dict[object, list[Finding]] = {}
    for index, finding in enumerate(findings):
        # A library that is not there is missed where it is imported and where it is used.
        place = ("", "") if finding.rule in _OF_THE_INTERPRETER else (finding.rule, finding.path)
        groups.setdefault((*place, finding.cause) if finding.cause else index, []).append(finding)
    return [_one(group) for group in groups.values()]


def at_each_place(finding: Finding) -> list[Finding]:
    """A finding as it would be told at each of the places where it holds, the first of them first."""
    others = [place for place in finding.related if place.again]
    return [finding, *(dataclasses.replace(finding, path=place.path, range=place.range) for place in others)]


def more_places(count: int) -> str:
    """So many further places, in words: `1 more place`."""
    return "1 more place" if count == 1 else f"{count} more places"


def _one(group: Sequence[Finding]) -> Finding:
    first, *others = group
    if not others:
        return first
    where = " in this file" if all(other.path == first.path for other in others) else ""
    places = [Related(other.path, other.range, "the same here", again=True) for other in others]
    return dataclasses.replace(
        first,
        severity=min((finding.severity for finding in group), key=lambda severity: severity.rank),
        message=f"{first.message} The same at {more_places(len(others))}{where}.",
        count=sum(finding.count for finding in group),
        related=[*places[:_MOST_PLACES], *first.related],
    )
