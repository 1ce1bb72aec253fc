"""What IPython understands and Python does not (`%magic`, `!command`, `name?`), taken out line by line.

Every line keeps its place and its indentation, so that positions stay what they are in the cell.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

_LINE = re.compile(r"^(?P<indent>\s*)(?:%|!|\?|,|;|/(?=\w))")
_ASKING = re.compile(r"^(?P<indent>\s*)[\w.*%]+\?{1,2}\s*$")
_ASSIGNED = re.compile(r"^(?P<target>\s*[\w.,\[\] ()'\"]+?=\s*)(?:%|!)(?!=)")
_CELL = re.compile(r"^%%(?P<name>\w+)")
_AROUND = frozenset({"time", "timeit", "capture", "prun", "memit", "compile_check"})
"""Cell magics whose cell is Python all the same."""
_MAGIC = "%"
"""Stands for the beginning of a statement that was taken out."""


def python_of(cell: str) -> str:
    """The cell as Python with as many lines; a cell in another language (`%%bash`) has empty ones."""
    lines = cell.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    named = _CELL.match(lines[first]) if first is not None else None
    if named is not None:
        if named["name"] not in _AROUND:
            return "\n" * (len(lines) - 1)
        lines[first or 0] = ""
    return "\n".join(_without_magics(lines))


def _without_magics(lines: list[str]) -> Iterator[str]:
    """Only what begins a statement can be a magic: not a line within brackets, a string, or after a backslash."""
    statement: list[str] = []
    for line in lines:
        if statement and _goes_on(statement):
            statement.append(line)
            yield line if statement[0] is not _MAGIC else ""
            continue
        plain = _python_line(line)
        statement = [line] if plain is line else [_MAGIC, line]
        yield plain


def _goes_on(statement: list[str]) -> bool:
    if statement[-1].rstrip().endswith("\\"):
        return True
    if statement[0] is _MAGIC:
        return False
    try:
        for _ in tokenize.generate_tokens(io.StringIO("\n".join(statement)).readline):
            pass
    except tokenize.TokenError as error:
        return "EOF" in str(error)
    except SyntaxError:
        return False
    return False


def _python_line(line: str) -> str:
    magic = _LINE.match(line) or _ASKING.match(line)
    if magic is not None:
        return f"{magic['indent']}pass"
    assigned = _ASSIGNED.match(line)
    return f"{assigned['target']}None" if assigned is not None else line
