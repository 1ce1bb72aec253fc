"""Cost documents as one table of comma-separated values, for spreadsheets.

There is a row for each target, expression, line, module and operator; the column `of` tells them apart. Lines and
columns count from one, columns in characters; seconds are empty where no speed is known.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Union

from inductor_debug_schema import CostBound
from inductor_debug_schema.answers.cost_document import CostDocument

from inductor_debug.report.source_characters import ShownTexts

Cell = Union[str, int, float, None]
_PLACE = ("target", "stage", "accelerator", "of", "path", "line", "column", "name", "modules", "backward")
_COST = (
    "ops", "bytes_read", "bytes_written", "crossing_bytes", "operations", "intensity", "seconds", "unfused_seconds",
    "limited_by", "share", "uncounted",
)  # fmt: skip


def cost_csv(documents: Iterable[CostDocument], sources: ShownTexts) -> str:
    """All rows of some documents under one line of names."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow([*_PLACE, *_COST])
    for document in documents:
        head = [document.target, document.stage.value, document.run.accelerator]
        for what, cost in _rows(document, sources):
            writer.writerow([*head, *what, *_costs(cost)])
    return content.getvalue()


def _rows(document: CostDocument, sources: ShownTexts) -> Iterator[tuple[Sequence[Cell], CostBound]]:
    yield ["target", document.path, "", "", "", "", ""], document.run.total
    for row in document.expressions:
        line, column = ("", "")
        if row.path is not None and row.range is not None:
            line, column = map(str, sources.shown_position(row.path, row.range.start))
        modules = " ".join(row.modules)
        yield ["expression", row.path or "", line, column, row.text, modules, int(row.backward)], row.cost
    for line_cost in document.lines:
        yield ["line", line_cost.path, line_cost.line + 1, "", "", "", ""], line_cost.cost
    for module in document.modules:
        yield ["module", document.path, "", "", module.module, "", ""], module.cost
    for operator in document.operators:
        yield ["operator", "", "", "", operator.op, "", ""], operator.cost


def _costs(cost: CostBound) -> list[Cell]:
    limited_by = cost.limited_by.value if cost.limited_by is not None else ""
    return [
        cost.ops, cost.bytes_read, cost.bytes_written, cost.crossing_bytes, cost.operations, cost.intensity,
        cost.seconds, cost.unfused_seconds, limited_by, cost.share, cost.uncounted,
    ]  # fmt: skip
