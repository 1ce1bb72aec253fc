"""On which line of a TOML text each key stands: TOML parsers do not say, and errors should.

A scanner, not a parser: it follows table headers and `key =` lines, and steps over strings and arrays of several lines.
Whatever it does not understand it leaves out; an error then names the key without its line.
"""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*([\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*([\w.-]+))?\s*=(.*)$""")
_INLINE = re.compile(r"""([\w-]+|"[^"]*"|'[^']*')\s*=""")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'[^']*'")


def lines_of_keys(text: str) -> dict[str, int]:
    """Zero-based lines by dotted key (`operators[2].match`); the first line of a key that stands twice."""
    found: dict[str, int] = {}
    arrays: dict[str, int] = {}
    prefix = ""
    depth = 0
    closing = ""
    for number, line in enumerate(text.splitlines()):
        if closing:
            closing = "" if closing in line else closing
            continue
        if depth:
            depth += _balance(line)
            continue
        header = _HEADER.match(line)
        if header:
            prefix = _table(header[1], header[2], arrays)
            found.setdefault(prefix.rstrip("."), number)
            continue
        key = _KEY.match(line)
        if key:
            _note_key(found, prefix, key, number)
            closing = _open_string(key[3])
            depth = 0 if closing else _balance(key[3])
    return found


def _table(brackets: str, name: str, arrays: dict[str, int]) -> str:
    dotted = ".".join(part.strip().strip("\"'") for part in name.split("."))
    if brackets == "[[":
        arrays[dotted] = arrays.get(dotted, -1) + 1
        return f"{dotted}[{arrays[dotted]}]."
    parent, _, rest = dotted.partition(".")
    if parent in arrays:
        return f"{parent}[{arrays[parent]}].{rest}."
    return f"{dotted}."


def _note_key(found: dict[str, int], prefix: str, key: re.Match[str], number: int) -> None:
    dotted = prefix + key[1].strip("\"'") + (f".{key[2]}" if key[2] else "")
    found.setdefault(dotted, number)
    value = _STRING.sub('""', key[3])
    if value.lstrip().startswith("{"):
        for inner in _INLINE.finditer(value):
            found.setdefault(f"{dotted}.{inner[1]}", number)


def _open_string(value: str) -> str:
    """The quotes of a multi-line string that begins in `value` and does not end there."""
    for quotes in ('"""', "'''"):
        if value.count(quotes) % 2:
            return quotes
    return ""


def _balance(line: str) -> int:
    """Brackets opened minus brackets closed, outside strings and comments."""
    bare = _STRING.sub("", line).split("#", 1)[0]
    return bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")
