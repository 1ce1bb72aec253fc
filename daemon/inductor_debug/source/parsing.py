"""Python's own parser, asked in the daemon: does a text parse, and where does it not.

Answers come without any worker, so that a typing slip is shown at once. Nothing is ever executed or compiled to code.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from inductor_debug_schema import Finding, Position, Range, Severity, Stage

from inductor_debug.source.text_lines import first_line_range, index_of_utf16, split_lines, utf16_length

SYNTAX_RULE = "syntax-error"
LARGEST_PARSED = 256 << 10
"""Characters above which parsing would keep the daemon from answering; a worker parses such a text."""


def unparsed(findings: Iterable[Finding], path: str) -> bool:
    """Whether one of the findings says that the file at `path` does not parse; of a single cell that is a warning."""
    faults = (finding for finding in findings if finding.rule == SYNTAX_RULE and finding.severity is Severity.ERROR)
    return any(fault.path == path for fault in faults)


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """Why a text does not parse, and where."""

    message: str
    range: Range

    def finding(self, path: str) -> Finding:
        """The fault as a finding in the file at `path`."""
        return Finding(SYNTAX_RULE, Severity.ERROR, self.message, path, self.range, Stage.LOAD)


def parse(text: str) -> ast.Module | SyntaxFault:
    """Parses a module's text; never raises for what stands in it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escape sequences: the user's own tools tell
            return ast.parse(text.removeprefix("\ufeff"))
    except SyntaxError as error:
        return SyntaxFault(_sentence(error), _range(error, text))
    except ValueError as error:  # null bytes, before Python 3.12
        return SyntaxFault(f"The file cannot be parsed: {error}.", _null_range(text))
    except (RecursionError, MemoryError):
        return SyntaxFault("The file is nested too deeply to be parsed.", first_line_range(text))


def _sentence(error: SyntaxError) -> str:
    message = error.msg or "invalid syntax"
    return f"{message[0].upper()}{message[1:]}"


def _range(error: SyntaxError, text: str) -> Range:
    lines = split_lines(text)
    start = _position(lines, error.lineno, error.offset)
    if start is None:
        return _null_range(text) if "\0" in text else first_line_range(text)
    end = _position(lines, error.end_lineno, error.end_offset)
    if end is not None and end > start:
        return Range(start, end)
    line = lines[start.line].rstrip()
    index = min(index_of_utf16(line, start.character), max(len(line) - 1, 0))  # at the end: the last character
    return Range(
        Position(start.line, utf16_length(line[:index])),
        Position(start.line, max(utf16_length(line[: index + 1]), 1)),
    )


def _position(lines: list[str], line: int | None, offset: int | None) -> Position | None:
    """Converts the parser's one-based line and character; beyond the end it is the end."""
    if line is None or line < 1:
        return None
    if line > len(lines):
        return Position(len(lines) - 1, utf16_length(lines[-1]))
    content = lines[line - 1]
    index = min(max((offset or 1) - 1, 0), len(content))
    return Position(line - 1, utf16_length(content[:index]))


def _null_range(text: str) -> Range:
    before = split_lines(text.partition("\0")[0])
    character = utf16_length(before[-1])
    return Range(Position(len(before) - 1, character), Position(len(before) - 1, character + 1))
