"""Paragraphs of a terminal: plain text cut at spaces into lines."""

from __future__ import annotations

import textwrap

from inductor_debug.report.cells import printable

_WIDE = 110


def wrapped(words: str, first: str, rest: str) -> list[str]:
    """The lines of a paragraph; `first` and `rest` begin its first line and the others."""
    return textwrap.wrap(printable(words), _WIDE, initial_indent=first, subsequent_indent=rest, break_long_words=False)
