"""Which pieces of the last text that ran may mend a finding if they are put back, the nearest and smallest first.

Only where little is different: a text that was rewritten is no mistake that was made by the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inductor_debug_schema import Finding, Range

from inductor_debug.engine.fixes.edits import Fix, apart
from inductor_debug.engine.fixes.going_back.text_differences import Difference, differences

_MOST_DIFFERENCES = 8
"""Beyond these, nobody can say which of them is the mistake."""
_MOST_TOGETHER = 3
"""How many are put back at once."""


def going_back(text: str, ran: str, finding: Finding) -> list[Fix]:
    """The pieces of `ran` put back into `text`: each alone, those near the finding first, then all together.

    Args:
        text: what stands there now.
        ran: the last text with which the finding's target ran.
        finding: what is found in `text`.
    """
    found = differences(ran, text)
    if len(found) > _MOST_DIFFERENCES:
        return []
    nearest = sorted(found, key=lambda each: _distance(each, finding))
    guesses = [Fix(_title([each]), (each.edit,)) for each in nearest]
    if 1 < len(found) <= _MOST_TOGETHER and len(apart(guesses)) == len(guesses):
        guesses.append(Fix(_title(found), tuple(sorted(each.edit for each in found))))
    return guesses


def _title(pieces: Sequence[Difference]) -> str:
    said = [f"`{each.was}`" for each in pieces if each.was]
    return f"Back to what ran: {', '.join(said)}" if said else "Back to what ran, without this"


def _distance(piece: Difference, finding: Finding) -> tuple[int, int]:
    """How far a piece is from what is found: from the finding itself, then from what it names as related."""
    lines = min(_lines_between(piece.place, place) for place in _places(finding))
    return lines, piece.place.end.line - piece.place.start.line


def _places(finding: Finding) -> Iterator[Range]:
    yield finding.range
    yield from (related.range for related in finding.related if related.path == finding.path)


def _lines_between(one: Range, other: Range) -> int:
    return max(0, one.start.line - other.end.line, other.start.line - one.end.line)
