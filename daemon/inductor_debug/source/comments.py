"""Comments of a Python file, found without parsing it, so that files that do not parse have comments too.

One regular expression skips strings and stops at comments. It imports no torch and executes nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from inductor_debug_schema import Position, Range

from inductor_debug.source.text_lines import LINE_END, utf16_length

STRING = (
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)'
    r"|'''(?:\\.|[^\\])*?(?:'''|\Z)"
    # A string that is still being typed ends with its line, or one apostrophe would hide the rest of the file.
    r'|"(?:\\.|[^"\\\r\n])*(?:"|(?=[\r\n])|\Z)'
    r"|'(?:\\.|[^'\\\r\n])*(?:'|(?=[\r\n])|\Z)"
)
"""Matches one string literal, without its prefix."""

_STRING_OR_COMMENT = re.compile(rf"(?P<string>{STRING})|(?P<comment>\#[^\r\n]*)", re.DOTALL)
_MARKER = re.compile(r"(?:^|(?<=\s))#\s*inductor-debug\s*:")
"""Words to this tool begin a comment, or follow another comment on the same line."""

_IGNORE = re.compile(r"\s*ignore\b(?:\s*\[(?P<rules>[^\]]*)\])?")


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment: its zero-based line, the code point column of its `#`, its text, and whether it stands alone."""

    line: int
    column: int
    text: str
    alone: bool


@dataclass(frozen=True, slots=True)
class Ignore:
    """A comment that silences rules on its line; `rules` is empty where it silences all of them."""

    line: int
    rules: tuple[str, ...]
    range: Range


def comments(text: str) -> list[Comment]:
    """All comments of a file, in order."""
    text = text.removeprefix("\ufeff")
    starts = [0, *(match.end() for match in LINE_END.finditer(text))]
    found = []
    for match in _STRING_OR_COMMENT.finditer(text):
        if match.lastgroup == "comment":
            line = bisect_right(starts, match.start()) - 1
            before = text[starts[line] : match.start()]
            found.append(Comment(line, len(before), match.group(), not before.strip()))
    return found


def marked(found: list[Comment]) -> Iterator[tuple[Comment, int]]:
    """Those comments that speak to this tool, with the offset in their text at which their words begin."""
    for comment in found:
        match = _MARKER.search(comment.text)
        if match is not None:
            yield comment, match.end()


def is_ignore(words: str) -> bool:
    """Whether the words after `# inductor-debug:` silence rules."""
    return _IGNORE.match(words) is not None


def ignores(text: str) -> list[Ignore]:
    """All `# inductor-debug: ignore[rule, ...]` comments of a file, which need not parse."""
    if "inductor-debug" not in text:
        return []
    lines = LINE_END.split(text.removeprefix("\ufeff"))
    found = []
    for comment, words in marked(comments(text)):
        match = _IGNORE.match(comment.text, words)
        if match is None:
            continue
        marker = _MARKER.search(comment.text)
        assert marker is not None
        rules = tuple(name.strip() for name in (match.group("rules") or "").split(",") if name.strip())
        found.append(Ignore(comment.line, rules, _range(lines, comment, marker.start(), match.end())))
    return found


def _range(lines: list[str], comment: Comment, start: int, end: int) -> Range:
    line = lines[comment.line]
    return Range(
        Position(comment.line, utf16_length(line[: comment.column + start])),
        Position(comment.line, utf16_length(line[: comment.column + end])),
    )
