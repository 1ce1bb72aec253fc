"""What was measured of planted mistakes, and the file that keeps it, so that a run which was cut off can go on.

The file has one JSON object a line for each class. A row is used again for the same text, mistakes and declared targets
only.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FOUND, ELSEWHERE, NOT_CHECKED, SILENT = "found", "elsewhere", "not checked", "silent"
"""What became of a mutant: found at the mistake, something was found in another place, a reason is told, nothing."""


@dataclass(frozen=True, slots=True)
class MutantVerdict:
    """What the tool made of a mutant, and the findings or the reason that it told."""

    where: str
    said: list[str]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake in one class: what it does to the model, and what the tool made of it."""

    group: str
    name: str
    operator: str
    difference: list[str]
    truth: str
    """`breaks` or `changes`."""
    sound_with: str
    """Of one that breaks, the other inputs with which it is a sound model (`processes.other_inputs`); mostly empty."""
    error: str
    """What the real run raised."""
    fresh: MutantVerdict
    edit: MutantVerdict


@dataclass(frozen=True, slots=True)
class Sound:
    """One class as it was written: why it could not be measured, and what was wrongly found in it."""

    group: str
    name: str
    problem: str
    reason: str
    false: list[str]


@dataclass(frozen=True, slots=True)
class MeasuredClass:
    """All of a run."""

    classes: list[Sound]
    mutants: list[Mutant]


Row = tuple[Sound, list[Mutant]]
"""A class and its mutants."""


class KeptResults:
    """The rows of earlier runs, and the file that new ones are added to; without a file nothing is kept.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no such file.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rows: dict[str, Row] = {}
        if path is not None and path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            self._rows = dict(_read(line) for line in lines if line.endswith("}"))

    def row(self, order: dict[str, Any]) -> Row | None:
        """What was measured for an order that was given to the workers before."""
        return self._rows.get(_key(order))

    def add(self, order: dict[str, Any], row: Row) -> None:
        """Keeps a row for the next run."""
        if self._path is not None:
            document = {"key": _key(order), "class": asdict(row[0]), "mutants": [asdict(item) for item in row[1]]}
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(document) + "\n")


def _key(order: dict[str, Any]) -> str:
    """A digest of all that an order says but where its file lies."""
    content = {name: value for name, value in order.items() if name != "path"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _read(line: str) -> tuple[str, Row]:
    try:
        row = json.loads(line)
        mutants = [
            Mutant(**{**item, **{road: MutantVerdict(**item[road]) for road in _ROADS}}) for item in row["mutants"]
        ]
        return row["key"], (Sound(**row["class"]), mutants)
    except (KeyError, TypeError) as error:
        raise ValueError(f"no row of `bench bugs`: {error}") from error


_ROADS = ("fresh", "edit")
