"""A parsed file whose nodes can be quoted and replaced: an edit changes one expression and nothing beside it.

Nothing here knows which edits are mistakes; nothing is ever unparsed as a whole, so all other positions stay.
"""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass
from functools import cached_property

from inductor_debug.source.text_lines import utf16_length
from inductor_debug_schema import Position, Range


@dataclass(frozen=True, slots=True)
class MutationEdit:
    """Puts `new` in place of `text[start:end]`."""

    start: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        """The edited text."""
        return text[: self.start] + self.new + text[self.end :]

    def place(self, text: str) -> Range:
        """Where the edited expression stands in the edited text."""
        edited = self.applied(text)
        return Range(_position(edited, self.start), _position(edited, self.start + len(self.new)))

    def difference(self, text: str) -> list[str]:
        """The lines that it takes and gives, as a small diff."""
        before, after = text.splitlines(), self.applied(text).splitlines()
        lines = difflib.unified_diff(before, after, lineterm="", n=0)
        return [line for line in lines if not line.startswith(("---", "+++"))]


def _position(text: str, offset: int) -> Position:
    start = text.rfind("\n", 0, offset) + 1
    return Position(text.count("\n", 0, offset), utf16_length(text[start:offset]))


class MutatedSource:
    """One text, its tree, and where nodes stand in the text.

    Raises:
        SyntaxError: the text does not parse.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)

    @cached_property
    def _lines(self) -> list[tuple[int, str]]:
        """Each line with the offset at which it begins; Python's own lines, so form feeds end none."""
        found, offset = [], 0
        for line in self.text.split("\n"):
            found.append((offset, line))
            offset += len(line) + 1
        return found

    def offset(self, line: int, byte: int) -> int:
        """The offset of UTF-8 column `byte` in the one-based `line`."""
        start, text = self._lines[line - 1]
        return start + (byte if text.isascii() else len(text.encode()[:byte].decode(errors="ignore")))

    def span(self, node: ast.expr | ast.arg | ast.keyword) -> tuple[int, int]:
        """Where a node begins and ends in the text."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def quoted(self, node: ast.expr | ast.arg | ast.keyword) -> str:
        """A node as it is written."""
        start, end = self.span(node)
        return self.text[start:end]

    def replaced(self, node: ast.expr | ast.arg | ast.keyword, new: str) -> MutationEdit:
        """The edit that writes `new` for a node."""
        return MutationEdit(*self.span(node), new)

    def exchanged(self, node: ast.expr, *pieces: tuple[ast.expr, str]) -> MutationEdit:
        """The edit of a node in which some of its parts, in their order, are written anew."""
        start, end = self.span(node)
        new, position = "", start
        for piece, text in pieces:
            begin, stop = self.span(piece)
            new += self.text[position:begin] + text
            position = stop
        return MutationEdit(start, end, new + self.text[position:end])

    def with_argument(self, call: ast.Call, text: str) -> MutationEdit:
        """The edit that gives a call one more argument at its end."""
        start, end = self.span(call)
        body = self.text[start : end - 1].rstrip()
        joint = "" if body.endswith(("(", ",")) else ", "
        return MutationEdit(start, end, f"{body}{joint}{text})")
