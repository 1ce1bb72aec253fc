"""The kernels of targets as one table of comma-separated values, for spreadsheets.

Lines and columns count from one, columns in characters; seconds are empty where no speed is known.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from inductor_debug_schema.answers.statistics_document import StatisticsDocument

from inductor_debug.report.kernel_rows import in_order, pass_of
from inductor_debug.report.source_characters import ShownTexts

_COLUMNS = (
    "target", "accelerator", "kernel", "language", "pass", "calls", "bytes_read", "bytes_written", "operations",
    "seconds", "limited_by", "path", "line", "column", "source",
)  # fmt: skip


def kernels_csv(documents: Iterable[StatisticsDocument], sources: ShownTexts) -> str:
    """All kernels of some documents as one table of comma-separated values; lines and columns count from one."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for document in documents:
        for kernel in in_order(document.kernels.each if document.kernels is not None else []):
            line, column, source = "", "", ""
            roof = kernel.limited_by.value if kernel.limited_by is not None else ""
            if kernel.path is not None and kernel.range is not None:
                line, column = map(str, sources.shown_position(kernel.path, kernel.range.start))
                source = sources.of(kernel.path).excerpt(kernel.range)
            writer.writerow([
                document.target, document.title, kernel.name, kernel.language, pass_of(kernel), kernel.calls,
                kernel.bytes_read, kernel.bytes_written, kernel.operations, kernel.seconds,
                roof, kernel.path or "", line, column, source,
            ])  # fmt: skip
    return content.getvalue()
