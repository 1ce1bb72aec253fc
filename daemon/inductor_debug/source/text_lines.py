"""Lines and positions of source text, in the units of the Language Server Protocol: the one place that counts them.

A line ends with LF, CR LF or CR, as in Python's parser and in editors. Characters are UTF-16 code units; a position
inside a surrogate pair, which no editor should send, is the one before the pair.
"""

from __future__ import annotations

import re

from inductor_debug_schema import Position, Range

LINE_END = re.compile("\r\n|\n|\r")
"""What ends a line for Python and for editors; `str.splitlines` also splits at form feeds and other characters."""


def split_lines(text: str) -> list[str]:
    """The lines without their ends; there is always at least one."""
    if "\r" not in text:
        return text.split("\n")
    return LINE_END.split(text)


def line_starts(text: str) -> list[int]:
    """Where each line begins, as indices of characters."""
    return [0, *(match.end() for match in LINE_END.finditer(text))]


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
        units += 2 if letter > "\uffff" else 1
        if units > character:
            return index
    return len(line)


def offset_of(text: str, starts: list[int], line: int, character: int) -> int:
    """The index in `text` of a position; one beyond the end of a line or of the text is that end.

    Args:
        text: what the position is in.
        starts: its `line_starts`.
        line: zero-based.
        character: in UTF-16 units.
    """
    if line >= len(starts):
        return len(text)
    end = starts[line + 1] if line + 1 < len(starts) else len(text)
    return starts[line] + index_of_utf16(text[starts[line] : end].rstrip("\r\n"), character)


def first_line_range(text: str) -> Range:
    """All of the first line: where findings stand that concern the whole file."""
    end = len(text)
    match = LINE_END.search(text)
    if match:
        end = match.start()
    return Range(Position(0, 0), Position(0, utf16_length(text[:end])))


def line_range(text: str, line: int | None) -> Range:
    """The text on a zero-based line, without its indentation; the first line where none is known."""
    lines = split_lines(text)
    if line is None or not 0 <= line < len(lines):
        return first_line_range(text)
    return content_range(lines[line], line)


def content_range(content: str, line: int) -> Range:
    """The text `content` of the zero-based line `line`, from its first to its last character that is no white space."""
    indent = len(content) - len(content.lstrip())
    return Range(Position(line, utf16_length(content[:indent])), Position(line, utf16_length(content.rstrip())))


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
