"""Profiles of real steps as one table of comma-separated values, for spreadsheets.

There is a row for each step, expression, kernel and gap; the column `of` tells them apart. Times are seconds of a step;
lines and columns count from one, columns in characters. What nobody knows is empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Union

from inductor_debug_schema import Location, RunProfileDocument, StepTime

from inductor_debug.report.source_characters import ShownTexts

Cell = Union[str, int, float, None]
_COLUMNS = (
    "target", "side", "trace", "device", "accelerator", "of", "path", "line", "column", "name", "function", "modules",
    "backward", "calls", "seconds", "low", "high", "share", "bound_seconds",
)  # fmt: skip


def run_profile_csv(documents: Iterable[RunProfileDocument], sources: ShownTexts) -> str:
    """All rows of some documents under one line of names."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for document in documents:
        device = document.device_title or document.device
        head = [document.target, document.side, document.trace, device, document.accelerator]
        for what, time, bound in _rows(document, sources):
            writer.writerow([*head, *what, time.calls, time.seconds, time.low, time.high, time.share, bound])
    return content.getvalue()


def _rows(
    document: RunProfileDocument, sources: ShownTexts
) -> Iterator[tuple[Sequence[Cell], StepTime, Union[float, None]]]:
    if document.step is not None:
        yield ["step", *_place(None, sources), "", "", "", ""], document.step, document.bound_seconds
    if document.idle is not None:
        yield ["idle", *_place(None, sources), "", "", "", ""], document.idle, None
    for row in document.expressions:
        place = Location(row.path, row.range) if row.path is not None and row.range is not None else None
        named: list[Cell] = [row.text, row.function, " ".join(row.modules), int(row.backward)]
        yield ["expression", *_place(place, sources), *named], row.time, row.bound_seconds
    for kernel in document.kernels:
        place = kernel.places[0] if kernel.places else None
        names: list[Cell] = [kernel.name, " ".join(kernel.functions), " ".join(kernel.modules), int(kernel.backward)]
        yield ["kernel", *_place(place, sources), *names], kernel.time, kernel.bound_seconds
    for gap in document.gaps:
        yield ["gap", *_place(gap.after_place, sources), f"{gap.after} -> {gap.before}", "", "", ""], gap.time, None


def _place(place: Location | None, sources: ShownTexts) -> Sequence[Cell]:
    if place is None:
        return ("", "", "")
    return (place.path, *map(str, sources.shown_position(place.path, place.range.start)))
