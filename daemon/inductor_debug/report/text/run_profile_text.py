"""What real steps took, as tables: `profile`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Union

from inductor_debug_schema import ExpressionTime, IdleGap, KernelTime, Location, RunProfileDocument, StepTime

from inductor_debug.report.cells import one_line, printable, shortened, width_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.run_profile_words import (
    bound_sentence,
    heading_of,
    idle_sentence,
    step_sentence,
    tie_sentence,
)
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.rules.amounts import counted, in_seconds

_MOST_ROWS = 15
_MOST_GAPS = 5
_LONGEST_SOURCE = 48
_LONGEST_NAME = 70
_MOST_KERNELS = 3
_TIMED = ("time", "spread", "calls", "share")
_BOUND = "bound"
_OVER = "× bound"
_Row = tuple[str, StepTime, Union[float, None]]
"""What a row is about, its time, and its bound."""


def run_profile_text(document: RunProfileDocument, places: FileNames, sources: ShownTexts, styler: Styler) -> str:
    """One document for people, with a line break at its end."""
    return "\n".join(_RunProfileText(places, sources, styler).lines(document)) + "\n"


class _RunProfileText:
    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places, self._sources, self._paint = places, sources, styler.paint

    def lines(self, document: RunProfileDocument) -> Iterator[str]:
        yield self._paint(printable(heading_of(document, self._places.shown)), Role.HEADING)
        if document.problem or document.step is None or document.idle is None:
            yield printable(f"  not measured: {document.problem}")
            return
        yield _line("step", step_sentence(document, document.step))
        if document.bound_seconds is not None:
            yield _line("bound", bound_sentence(document, document.bound_seconds))
        yield _line("idle", idle_sentence(document.idle))
        yield _line("tied", tie_sentence(document))
        for note in document.notes:
            yield _line("note", note)
        bounded = [] if document.bound_seconds is None else [_BOUND, _OVER] if document.comparable else [_BOUND]
        expressions = [(self._expression(row), row.time, row.bound_seconds) for row in document.expressions]
        yield from self._table("expression", expressions, bounded)
        kernels = [(self._kernel(row), row.time, row.bound_seconds) for row in document.kernels]
        yield from self._table("kernel or operator", kernels, bounded)
        gaps = [(self._gap(gap), gap.time, None) for gap in document.gaps[:_MOST_GAPS]]
        yield from self._table("nothing computed", gaps, [])

    def _expression(self, row: ExpressionTime) -> str:
        done = ", ".join(shortened(name, _LONGEST_NAME) for name in list(row.kernels)[:_MOST_KERNELS])
        done += ", …" if len(row.kernels) > _MOST_KERNELS else ""
        done += " (backward)" if row.backward else ""
        if row.path is None or row.range is None:
            return f"{row.function or 'tied to no expression'}  [{done}]"
        return (
            f"{self._where(Location(row.path, row.range))}  {shortened(one_line(row.text), _LONGEST_SOURCE)}  [{done}]"
        )

    def _kernel(self, row: KernelTime) -> str:
        direction = " (backward)" if row.backward else ""
        where = ", ".join(map(self._where, row.places[:2])) or ", ".join(row.functions[:1])
        more = f" and {len(row.places) - 2} more" if len(row.places) > 2 else ""
        return f"{shortened(one_line(row.name), _LONGEST_NAME)}{direction}  {where}{more}".rstrip()

    def _gap(self, gap: IdleGap) -> str:
        def end(name: str, place: Location | None, nothing: str) -> str:
            at = f" ({self._where(place)})" if place is not None else ""
            return f"{shortened(one_line(name), _LONGEST_SOURCE)}{at}" if name else nothing

        after = end(gap.after, gap.after_place, "the step began")
        return f"after {after}, before {end(gap.before, gap.before_place, 'it ended')}"

    def _where(self, place: Location) -> str:
        return self._sources.location(self._places.shown(place.path), place.path, place.range.start)

    def _table(
        self, title: str, rows: Sequence[tuple[str, StepTime, float | None]], bounded: Sequence[str]
    ) -> Iterator[str]:
        if not rows:
            return
        columns = [*_TIMED, *bounded]
        cells = [columns, *(_cells(time, bound, bounded) for _, time, bound in rows[:_MOST_ROWS])]
        widths = [max(width_of(line[number]) for line in cells) for number in range(len(columns))]
        names = [title, *(name for name, _, _ in rows)]
        yield ""
        for number, line in enumerate(cells):
            text = "  ".join(" " * (width - width_of(cell)) + cell for cell, width in zip(line, widths, strict=True))
            row = printable(f"  {text}  {names[number]}")
            yield row if number else self._paint(row, Role.FAINT)
        if len(rows) > _MOST_ROWS:
            yield f"  and {counted(len(rows) - _MOST_ROWS, 'more row')}: --format csv and json have all"


def _cells(time: StepTime, bound: float | None, bounded: Sequence[str]) -> list[str]:
    spread = f"{in_seconds(time.low)} – {in_seconds(time.high)}" if time.low != time.high else "-"
    found = [in_seconds(time.seconds), spread, f"{time.calls:,}", f"{time.share:.0%}"]
    if not bounded:
        return found
    least = "fused" if bound == 0 else "-" if bound is None else in_seconds(bound)
    over = f"{time.seconds / bound:,.1f}" if bound else "-"
    return [*found, least, over][: len(found) + len(bounded)]


def _line(name: str, text: str) -> str:
    return printable(f"  {name:<8}{text}")
