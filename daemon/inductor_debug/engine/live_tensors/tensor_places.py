"""The expressions of a timeline as people see them: at their places in the present text, with what stands there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inductor_debug_schema import Location, TensorPlace, TensorTimeline

from inductor_debug.source.text_changes import TextChange
from inductor_debug.source.text_lines import slice_of, split_lines

LONGEST_TEXT = 80


class TensorPlaces:
    """Places of one timeline.

    Args:
        timeline: the run.
        path: the file that was edited since.
        edit: what was edited in it, None where nothing was.
        text_of: the text that ran as the file at a path, None where it is not known.
    """

    def __init__(
        self, timeline: TensorTimeline, path: str, edit: TextChange | None, text_of: Callable[[str], str | None]
    ) -> None:
        self._timeline = timeline
        self._path = path
        self._edit = edit
        self._text_of = text_of
        self._lines: dict[str, list[str]] = {}
        self._texts: dict[Location, str] = {}

    def at(self, number: int, module: str = "") -> TensorPlace:
        """The place of that number."""
        location = self._timeline.places[number]
        span = location.range
        if self._edit is not None and location.path == self._path:
            span = self._edit.moved(span) or span
        return TensorPlace(location.path, span, self._text(location), module)

    def of_op(self, op: int) -> TensorPlace | None:
        """Where an operation ran; None outside of the user's code."""
        if op < 0 or self._timeline.op_places[op] < 0:
            return None
        statement = self._timeline.op_statements[op]
        module = self._timeline.calls[self._timeline.statements[statement].call].module if statement >= 0 else ""
        return self.at(self._timeline.op_places[op], module)

    def of_ops(self, ops: Sequence[int], after: int) -> list[TensorPlace]:
        """Where operations ran, each place once: first those that come after an operation, then the others."""
        found: dict[int, TensorPlace] = {}
        for op in (*(op for op in ops if op > after), *(op for op in ops if op <= after)):
            number = self._timeline.op_places[op]
            if number >= 0 and number not in found:
                place = self.of_op(op)
                if place is not None:
                    found[number] = place
        return list(found.values())

    def _text(self, location: Location) -> str:
        """What stands at a place, in one line."""
        known = self._texts.get(location)
        if known is None:
            if location.path not in self._lines:
                self._lines[location.path] = split_lines(self._text_of(location.path) or "")
            words = " ".join(slice_of(self._lines[location.path], location.range).split())
            known = words if len(words) <= LONGEST_TEXT else f"{words[: LONGEST_TEXT - 1]}…"
            self._texts[location] = known
        return known
