"""The rows of a comparison of accelerators, a cell for each: the same in text, in Markdown and on pages.

What a profile does not say stays empty; nothing is guessed in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inductor_debug_schema import AcceleratorColumn, AcceleratorComparison, Severity, TargetCost

from inductor_debug.rules.amounts import in_bytes, in_seconds, in_thousands
from inductor_debug.rules.words.stage_names import stage_name


@dataclass(frozen=True)
class AcceleratorRow:
    """A row of plain text; `within` says that it belongs to a row above it.

    Rows that count findings say of which `severity` and `rule`, None and "" for all of them.
    """

    label: str
    cells: Sequence[str]
    within: bool = False
    counts: bool = False
    severity: Severity | None = None
    rule: str = ""


def rows_of(comparison: AcceleratorComparison) -> Iterator[AcceleratorRow]:
    """All rows: findings by severity and rule, then what each target costs."""
    columns = comparison.columns
    totals = [str(len(column.findings) + column.left_out) for column in columns]
    yield AcceleratorRow("findings", totals, counts=True)
    for severity in Severity:
        for rule in sorted({count.rule for column in columns for count in column.counts}):
            found = [_count(column, rule, severity) for column in columns]
            if any(found):
                cells = [str(count or "") for count in found]
                yield AcceleratorRow(f"{severity.value} {rule}", cells, True, True, severity, rule)
    for target in dict.fromkeys(cost.target for column in columns for cost in column.costs):
        costs = [next((cost for cost in column.costs if cost.target == target), None) for column in columns]
        if len(comparison.targets) > 1:
            yield AcceleratorRow(target, ["" for _ in columns])
        yield from _cost_rows(columns, costs)


def _cost_rows(columns: Sequence[AcceleratorColumn], costs: Sequence[TargetCost | None]) -> Iterator[AcceleratorRow]:
    def row(label: str, write: Callable[[AcceleratorColumn, TargetCost], str]) -> AcceleratorRow:
        pairs = zip(columns, costs, strict=True)
        return AcceleratorRow(label, [write(column, cost) if cost is not None else "" for column, cost in pairs])

    yield row("stage", lambda _, cost: stage_name(cost.stage))
    yield row("ops without a kernel", lambda _, cost: _share(cost))
    yield row("peak memory, at least", _peak)
    yield row("bytes that move, at least", lambda _, cost: in_bytes(cost.moved_bytes))
    yield row("operations, at least", lambda _, cost: in_thousands(cost.operations))
    yield row("time, at least", lambda _, cost: _time(cost))


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
