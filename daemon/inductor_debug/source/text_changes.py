"""What has changed from one text to the next, and where places of the old one are in the new.

Compares lines, then characters; knows no syntax.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from inductor_debug_schema import Position, Range

from inductor_debug.source.text_lines import split_lines, utf16_length

MOST_COMPARED_LINES = 300
"""Beyond so many lines between the first and the last change, all of them count as one change."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One stretch in which two texts differ; starts and ends are positions in either text."""

    old_start: Position
    old_end: Position
    new_start: Position
    new_end: Position


@dataclass(frozen=True, slots=True)
class TextChange:
    """All that differs between two texts, in order."""

    hunks: tuple[Hunk, ...]

    def moved(self, span: Range) -> Range | None:
        """Where `span` of the old text is in the new one; None if the edit took all of it away."""
        start, end = self._moved(span.start, is_end=False), self._moved(span.end, is_end=True)
        if start >= end and span.start < span.end:
            return None
        return Range(start, max(start, end))

    def moved_line(self, line: int) -> int:
        """Where the line of that number is in the new text, or what now stands in its place."""
        return self._moved(Position(line, 0), is_end=False).line

    def _moved(self, position: Position, *, is_end: bool) -> Position:
        before = None
        for hunk in self.hunks:
            if position < hunk.old_start or (is_end and position == hunk.old_start):
                break
            if position < hunk.old_end:
                return hunk.new_end if is_end else hunk.new_start
            before = hunk
        if before is None:
            return position
        line = position.line + before.new_end.line - before.old_end.line
        if position.line > before.old_end.line:
            return Position(line, position.character)
        return Position(line, position.character + before.new_end.character - before.old_end.character)


def difference(old: str, new: str) -> TextChange:
    """What has to be replaced in `old` to get `new`. Line ends alone make no difference."""
    if old == new:
        return TextChange(())
    before, after = split_lines(old), split_lines(new)
    head, old_last, new_last = differing_lines(before, after)
    blocks = [(head, old_last, head, new_last)]
    if max(old_last, new_last) - head <= MOST_COMPARED_LINES:
        matcher = difflib.SequenceMatcher(None, before[head:old_last], after[head:new_last], autojunk=False)
        blocks = [
            (head + i1, head + i2, head + j1, head + j2)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
            if tag != "equal"
        ]
    return TextChange(
        tuple(_hunk(before, after, *block) for block in blocks if block[0] < block[1] or block[2] < block[3])
    )


def differing_lines(before: list[str], after: list[str]) -> tuple[int, int, int]:
    """The fewest lines that differ: from the first number on, up to the second in `before` and the third in `after`."""
    shortest = min(len(before), len(after))
    head = 0
    while head < shortest and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shortest - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, len(before) - tail, len(after) - tail


def _hunk(before: list[str], after: list[str], i1: int, i2: int, j1: int, j2: int) -> Hunk:
    """The hunk in which lines `[j1, j2)` replace lines `[i1, i2)`, narrowed down to the characters."""
    if i1 == i2 or j1 == j2:  # whole lines came or went
        return Hunk(Position(i1, 0), Position(i2, 0), Position(j1, 0), Position(j2, 0))
    first_old, first_new = before[i1], after[j1]
    left = 0
    while left < min(len(first_old), len(first_new)) and first_old[left] == first_new[left]:
        left += 1
    last_old, last_new = before[i2 - 1], after[j2 - 1]
    room = min(len(last_old) - (left if i2 - i1 == 1 else 0), len(last_new) - (left if j2 - j1 == 1 else 0))
    right = 0
    while right < room and last_old[-1 - right] == last_new[-1 - right]:
        right += 1
    return Hunk(
        Position(i1, utf16_length(first_old[:left])),
        Position(i2 - 1, utf16_length(last_old[: len(last_old) - right])),
        Position(j1, utf16_length(first_new[:left])),
        Position(j2 - 1, utf16_length(last_new[: len(last_new) - right])),
    )
