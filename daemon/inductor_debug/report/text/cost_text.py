"""What a target costs at least (`rules.costing`) as tables: `analyze --type cost`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from inductor_debug_schema import CostBound, Location
from inductor_debug_schema.answers.cost_document import CostDocument, ExpressionCost, ModuleCost

from inductor_debug.report.cells import in_columns, one_line, printable, shortened
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.wrapping import wrapped
from inductor_debug.rules.amounts import counted, in_bytes, in_seconds, in_thousands
from inductor_debug.rules.words.stage_names import stage_name

_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")
_MOST_ROWS = 15
_MOST_OPERATORS = 3
_LONGEST_SOURCE = 48
_ADDING = {"aten.add.Tensor", "aten.add_.Tensor"}
_TIMED = ("bound", "share", "roof", "unfused")
_COUNTED = ("FLOPs", "bytes", "FLOPs/B")
_SPARE = ("FLOPs/B", "unfused", "FLOPs")
"""What a narrow terminal does without."""


class CostText:
    """Writes cost documents for people."""

    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places = places
        self._sources = sources
        self._paint, self._width = styler.paint, styler.width

    def text(self, document: CostDocument) -> str:
        """One document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: CostDocument) -> Iterator[str]:
        on = f", on {document.title or document.run.accelerator}" if document.run.accelerator else ""
        heading = f"{self._places.shown(document.path)}::{document.target}, stage {stage_name(document.stage)}{on}"
        yield self._paint(printable(heading), Role.HEADING)
        if document.inputs:
            yield from wrapped(f"with {printable(document.inputs)}", "  ", "  ", self._width)
        yield from _total(document)
        timed = document.run.total.seconds is not None
        yield from self._table("expression", [(self._expression(row), row.cost) for row in document.expressions], timed)
        lines = [(self._places.at(row.path, row.line), row.cost) for row in document.lines]
        yield from self._table("line", lines, timed)
        yield from self._table("module, with all in it", _alike(document.modules), timed)
        yield from self._table("operator", [(row.op, row.cost) for row in document.operators], timed)

    def _expression(self, row: ExpressionCost) -> str:
        names = [
            op.removesuffix(".default") + (f" ×{count}" if count > 1 else "")
            for op, count in list(row.ops.items())[:_MOST_OPERATORS]
        ]
        if row.path is None and row.backward and row.ops.keys() <= _ADDING:
            return f"gradients that autograd adds up: {', '.join(names)}"
        done = ", ".join([*names, "…"] if len(row.ops) > _MOST_OPERATORS else names)
        done += " (backward)" if row.backward else ""
        if row.path is None or row.range is None:
            return f"outside of the project's expressions: {done}"
        place = Location(row.path, row.range)
        where = self._sources.location(self._places.shown(place.path), place.path, place.range.start)
        return f"{where}  {shortened(one_line(row.text), _LONGEST_SOURCE)}  [{done}]"

    def _table(self, title: str, rows: Sequence[tuple[str, CostBound]], timed: bool) -> Iterator[str]:
        if not rows:
            return
        columns = [*(_TIMED if timed else ()), *_COUNTED]
        shown = rows[:_MOST_ROWS]
        names = [title, *(name for name, _ in shown)]
        cells = [_cells(cost, timed) for _, cost in shown]
        spare = [name for name in _SPARE if name in columns]
        head, *lines = in_columns(columns, cells, names, within=self._width, spare=spare)
        yield ""
        yield self._paint(head, Role.FAINT)
        yield from lines
        if len(rows) > _MOST_ROWS:
            yield f"  and {counted(len(rows) - _MOST_ROWS, 'more row')}: --format csv and json have all"


def _alike(modules: Sequence[ModuleCost]) -> list[tuple[str, CostBound]]:
    """The modules, those that cost the same and differ in numbers only (the layers of a stack) as one row of one."""
    found: dict[tuple[str, CostBound], list[str]] = {}
    for row in modules:
        if row.module:
            found.setdefault((_NUMBER.sub("*", row.module), row.cost), []).append(row.module)
    return [
        (names[0] if len(names) == 1 else f"{_pattern(names)} (each of {len(names)})", cost)
        for (_, cost), names in found.items()
    ]


def _pattern(names: Sequence[str]) -> str:
    """`h.*.mlp.0` of `h.0.mlp.0` and `h.1.mlp.0`: a number that all have tells their row from the others'."""
    return ".".join(
        same[0] if len(set(same)) == 1 else "*" for same in zip(*(name.split(".") for name in names), strict=True)
    )


def _total(document: CostDocument) -> Iterator[str]:
    run, total = document.run, document.run.total
    if total.seconds is None:
        yield _row("bound", "none without an accelerator whose speed is known (--accelerator h100)")
    else:
        parts = ", ".join(f"{roof} {seconds / total.seconds:.0%}" for roof, seconds in run.by_roof.items())
        yield _row(
            "bound", f"{in_seconds(total.seconds)}{f' ({parts})' if parts else ''}: a lower bound, no prediction"
        )
        yield _row("unfused", f"{in_seconds(total.unfused_seconds or 0.0)}, where each op goes from memory to memory")
    yield _row("FLOPs", in_thousands(total.operations))
    moved = in_bytes(total.bytes_read + total.bytes_written)
    yield _row("bytes", f"{in_bytes(total.crossing_bytes)} cross the memory's border at least, {moved} unfused")
    over = document.device_bytes is not None and run.peak_bytes > document.device_bytes
    fits = f": does not fit into {in_bytes(document.device_bytes or 0)}" if over else ""
    yield _row("peak", f"{in_bytes(run.peak_bytes)} of memory{fits}")
    if total.uncounted:
        yield _row("sizes", f"{counted(total.uncounted, 'op')} may cost more: sizes are symbols")


def _cells(cost: CostBound, timed: bool) -> list[str]:
    times = [
        in_seconds(cost.seconds) if cost.seconds else "fused",
        f"{cost.share:.0%}" if cost.share else "-",
        cost.limited_by.value if cost.limited_by is not None else "-",
        in_seconds(cost.unfused_seconds) if cost.unfused_seconds else "-",
    ]
    intensity = (
        f"{cost.intensity:,.0f}" if cost.intensity >= 100 else f"{cost.intensity:.3g}" if cost.intensity else "-"
    )
    moved = in_bytes(cost.bytes_read + cost.bytes_written)
    return [*(times if timed else ()), in_thousands(cost.operations), moved, intensity]


def _row(name: str, text: str) -> str:
    return f"  {name:<12}{text}"
