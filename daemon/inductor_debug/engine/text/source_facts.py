"""What policy has to know of a source file: its ignore comments, the functions its lines belong to, its text.

Built once for a text and shared (`source_of`), because several findings of several updates ask for the same one. Works
on any text, whether it parses or not. Never reads a file.
"""

from __future__ import annotations

import bisect
import io
import re
import tokenize
from dataclasses import dataclass
from functools import cached_property, lru_cache

from inductor_debug_schema import Range

from inductor_debug.source.comments import Ignore, ignores
from inductor_debug.source.text_lines import slice_of, split_lines

_DEFINITION = re.compile(r"\s*(?:async\s+def|def|class)\s+(\w+)")
_BETWEEN_STATEMENTS = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


@dataclass(frozen=True)
class PolicySource:
    """One text, looked at lazily."""

    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return split_lines(self.text)

    @cached_property
    def ignores(self) -> list[Ignore]:
        """All ignore comments, in order; text inside of strings is none."""
        return ignores(self.text)

    def statement_line(self, line: int) -> int:
        """The first line of the statement that continues over `line`; `line` itself where none does."""
        return self._statement_lines.get(line, line)

    def text_of(self, span: Range) -> str:
        """The text in `span`."""
        return slice_of(self.lines, span)

    def qualname(self, line: int) -> str:
        """The dotted name of the innermost class or function around a zero-based line; "" at module level."""
        if line >= len(self.lines):
            return ""
        names = []
        indent = _indent(self.lines[line])
        index = bisect.bisect_right(self._definitions, line, key=lambda definition: definition[0])
        for first, definition_indent, name in reversed(self._definitions[:index]):
            if definition_indent < indent or first == line:
                names.append(name)
                indent = definition_indent
        return ".".join(reversed(names))

    @cached_property
    def _definitions(self) -> list[tuple[int, int, str]]:
        """Line, indentation and name of every `def` and `class`, told by indentation: a parser takes too long."""
        return [
            (number, _indent(line), match[1])
            for number, line in enumerate(self.lines)
            if (match := _DEFINITION.match(line))
        ]

    @cached_property
    def _statement_lines(self) -> dict[int, int]:
        """The first line of its statement, for every line that continues one."""
        begun: dict[int, int] = {}
        first: int | None = None
        reader = io.StringIO("\n".join(self.lines) + "\n").readline
        try:
            for token in tokenize.generate_tokens(reader):
                line = token.start[0] - 1
                if token.type == tokenize.NEWLINE:
                    if first is not None:
                        begun.update((between, first) for between in range(first + 1, line + 1))
                    first = None
                elif first is None and token.type not in _BETWEEN_STATEMENTS:
                    first = line
        except (tokenize.TokenError, SyntaxError):
            pass  # the part before the fault is known; nothing after it runs anyway
        return begun


@lru_cache(maxsize=16)
def source_of(text: str) -> PolicySource:
    """The shared `PolicySource` of a text."""
    return PolicySource(text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
