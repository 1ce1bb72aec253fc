"""A comparison of accelerators as a table: a column each, the same rows in text and in Markdown.

What a profile does not say stays empty; nothing is guessed in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inductor_debug_schema import AcceleratorColumn, AcceleratorComparison, Severity, TargetCost

from inductor_debug.engine.results.target_coverage import remark
from inductor_debug.report.cells import one_line, width_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.styles import Role, Styler, role_of
from inductor_debug.rules.amounts import in_bytes, in_seconds
from inductor_debug.rules.words.stage_names import stage_name

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
        return one_line(f"{shown}{target}, captured once")

    def _heads(self) -> Row:
        return "", [column.name + (" (chosen)" if column.chosen else "") for column in self._comparison.columns]

    def _rows(self) -> Iterator[Row]:
        columns = self._comparison.columns
        yield "findings", [str(len(column.findings)) for column in columns]
        for severity in Severity:
            for rule in sorted({count.rule for column in columns for count in column.counts}):
                found = [_count(column, rule, severity) for column in columns]
                if any(found):
                    yield f"  {severity.value} {rule}", [str(count or "") for count in found]
        for target in dict.fromkeys(cost.target for column in columns for cost in column.costs):
            costs = [next((cost for cost in column.costs if cost.target == target), None) for column in columns]
            if len(self._comparison.targets) > 1:
                yield one_line(target), ["" for _ in columns]
            yield from _cost_rows(columns, costs)

    def _unchecked(self) -> list[str]:
        said = [f"{target.name}: {line}" for target in self._comparison.targets if (line := remark(target))]
        return ["", *map(one_line, said)] if said else []

    def _findings(self, styler: Styler) -> Iterator[str]:
        for column in self._comparison.columns:
            yield ""
            yield styler.paint(f"{column.name}: {len(column.findings)} findings", Role.HEADING)
            for finding in column.findings:
                start = finding.range.start
                place = f"{self._places.shown(finding.path)}:{start.line + 1}:{start.character + 1}"
                severity = styler.paint(finding.severity.value, role_of(finding.severity))
                yield f"{one_line(place)}: {severity} {finding.rule}: {one_line(finding.message)}"


def _cost_rows(columns: list[AcceleratorColumn], costs: list[TargetCost | None]) -> Iterator[Row]:
    def each(write: Callable[[AcceleratorColumn, TargetCost], str]) -> list[str]:
        return [write(column, cost) if cost is not None else "" for column, cost in zip(columns, costs, strict=True)]

    yield "stage", each(lambda _, cost: stage_name(cost.stage))
    yield "ops without a kernel", each(lambda _, cost: _share(cost))
    yield "peak memory, at least", each(_peak)
    yield "bytes that move, at least", each(lambda _, cost: in_bytes(cost.moved_bytes))
    yield "operations, at least", each(lambda _, cost: f"{cost.operations:.4g}")
    yield "time, at least", each(lambda _, cost: _time(cost))


def _share(cost: TargetCost) -> str:
    if not cost.unsupported_ops:
        return f"0 of {cost.ops}"
    return f"{cost.unsupported_ops} of {cost.ops} ({cost.unsupported_ops / cost.ops:.1%})"


def _peak(column: AcceleratorColumn, cost: TargetCost) -> str:
    return in_bytes(cost.peak_bytes) + (f" of {in_bytes(column.device_bytes)}" if column.device_bytes else "")


def _time(cost: TargetCost) -> str:
    return "" if cost.seconds_at_least is None else f"{in_seconds(cost.seconds_at_least)} ({cost.limited_by})"


def _count(column: AcceleratorColumn, rule: str, severity: Severity) -> int:
    return sum(count.findings for count in column.counts if (count.rule, count.severity) == (rule, severity))


def _cells(row: Row) -> list[str]:
    return [row[0], *row[1]]


def _markdown_row(row: Row) -> str:
    label = "&nbsp;&nbsp;" + _escaped(row[0].strip()) if row[0].startswith(" ") else _escaped(row[0])
    return "|".join(["", f" {label} ", *(f" {_escaped(cell)} " for cell in row[1]), ""])


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
