"""Results of a text as those of another one that differs in nothing but the lines on which its code stands."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, TypeVar, cast

from inductor_debug_schema import (
    Finding,
    Location,
    Range,
    TensorTimeline,
    TimelineCall,
    TimelineStatement,
)

from inductor_debug.engine.results.merge import Results
from inductor_debug.source.silent_edits import LineMoves, silent_edit

T = TypeVar("T")
Lines = TypeVar("Lines", TimelineCall, TimelineStatement)
_IMPORTS = "import-error"
"""What is told of imports that fail has been looked for in the words of files."""
_LINE = re.compile(r"(?<=\bline )\d+")
_PLACE = re.compile(r"(?P<path>\S+):(?P<line>\d+)\b")
"""A line as words name it, counted from one."""


class _UnknownPlaceError(Exception):
    """Something stands where nobody can say to which line it has moved."""


def results_after_edit(results: Results, text: str) -> Results | None:
    """What a run of `text` would give, where an edit has left all as it was that `results` rest on; None otherwise.

    Of texts that say something else, of runs that did not see all, and where places cannot be followed, nothing is
    known. Graphs are not taken along: they are named after the very text that they were made of.
    """
    if not results.complete or results.broken or results.endings() or results.answers or results.captures:
        return None
    if any(finding.rule == _IMPORTS for finding in results.general):
        return None
    moves = silent_edit(results.text, text, inferred=not results.lines.keys() <= results.declared)
    if moves is None:
        return None
    if moves.stays:
        return dataclasses.replace(results, text=text, artifacts=[])
    if results.sizes and not results.sizes_sought:
        return None
    try:
        return _moved(results, text, moves)
    except _UnknownPlaceError:
        return None


def _moved(results: Results, text: str, moves: LineMoves) -> Results:
    mover = _Mover(results.path, moves)
    return dataclasses.replace(
        results,
        text=text,
        lines={name: mover.line(line) for name, line in results.lines.items()},
        reports=mover.moved(results.reports),
        parts=mover.moved(results.parts),
        expressions=mover.moved(results.expressions),
        timelines=results.timelines.changed(mover.timeline),
        untaken={
            name: [dataclasses.replace(block, range=mover.range(block.range)) for block in blocks]
            for name, blocks in results.untaken.items()
        },
        general=mover.moved(results.general),
        artifacts=[],
        sizes={},
        sizes_sought=False,
        sizes_before={},
    )


class _Mover:
    """Moves all places in the file at `path` that something holds, of whatever dataclasses."""

    def __init__(self, path: str, moves: LineMoves) -> None:
        self._path, self._moves = path, moves

    def line(self, line: int) -> int:
        moved = self._moves.moved_line(line)
        if moved is None:
            raise _UnknownPlaceError
        return moved

    def range(self, span: Range) -> Range:
        moved = self._moves.moved(span)
        if moved is None:
            raise _UnknownPlaceError
        return moved

    def moved(self, value: T) -> T:
        return cast(T, self._moved(value))

    def _moved(self, value: Any) -> Any:
        if type(value) is str:
            return self.words(value)
        if type(value) is dict:
            return {name: self._moved(item) for name, item in value.items()}
        if type(value) in (list, tuple):
            return type(value)(map(self._moved, value))
        if not dataclasses.is_dataclass(value) or isinstance(value, type):
            return value
        if isinstance(value, Finding):
            value = dataclasses.replace(value, cause=self._cause(value.cause, value.path))
        changed = {}
        for field in dataclasses.fields(value):
            before = getattr(value, field.name)
            if field.name == "cause":
                continue
            is_place = field.name == "range" and getattr(value, "path", None) == self._path
            after = self.range(before) if is_place else self._moved(before)
            if after is not before:
                changed[field.name] = after
        return dataclasses.replace(value, **changed) if changed else value

    def words(self, words: str) -> str:
        """A sentence with the places that it names where they are now; of which file a mere line is nobody knows."""
        if _LINE.search(words):
            raise _UnknownPlaceError
        return _PLACE.sub(self._place_in_words, words)

    def _cause(self, cause: str, path: str) -> str:
        """What findings in a file have in common: a line of that file, or a path with a line that counts from zero."""
        if path == self._path:
            cause = _LINE.sub(lambda found: str(self._one_based(found[0])), cause)
        head, mark, line = cause.rpartition(":")
        return f"{head}:{self.line(int(line))}" if mark and head == self._path else cause

    def _place_in_words(self, found: re.Match[str]) -> str:
        return f"{self._path}:{self._one_based(found['line'])}" if found["path"] == self._path else found[0]

    def _one_based(self, line: str) -> int:
        return self.line(int(line) - 1) + 1

    def timeline(self, timeline: TensorTimeline) -> TensorTimeline:
        """The timeline of a run with its places where they are now; one that is not known stays where it was."""
        own = [call.path == self._path for call in timeline.calls]
        return dataclasses.replace(
            timeline,
            places=list(map(self._place, timeline.places)),
            calls=[self._lines(call, is_own) for call, is_own in zip(timeline.calls, own, strict=True)],
            statements=[self._lines(statement, own[statement.call]) for statement in timeline.statements],
        )

    def _place(self, place: Location) -> Location:
        span = self._moves.moved(place.range) if place.path == self._path else None
        return place if span is None else Location(place.path, span)

    def _lines(self, value: Lines, own: bool) -> Lines:
        start, end = self._moves.moved_line(value.start_line), self._moves.moved_line(value.end_line)
        if not own or start is None or end is None:
            return value
        return dataclasses.replace(value, start_line=start, end_line=end)
