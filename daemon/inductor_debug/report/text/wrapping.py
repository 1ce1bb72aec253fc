"""Paragraphs of a terminal: plain text cut at spaces into lines."""

from __future__ import annotations

import textwrap

from inductor_debug.report.cells import printable

_WIDE = 110
_NARROW = 40
"""A terminal with fewer columns wraps for itself."""


def wrapped(words: str, first: str, rest: str, width: int | None = None) -> list[str]:
    """The lines of a paragraph.

    Args:
        words: all of it.
        first: what its first line begins with.
        rest: what the others begin with.
        width: the columns that there are (`Styler.width`).
    """
    most = _WIDE if width is None else max(min(width, _WIDE), _NARROW)
    return textwrap.wrap(printable(words), most, initial_indent=first, subsequent_indent=rest, break_long_words=False)
