"""A comparison of accelerators as a table: a column each, in text and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from inductor_debug_schema import AcceleratorComparison

from inductor_debug.engine.results.target_coverage import remark, small_inputs
from inductor_debug.report.accelerator_rows import rows_of
from inductor_debug.report.cells import one_line, width_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.styles import Role, Styler, role_of
from inductor_debug.source.notebooks.reading import place_in_words

Row = tuple[str, list[str]]


class AcceleratorTable:
    """Writes one comparison for people."""

    def __init__(self, comparison: AcceleratorComparison, places: FileNames) -> None:
        self._comparison, self._places = comparison, places

    def text(self, styler: Styler, *, verbose: bool = False) -> str:
        """Columns of even width, with a line break at the end; `verbose` lists the findings below."""
        rows = [self._heads(), *self._rows()]
        widths = [max(width_of(line) for line in column) for column in zip(*map(_cells, rows), strict=True)]
        lines = [styler.paint(self._heading(), Role.HEADING), ""]
        for number, row in enumerate(rows):
            padded = [cell + " " * (width - width_of(cell)) for cell, width in zip(_cells(row), widths, strict=True)]
            line = "  ".join(padded).rstrip()
            lines.append(styler.paint(line, Role.PLACE) if number == 0 else line)
        lines += self._unchecked()
        if verbose:
            lines += self._findings(styler)
        return "\n".join(lines) + "\n"

    def markdown(self) -> str:
        """A table as GitHub and others show it."""
        heads, rows = self._heads(), list(self._rows())
        lines = [f"## {_escaped(self._heading())}", "", _markdown_row(heads)]
        lines.append("|".join(["", " --- ", *(" ---: " for _ in heads[1]), ""]))
        lines += map(_markdown_row, rows)
        unchecked = self._unchecked()
        return "\n".join([*lines, *map(_escaped, unchecked)]) + "\n"

    def _heading(self) -> str:
        shown = self._places.shown(self._comparison.path)
        target = f"::{self._comparison.target}" if self._comparison.target else ""
        small = ", with small inferred inputs" if any(map(small_inputs, self._comparison.targets)) else ""
        return one_line(f"{shown}{target}, captured once{small}")

    def _heads(self) -> Row:
        return "", [column.name + (" (chosen)" if column.chosen else "") for column in self._comparison.columns]

    def _rows(self) -> Iterator[Row]:
        for row in rows_of(self._comparison):
            yield ("  " if row.within else "") + one_line(row.label), list(row.cells)

    def _unchecked(self) -> list[str]:
        said = [f"{target.name}: {line}" for target in self._comparison.targets if (line := remark(target))]
        return ["", *map(one_line, said)] if said else []

    def _findings(self, styler: Styler) -> Iterator[str]:
        for column in self._comparison.columns:
            yield ""
            yield styler.paint(f"{column.name}: {len(column.findings)} findings", Role.HEADING)
            for finding in column.findings:
                start = finding.range.start
                place = place_in_words(self._places.shown(finding.path), finding.path, start.line, start.character)
                severity = styler.paint(finding.severity.value, role_of(finding.severity))
                yield f"{one_line(place)}: {severity} {finding.rule}: {one_line(finding.message)}"


def _cells(row: Row) -> list[str]:
    return [row[0], *row[1]]


def _markdown_row(row: Row) -> str:
    label = "&nbsp;&nbsp;" + _escaped(row[0].strip()) if row[0].startswith(" ") else _escaped(row[0])
    return "|".join(["", f" {label} ", *(f" {_escaped(cell)} " for cell in row[1]), ""])


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
