"""The text of one source file, with the columns in which Python, editors and people count.

Python counts UTF-8 bytes, editors UTF-16 code units, people characters. Nothing here decides which file matters. A file
that cannot be read has no lines, and its columns pass through unchanged.
"""

from __future__ import annotations

import codecs
import io
import tokenize

from inductor_debug_schema import Position, Range

from inductor_debug.source.text_lines import content_range, index_of_utf16, slice_of, split_lines, utf16_length


class SourceText:
    """Lines of a file, without their ends, and the conversions that need them."""

    def __init__(self, text: str) -> None:
        self.lines = split_lines(text.removeprefix("\ufeff"))

    @classmethod
    def read(cls, path: str) -> SourceText | None:
        """Reads `path` in the encoding it declares; None where that is not possible."""
        try:
            with tokenize.open(path) as file:
                return cls(file.read())
        except (OSError, SyntaxError, ValueError, LookupError):
            return None

    def line(self, number: int) -> str | None:
        """The zero-based line `number`, or None past the end."""
        return self.lines[number] if 0 <= number < len(self.lines) else None

    def character(self, line: int, byte: int) -> int:
        """The UTF-16 column of UTF-8 column `byte` in the zero-based `line`."""
        text = self.line(line)
        if text is None:
            return byte
        if text.isascii():
            return min(byte, len(text))
        prefix = text.encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "ignore")
        return utf16_length(prefix)

    def character_index(self, position: Position) -> int:
        """The index of `position` in its line, in characters; the line's length if it lies past its end.

        A position on a line that does not exist keeps its UTF-16 count, which is right for all but astral characters.
        """
        line = self.line(position.line)
        return position.character if line is None else index_of_utf16(line, position.character)

    def line_range(self, line: int) -> Range:
        """The zero-based `line` from its first to its last character that is no white space."""
        return content_range(self.line(line) or "", line)

    def excerpt(self, area: Range, *, at_most: int = 200) -> str:
        """The text inside `area`, cut after `at_most` characters; empty when the file has no such lines."""
        return slice_of(self.lines[: area.start.line + at_most + 1], area)[:at_most]


def decode(data: bytes) -> str:
    """Decodes Python source by its byte order mark or coding comment, replacing what does not fit."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        encoding = "utf-8"
    return codecs.decode(data, encoding, "replace")
