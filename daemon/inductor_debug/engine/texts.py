"""Lines and positions of source text, in the units of the Language Server Protocol.

A line ends with LF, CR LF or CR, as in Python's parser and in editors; `str.splitlines` knows more line ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from inductor_debug_schema import Position, Range

_LINE_END = re.compile("\r\n|\n|\r")


def split_lines(text: str) -> list[str]:
    """The lines without their ends; there is always at least one."""
    if "\r" not in text:
        return text.split("\n")
    return _LINE_END.split(text)


def utf16_length(text: str) -> int:
    """The number of UTF-16 code units in `text`."""
    if text.isascii():
        return len(text)
    return len(text) + sum(character > "\uffff" for character in text)


def index_of_utf16(line: str, character: int) -> int:
    """The index in `line` of the UTF-16 unit `character`, at most its length."""
    if line.isascii():
        return min(character, len(line))
    units = 0
    for index, letter in enumerate(line):
        if units >= character:
            return index
        units += 2 if letter > "\uffff" else 1
    return len(line)


def first_line_range(text: str) -> Range:
    """All of the first line: where findings stand that concern the whole file."""
    end = len(text)
    match = _LINE_END.search(text)
    if match:
        end = match.start()
    return Range(Position(0, 0), Position(0, utf16_length(text[:end])))


def slice_of(lines: list[str], span: Range) -> str:
    """The text in `span`, its lines joined by LF; positions outside of the text are pulled in."""
    start, end = span.start, span.end
    if start.line >= len(lines):
        return ""
    if start.line == end.line:
        line = lines[start.line]
        return line[index_of_utf16(line, start.character) : index_of_utf16(line, end.character)]
    parts = [lines[start.line][index_of_utf16(lines[start.line], start.character) :]]
    parts += lines[start.line + 1 : end.line]
    if end.line < len(lines):
        parts.append(lines[end.line][: index_of_utf16(lines[end.line], end.character)])
    return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class Hunk:
    """The one stretch in which two texts differ: `start` in both, `old_end` in the first, `new_end` in the second."""

    start: Position
    old_end: Position
    new_end: Position

    def moved(self, span: Range) -> Range | None:
        """Where `span` of the old text is in the new one; None if the edit took all of it away."""
        start, end = self._moved(span.start, is_end=False), self._moved(span.end, is_end=True)
        if start >= end and span.start < span.end:
            return None
        return Range(start, end)

    def _moved(self, position: Position, *, is_end: bool) -> Position:
        if position < self.start or (is_end and position == self.start):
            return position
        if position >= self.old_end:
            line = position.line + self.new_end.line - self.old_end.line
            if position.line > self.old_end.line:
                return Position(line, position.character)
            return Position(line, position.character + self.new_end.character - self.old_end.character)
        return self.new_end if is_end else self.start


def difference(old: str, new: str) -> Hunk | None:
    """The smallest single stretch that has to be replaced in `old` to get `new`; None if they are equal."""
    if old == new:
        return None
    before, after = split_lines(old), split_lines(new)
    shortest = min(len(before), len(after))
    head = 0
    while head < shortest and before[head] == after[head]:
        head += 1
    if head == len(before) == len(after):
        return None  # they differ in line ends only
    tail = 0
    while tail < shortest - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return _within_lines(before, after, head, tail)


def _within_lines(before: list[str], after: list[str], head: int, tail: int) -> Hunk:
    """Narrows the differing lines `[head, -tail)` down to the characters."""
    old_last, new_last = len(before) - tail - 1, len(after) - tail - 1
    if old_last < head:  # lines were added before line `head`
        return Hunk(Position(head, 0), Position(head, 0), Position(new_last + 1, 0))
    if new_last < head:
        return Hunk(Position(head, 0), Position(old_last + 1, 0), Position(head, 0))
    first_old, first_new = before[head], after[head]
    left = 0
    while left < min(len(first_old), len(first_new)) and first_old[left] == first_new[left]:
        left += 1
    last_old, last_new = before[old_last], after[new_last]
    room = min(
        len(last_old) - (left if old_last == head else 0),
        len(last_new) - (left if new_last == head else 0),
    )
    right = 0
    while right < room and last_old[-1 - right] == last_new[-1 - right]:
        right += 1
    return Hunk(
        Position(head, utf16_length(first_old[:left])),
        Position(old_last, utf16_length(last_old[: len(last_old) - right])),
        Position(new_last, utf16_length(last_new[: len(last_new) - right])),
    )
