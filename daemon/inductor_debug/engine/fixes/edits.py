"""Edits of a text, as small as they can be, in the units of the Language Server Protocol.

It changes no document: whoever holds one applies the edits, or asks what the text would be (`applied`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inductor_debug_schema import Position, Range

from inductor_debug.source.text_lines import line_starts, offset_of

_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """What stands in `range` is replaced by `text`; an empty range inserts."""

    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A guess that would mend a finding: `title` says what it does, `edits` do it.

    `keeps_results` says that the model computes the same numbers afterwards, so that the fix may be applied unseen; it
    is a claim, until runs of both texts have compared what they compute (`proof`). `witness` is an expression of the
    text before the edits that must run for such a comparison to mean anything; it is a `condition` where it should
    come out both ways.
    """

    title: str
    edits: tuple[TextEdit, ...]
    keeps_results: bool = False
    witness: Range | None = None
    condition: bool = False


def applied(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after the edits, which all speak of the text before them.

    Positions do not count a byte order mark; it stays where it is.

    Raises:
        ValueError: two edits overlap.
    """
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    text = text[len(mark) :]
    starts = line_starts(text)

    def offset(position: Position) -> int:
        return offset_of(text, starts, position.line, position.character)

    parts = [mark]
    done = 0
    for edit in sorted(edits):
        start, end = offset(edit.range.start), offset(edit.range.end)
        if start < done:
            raise ValueError("the edits overlap")
        parts += [text[done:start], edit.text]
        done = end
    return "".join([*parts, text[done:]])


def apart(fixes: Iterable[Fix]) -> list[Fix]:
    """Those of the fixes that can be applied together, the first ones first; of equal ones each once."""
    chosen: list[Fix] = []
    for fix in fixes:
        others = [edit for other in chosen for edit in other.edits]
        mine = [edit for edit in fix.edits if edit not in others]
        if fix not in chosen and not overlap(mine, others):
            chosen.append(fix)
    return chosen


def overlap(first: Iterable[TextEdit], second: Iterable[TextEdit]) -> bool:
    """Whether any edit of one touches one of the other, so that they cannot be applied together."""
    others = list(second)
    return any(
        edit.range.start <= other.range.end and other.range.start <= edit.range.end
        for edit in first
        for other in others
    )
