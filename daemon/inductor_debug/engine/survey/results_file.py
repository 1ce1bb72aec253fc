"""The file of a survey's results: JSON lines, a header and then rows, added as they come and never rewritten.

Whatever ends a survey, what was added stays: a last line that was cut off is left out when it is read, and cut away
when the survey goes on. A model of which not all rows are there counts as one that was not looked at.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inductor_debug_schema import SurveyHeader, SurveyRow, WireError, from_wire, to_wire

from inductor_debug import __version__

SCHEMA = 1
_LONGEST_HEADER = 1 << 20
"""Bytes of a first line that may be a header: other files of lines have lines of any length."""


class ResultsError(ValueError):
    """A file cannot be read as results of a survey, or not be gone on with; the message names it and says why."""


@dataclass(frozen=True)
class SurveyResults:
    """A survey that was read; rows stand in the order of the models as they were named."""

    header: SurveyHeader
    rows: list[SurveyRow]

    def models(self) -> dict[str, list[SurveyRow]]:
        """The rows by model."""
        found: dict[str, list[SurveyRow]] = defaultdict(list)
        for row in self.rows:
            found[row.model].append(row)
        return dict(found)


def read_results(path: str | Path) -> SurveyResults:
    """The results in a file.

    Raises:
        ResultsError: it is missing, or holds no results that this version knows.
    """
    results, _ = _read(Path(path))
    return results


def is_results(path: Path) -> bool:
    """Whether a file begins as results that this version knows; no row is read."""
    try:
        with path.open("rb") as stream:
            _header(json.loads(stream.readline(_LONGEST_HEADER)), path)
    except (OSError, ValueError, TypeError):  # ResultsError and WireError are ValueErrors
        return False
    return True


class ResultsFile:
    """Adds rows to a file. `done` has the keys of models, by name, whose rows are all there already."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        """Begins anew, keeping what is there beside it, or goes on.

        Raises:
            ResultsError: what is there cannot be gone on with.
            OSError: nothing can be written there.
        """
        self.path = path
        self.kept = 0
        self.header: SurveyHeader | None = None
        self.previous: Path | None = None
        self.done: dict[str, str] = {}
        if path.is_file() and path.stat().st_size:
            if resume:
                self._go_on()
            else:
                self.previous = path.with_suffix(f".previous{path.suffix}")
                os.replace(path, self.previous)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("a", encoding="utf-8")

    def begin(self, header: SurveyHeader) -> None:
        """Writes the header; where the survey goes on, requires that it is of the same kind.

        Raises:
            ResultsError: the earlier results were made otherwise.
        """
        if self.header is not None:
            for what, before, now in _decisive(self.header, header):
                if before != now:
                    raise ResultsError(
                        f"{self.path} was made with {what} {before or 'not set'}, and this would be with "
                        f"{now or 'not set'}: leave --resume out to begin anew"
                    )
            return
        self.header = header
        self._write(header)

    def add(self, rows: Sequence[SurveyRow]) -> None:
        """Adds all rows of a model; they are on disk when it returns, as far as the system says."""
        self._write(*rows)
        self.kept += len(rows)

    def close(self) -> None:
        """Nothing more comes."""
        self._stream.close()

    def _write(self, *lines: Any) -> None:
        text = "".join(json.dumps(to_wire(line), ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
        self._stream.write(text)
        self._stream.flush()

    def _go_on(self) -> None:
        results, end = _read(self.path)
        self.header = results.header
        whole = {name: rows for name, rows in results.models().items() if len(rows) >= rows[0].of}
        self.done = {name: rows[0].key for name, rows in whole.items()}
        self.kept = sum(map(len, whole.values()))
        if end < self.path.stat().st_size:
            os.truncate(self.path, end)
        if len(whole) < len(results.models()):
            self._leave_out(results, set(whole))

    def _leave_out(self, results: SurveyResults, whole: set[str]) -> None:
        """Writes the file anew without models of which rows are missing."""
        draft = self.path.with_suffix(f"{self.path.suffix}.tmp")
        lines = [results.header, *(row for row in results.rows if row.model in whole)]
        draft.write_text("".join(json.dumps(to_wire(line), ensure_ascii=False) + "\n" for line in lines), "utf-8")
        os.replace(draft, self.path)


def _decisive(before: SurveyHeader, now: SurveyHeader) -> Iterator[tuple[str, str, str]]:
    """What two surveys must have in common to be one."""
    yield "torch", before.torch, now.torch
    yield "inductor-debug", before.version, now.version
    for key in sorted({*before.asked, *now.asked}):
        yield f"--{key}", before.asked.get(key, ""), now.asked.get(key, "")


def _read(path: Path) -> tuple[SurveyResults, int]:
    """The results, and the number of bytes up to the end of the last whole line."""
    header: SurveyHeader | None = None
    rows: list[SurveyRow] = []
    end = 0
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    document = json.loads(line)
                    if number == 1:
                        header = _header(document, path)
                    else:
                        rows.append(from_wire(SurveyRow, document, lenient=_made_elsewhere(header)))
                except (ValueError, TypeError) as error:  # WireError is one
                    raise _unreadable(path, number, error) from None
                end += len(line)
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None
    if header is None:
        raise ResultsError(f"{path}: no results of a survey")
    return SurveyResults(header, _latest(rows)), end


def _latest(rows: Sequence[SurveyRow]) -> list[SurveyRow]:
    """The rows of each model that were added last, in the order of the models: one that was edited is told once."""
    keys = {row.model: row.key for row in rows}
    told = {(row.model, row.number): row for row in rows if row.key == keys[row.model]}
    return sorted(told.values(), key=lambda row: (row.index, row.number))


def _header(document: Any, path: Path) -> SurveyHeader:
    if not isinstance(document, dict) or document.get("kind") != "survey":
        raise ResultsError(f"{path}: no results of a survey")
    if document.get("schema") != SCHEMA:
        raise ResultsError(f"{path}: results of schema {document.get('schema')!r}, which this version does not know")
    return from_wire(SurveyHeader, document, lenient=True)


def _made_elsewhere(header: SurveyHeader | None) -> bool:
    """Whether another version has written the rows, which may know more stages and states than this one."""
    return header is not None and header.version != __version__


def _unreadable(path: Path, number: int, error: Exception) -> ResultsError:
    if isinstance(error, ResultsError):
        return error
    what = str(error) if isinstance(error, WireError) else "no JSON"
    return ResultsError(f"{path}, line {number}: damaged, or not ours: {what}")
