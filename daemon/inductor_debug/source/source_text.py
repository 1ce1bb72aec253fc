"""The text of one source file, and columns in it: Python counts UTF-8 bytes, editors count UTF-16 code units.

It never decides which file matters; it only converts. A file that cannot be read has no lines, and its columns pass
through unchanged.
"""

from __future__ import annotations

import re
import tokenize

from inductor_debug_schema import Position, Range

LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line for Python and for editors; `str.splitlines` also splits at form feeds and other characters."""


class SourceText:
    """Lines of a file, without their ends, and the conversions that need them."""

    def __init__(self, text: str) -> None:
        self.lines = LINE_END.split(text.removeprefix("\ufeff"))

    @classmethod
    def read(cls, path: str) -> SourceText | None:
        """Reads `path` in the encoding it declares; None where that is not possible."""
        try:
            with tokenize.open(path) as file:
                return cls(file.read())
        except (OSError, SyntaxError, ValueError, LookupError):
            return None

    def character(self, line: int, byte: int) -> int:
        """The UTF-16 column of UTF-8 column `byte` in the zero-based `line`."""
        if not 0 <= line < len(self.lines):
            return byte
        text = self.lines[line]
        if text.isascii():
            return min(byte, len(text))
        prefix = text.encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "ignore")
        return utf16_length(prefix)

    def line_range(self, line: int) -> Range:
        """The zero-based `line` from its first to its last character that is no white space."""
        text = self.lines[line] if 0 <= line < len(self.lines) else ""
        start = len(text) - len(text.lstrip())
        return Range(
            Position(line, utf16_length(text[:start])),
            Position(line, utf16_length(text.rstrip())),
        )


def utf16_length(text: str) -> int:
    """How many UTF-16 code units `text` takes."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)
