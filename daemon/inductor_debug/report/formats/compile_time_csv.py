"""Compile-time documents as one table of comma-separated values, for spreadsheets.

There is a row for each target, phase, expression, module and way to compile that was tried; the column `of` tells them
apart. Lines and columns count from one, columns in characters.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Union

from inductor_debug_schema import CompileTimeDocument

from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.rules.words.compile_time_words import result_of

Cell = Union[str, int, float]
_COLUMNS = ("target", "of", "path", "line", "column", "name", "kind", "seconds", "traced", "nodes", "modules")


def compile_time_csv(documents: Iterable[CompileTimeDocument], sources: ShownTexts) -> str:
    """All rows of some documents under one line of names."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for document in documents:
        for row in _rows(document, sources):
            writer.writerow([document.target, *row])
    return content.getvalue()


def _rows(document: CompileTimeDocument, sources: ShownTexts) -> Iterator[Sequence[Cell]]:
    yield ["target", document.path, "", "", "", "", document.seconds, "", "", ""]
    for phase in document.compile_phases:
        yield ["phase", "", "", "", phase.phase, phase.part, phase.seconds, "", "", ""]
    for row in document.expressions:
        line, column = ("", "")
        if row.path is not None and row.range is not None:
            # A log may name any file, and none of them is opened.
            start = row.range.start
            shown = (start.line + 1, 1) if document.logged else sources.shown_position(row.path, start)
            line, column = map(str, shown)
        counts = [row.traced, row.nodes, row.modules]
        yield ["expression", row.path or "", line, column, row.text, "", row.seconds, *counts]
    for module in document.modules:
        yield ["module", document.path, "", "", module.module, module.kind, module.seconds, "", "", ""]
    for trial in document.tried.trials if document.tried is not None else ():
        said = result_of(trial)
        yield ["way", document.path, "", "", trial.compile_way.value, said, trial.seconds, "", trial.operations, ""]
