"""Several accelerators as a page: a column each, numbers that lead to their findings, heads that choose.

An editor makes links of the heads (`data-accelerator`); elsewhere they are names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import starmap

from inductor_debug_schema import AcceleratorColumn, AcceleratorComparison, Finding, Severity

from inductor_debug.accelerators.profile import NO_ACCELERATOR
from inductor_debug.engine.results.target_coverage import remark
from inductor_debug.report.accelerator_rows import AcceleratorRow, rows_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.html.markup import (
    Links,
    bullets,
    chooses_accelerator,
    link_within,
    page,
    section,
    table,
    text,
)
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.rules.amounts import counted
from inductor_debug.source.notebooks.reading import line_in_words

_ABOUT = "Captured once, judged for each. A number leads to its findings. What a profile does not say stays empty."


def accelerator_page(comparison: AcceleratorComparison, places: FileNames, sources: ShownTexts) -> str:
    """The page of one comparison."""
    links = Links(places, sources)
    subject = comparison.target or places.shown(comparison.path)
    unchecked = [f"{target.name}: {said}" for target in comparison.targets if (said := remark(target))]
    body = [
        f"<h1>{text(f'Accelerators for {subject}')}</h1>",
        f"<p>{_ABOUT}</p>",
        *([bullets(map(text, unchecked))] if unchecked else []),
        table(["", *map(_head, comparison.columns)], map(_cells, rows_of(comparison)), named=True),
    ]
    for number, column in enumerate(comparison.columns):
        body += _found(column, number, links)
    return page(f"Accelerators for {subject}", body)


def _head(column: AcceleratorColumn) -> str:
    name = text("none (torch.compile only)" if column.name == NO_ACCELERATOR else column.name)
    said = f"{name} <small>(chosen)</small>" if column.chosen else chooses_accelerator(name, column.accelerator)
    return said + (f"<br><small>{text(column.title)}</small>" if column.title not in ("", column.name) else "")


def _cells(row: AcceleratorRow) -> list[str]:
    def cell(number: int, written: str) -> str:
        leads = row.counts and written not in ("", "0")
        return link_within(text(written), _identifier(number, row.severity, row.rule)) if leads else text(written)

    return [("&emsp;" if row.within else "") + text(row.label), *starmap(cell, enumerate(row.cells))]


def _found(column: AcceleratorColumn, number: int, links: Links) -> Iterator[str]:
    """The findings of one accelerator by severity and rule, each leading to its expression."""
    total = len(column.findings) + column.left_out
    if not total:
        return
    yield section(_identifier(number, None, ""), f"{column.name}: {counted(total, 'finding')}")
    for count in column.counts:
        found = [one for one in column.findings if (one.rule, one.severity) == (count.rule, count.severity)]
        identifier = text(_identifier(number, count.severity, count.rule))
        yield f'<h3 id="{identifier}" tabindex="-1">{text(f"{count.severity.value} {count.rule}")}</h3>'
        yield bullets(_line(finding, links) for finding in found)
    if column.left_out:
        more = f"{column.left_out} more are not listed here; a check for {column.name} lists them all."
        yield f"<p>{text(more)}</p>"


def _line(finding: Finding, links: Links) -> str:
    shown = f"{os.path.basename(finding.path)}, {line_in_words(finding.path, finding.range.start.line)}"
    return f"{links.to(text(shown), finding.path, finding.range)}: {text(finding.message)}"


def _identifier(number: int, severity: Severity | None, rule: str) -> str:
    return f"all-{number}" if severity is None else f"found-{number}-{severity.value}-{rule}"
