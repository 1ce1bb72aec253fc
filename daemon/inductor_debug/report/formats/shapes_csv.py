"""Shapes documents as one table of comma-separated values: a row for each dimension of each input.

Lines and columns count from one, columns in characters; they are empty where no expression decided.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from inductor_debug_schema.answers.shapes_document import ShapesDocument

from inductor_debug.report.source_characters import ShownTexts

_NAMES = (
    "target", "input", "dimension", "size", "state", "symbol", "minimum", "maximum", "asked", "tied_to",
    "because", "path", "line", "column",
)  # fmt: skip


def shapes_csv(documents: Iterable[ShapesDocument], sources: ShownTexts) -> str:
    """All rows of some documents under one line of names."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(_NAMES)
    for document in documents:
        for each in document.dimensions:
            line, column = ("", "")
            if each.path is not None and each.range is not None:
                line, column = map(str, sources.shown_position(each.path, each.range.start))
            writer.writerow(
                [
                    document.target,
                    each.input,
                    each.dimension,
                    each.size,
                    each.state.value,
                    each.symbol,
                    each.minimum,
                    each.maximum,
                    " and ".join(each.asked),
                    each.tied_to,
                    each.because,
                    each.path or "",
                    line,
                    column,
                ]
            )
    return content.getvalue()
