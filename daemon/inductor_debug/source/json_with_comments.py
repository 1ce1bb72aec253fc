"""JSON as VS Code writes it, with comments and commas at ends, and an element more in one of its lists.

What stands in a text stays to the last character; nothing is formatted anew. It knows nothing of files.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r",(?=\s*[\]}])")
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


class JsonTextError(ValueError):
    """A text is not what it should be; the message says where and why."""


@dataclass(frozen=True)
class _Member:
    """A member of an object: where its value begins and ends."""

    name: str
    start: int
    end: int


def parsed(text: str) -> Any:
    """The value of a text; None where there are but comments in it.

    Raises:
        JsonTextError: it is not JSON, also when its comments are left out.
    """
    plain = _plain(text)
    return _parsed(plain) if plain.strip("\ufeff \t\r\n") else None


def with_element(text: str, name: str, element: dict[str, Any], otherwise: dict[str, Any]) -> str:
    """The text of an object, with `element` at the end of its list `name`.

    Args:
        text: of an object; a text of nothing but comments stands for none.
        name: of the list, which is added where there is none.
        element: what to add.
        otherwise: the members of an object that has to be made.

    Raises:
        JsonTextError: it is no JSON, no object, or what it has of that name is no list.
    """
    plain = _plain(text)
    if not plain.strip("\ufeff \t\r\n"):
        joint = "\n" if text.strip() and not text.endswith("\n") else ""
        return f"{text}{joint}{json.dumps({**otherwise, name: [element]}, indent=4)}\n"
    known = _parsed(plain)
    if not isinstance(known, dict):
        raise JsonTextError("it is no object")
    before = known.get(name, [])
    if not isinstance(before, list):
        raise JsonTextError(f'its "{name}" is no list')
    made = _added(text, plain, name, element, first=not before, alone=not known)
    if "\r\n" in text:
        made = re.sub(r"\r?\n", "\r\n", made)
    after = parsed(made)
    # A text that says one thing to us and another to its editor is left to its user.
    if after != {**known, name: [*before, element]}:
        raise JsonTextError(f'its "{name}" stands there more than once')
    return made


def _added(text: str, plain: str, name: str, element: dict[str, Any], *, first: bool, alone: bool) -> str:
    start = _SPACE.match(plain.lstrip("\ufeff")).end() + len(plain) - len(plain.lstrip("\ufeff"))  # type: ignore[union-attr]
    lists = [member for member in _members(plain, start) if member.name == name]
    if not lists:
        body = "\n    " + json.dumps(name) + ": [\n" + _indented(element) + "\n    ]" + ("\n" if alone else ",")
        return text[: start + 1] + body + text[start + 1 :]
    inside = lists[-1].start + 1
    if first:
        return text[:inside] + "\n" + _indented(element) + "\n    " + text[inside:]
    end = _end_of_last(plain, inside)
    return text[:end] + ",\n" + _indented(element) + text[end:]


def _indented(element: dict[str, Any]) -> str:
    return "\n".join("        " + line for line in json.dumps(element, indent=4).splitlines())


def _members(plain: str, start: int) -> list[_Member]:
    """The members of the object that begins at `start`, of a text that is known to be JSON."""
    found: list[_Member] = []
    at = _after_space(plain, start + 1)
    while plain[at] != "}":
        name, at = _DECODER.raw_decode(plain, at)
        at = _after_space(plain, _after_space(plain, at) + 1)
        _, end = _DECODER.raw_decode(plain, at)
        found.append(_Member(name, at, end))
        at = _after_space(plain, end)
        if plain[at] == ",":
            at = _after_space(plain, at + 1)
    return found


def _end_of_last(plain: str, at: int) -> int:
    """Where the last element of a list ends that has one, and whose inside begins at `at`."""
    end = at
    at = _after_space(plain, at)
    while plain[at] != "]":
        _, end = _DECODER.raw_decode(plain, at)
        at = _after_space(plain, end)
        if plain[at] == ",":
            at = _after_space(plain, at + 1)
    return end


def _after_space(plain: str, at: int) -> int:
    found = _SPACE.match(plain, at)
    assert found is not None
    return found.end()


def _parsed(plain: str) -> Any:
    try:
        return json.loads(plain.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError):
            raise JsonTextError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
        raise JsonTextError("it is nested too deeply") from error


def _plain(text: str) -> str:
    """The text with spaces for comments and for commas at ends, so that every position stays what it is."""
    bare = _TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else _blank(found[0]), text)
    hidden = _STRING.sub(lambda found: "s" * len(found[0]), bare)
    commas = {found.start() for found in _LAST_COMMA.finditer(hidden)}
    return "".join(" " if at in commas else character for at, character in enumerate(bare))


def _blank(comment: str) -> str:
    return "".join(character if character in "\r\n" else " " for character in comment)
