"""The statistics of a graph (`rules.recording.statistics`) as text: `analyze --type summary`, and `kernels`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inductor_debug_schema import Range
from inductor_debug_schema.answers.statistics_document import (
    KernelStatistics,
    KernelTraffic,
    PeakStatistics,
    StatisticsDocument,
)

from inductor_debug.report.cells import in_columns, one_line, printable, shortened
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.kernel_rows import in_order, pass_of
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.wrapping import wrapped
from inductor_debug.rules.amounts import counted, in_bytes, in_seconds, in_thousands
from inductor_debug.rules.words.stage_names import stage_name

_THOUSANDS = ("", " thousand", " million", " billion", " trillion", " quadrillion")
_MOST_OPS = 10
_MOST_HOLDINGS = 5
_MOST_KERNELS = 5
_MOST_ROWS = 25
_LONGEST_NAME = 64
_NARROW = 120
_LONGEST_SOURCE = 40
_TIMED = ("at least", "share", "roof")
_COLUMNS = ("calls", "read", "written", "FLOPs", "pass")
_SPARE = ("FLOPs", "written", "read")
"""What a narrow terminal does without."""
_BOUND = (
    "Times are those of all calls of a kernel at the full speed of memory, matrix units and launches: bounds, and no "
    "predictions. Only what a cache still holds may come faster."
)


class StatisticsText:
    """Writes statistics documents for people."""

    def __init__(self, places: FileNames, styler: Styler) -> None:
        self._places = places
        self._paint, self._width = styler.paint, styler.width

    def text(self, document: StatisticsDocument) -> str:
        """One document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: StatisticsDocument) -> Iterator[str]:
        stage = stage_name(document.stage)
        heading = f"{self._places.shown(document.path)}::{document.target}, stage {stage}"
        yield self._paint(printable(heading), Role.HEADING)
        if document.inputs:
            yield from wrapped(f"with {printable(document.inputs)}", "  ", "  ", self._width)
        backward = document.backward_ops
        yield _row("ops", f"{document.ops}" + (f", {backward} of them in the backward pass" if backward else ""))
        for name, count in list(document.by_op.items())[:_MOST_OPS]:
            yield printable(f"    {count:>6}  {name}")
        if len(document.by_op) > _MOST_OPS:
            yield f"            and {len(document.by_op) - _MOST_OPS} other operators"
        yield _row("dtypes", ", ".join(f"{name} ({count})" for name, count in document.dtypes.items()))
        for kind, entry in document.memory.items():
            if entry.tensors:
                yield _row(f"{kind}s", f"{in_bytes(entry.bytes)} in {counted(entry.tensors, 'tensor')}")
        yield _row("FLOPs", self._operations(document))
        yield from self._peak(document.peak, fused=document.kernels is not None)
        if document.kernels is not None:
            yield from self._kernels(document.kernels)

    def _kernels(self, kernels: KernelStatistics) -> Iterator[str]:
        languages = ", ".join(f"{count} {language}" for language, count in kernels.by_language.items())
        yield _row("kernels", f"{kernels.count}" + (f" ({languages})" if languages else ""))
        moved = f"{in_bytes(kernels.bytes_read)} read, {in_bytes(kernels.bytes_written)} written"
        yield _row("traffic", moved + (f" (without {kernels.unknown} of them)" if kernels.unknown else ""))
        for kernel in kernels.each[:_MOST_KERNELS]:
            read, written = kernel.bytes_read, kernel.bytes_written
            bytes_moved = "unknown" if read is None or written is None else f"{in_bytes(read)} + {in_bytes(written)}"
            place = f"  {self._place(kernel.path, kernel.range)}".rstrip()
            yield printable(f"    {bytes_moved:>21}  {kernel.name}{place}")
        if kernels.count > _MOST_KERNELS:
            yield f"                           and {kernels.count - _MOST_KERNELS} other kernels"

    def _operations(self, document: StatisticsDocument) -> str:
        text = _amount(document.flops)
        if document.backward_flops:
            text += f", {_amount(document.backward_flops)} of them in the backward pass"
        if document.uncounted:
            text += f" (without {document.uncounted} ops whose sizes are symbols)"
        return text

    def _peak(self, peak: PeakStatistics, *, fused: bool) -> Iterator[str]:
        amount = in_bytes(peak.bytes) if peak.exact else f"at least {in_bytes(peak.bytes)}"
        where = f" at {peak.op}" if peak.op else ""
        where += " in the backward pass" if peak.backward else ""
        where += f", {self._place(peak.path, peak.range)}" if peak.path else ""
        where += " (before fusion)" if fused else ""
        yield _row("peak", printable(amount + where))
        for holding in peak.largest[:_MOST_HOLDINGS]:
            name = holding.op or f"{holding.kind} {holding.name}".strip()
            shape = ", ".join(map(str, holding.shape))
            place = f"  {self._place(holding.path, holding.range)}".rstrip()
            yield printable(f"    {in_bytes(holding.bytes):>10}  {name} {holding.dtype}[{shape}]{place}")

    def _place(self, path: str | None, area: Range | None) -> str:
        """`model.py:12`; nothing where there is no place."""
        return self._places.at(path, area.start.line) if path is not None and area is not None else ""


class KernelsText:
    """Writes the kernels of statistics documents for people."""

    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places = places
        self._sources = sources
        self._paint, self._width = styler.paint, styler.width

    def text(self, document: StatisticsDocument) -> str:
        """One document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: StatisticsDocument) -> Iterator[str]:
        on = f", on {document.title}" if document.title else ""
        heading = f"{self._places.shown(document.path)}::{document.target}, the kernels that it becomes{on}"
        yield self._paint(printable(heading), Role.HEADING)
        if document.inputs:
            yield from wrapped(f"with {printable(document.inputs)}", "  ", "  ", self._width)
        kernels = document.kernels
        if kernels is None or not kernels.each:
            yield "  it becomes no kernel"
            return
        yield from _totals(kernels)
        yield ""
        yield from self._table(kernels.each)
        if any(kernel.seconds is not None for kernel in kernels.each):
            yield ""
            yield from wrapped(_BOUND, "  ", "  ", self._width)

    def _table(self, kernels: Sequence[KernelTraffic]) -> Iterator[str]:
        whole = sum(kernel.seconds or 0.0 for kernel in kernels)
        timed = any(kernel.seconds is not None for kernel in kernels)
        shown = in_order(kernels)[:_MOST_ROWS]
        cells = [_cells(kernel, whole, timed=timed) for kernel in shown]
        names = [self._name(kernel) for kernel in shown]
        columns = [*(_TIMED if timed else ()), *_COLUMNS]
        first, *rows = in_columns(columns, cells, ["kernel", *names], within=self._width, spare=_SPARE)
        yield self._paint(first, Role.FAINT)
        yield from rows
        if len(kernels) > len(shown):
            yield f"  and {counted(len(kernels) - len(shown), 'more kernel')}: --format csv and json have all"

    def _name(self, kernel: KernelTraffic) -> str:
        """The kernel and where it comes from; on a narrow terminal that comes first, as the end of it is cut."""
        if kernel.path is None or kernel.range is None:
            return shortened(kernel.name, _LONGEST_NAME)
        where = self._sources.location(self._places.shown(kernel.path), kernel.path, kernel.range.start)
        if self._width is not None and self._width < _NARROW:
            return f"{where}  {kernel.name}"
        source = one_line(self._sources.of(kernel.path).excerpt(kernel.range))
        return f"{shortened(kernel.name, _LONGEST_NAME)}  {where}  {shortened(source, _LONGEST_SOURCE)}"


def _totals(kernels: KernelStatistics) -> Iterator[str]:
    made = ", ".join(f"{count} {language}" for language, count in kernels.by_language.items())
    yield f"  kernels     {kernels.count} ({made}), called {counted(kernels.calls, 'time')} in a run"
    moved = f"{in_bytes(kernels.bytes_read)} read, {in_bytes(kernels.bytes_written)} written"
    yield f"  bytes       {moved}" + (f" (without {kernels.unknown} of them)" if kernels.unknown else "")
    known = [kernel.seconds for kernel in kernels.each if kernel.seconds is not None]
    if known:
        yield f"  at least    {in_seconds(sum(known))} for one after the other"


def _cells(kernel: KernelTraffic, whole: float, *, timed: bool) -> list[str]:
    times = [
        in_seconds(kernel.seconds) if kernel.seconds else "-",
        f"{kernel.seconds / whole:.0%}" if kernel.seconds and whole else "-",
        kernel.limited_by.value if kernel.limited_by is not None else "-",
    ]
    amounts = [in_bytes(amount) if amount is not None else "?" for amount in (kernel.bytes_read, kernel.bytes_written)]
    operations = in_thousands(kernel.operations) if kernel.operations else "-"
    return [*(times if timed else ()), str(kernel.calls), *amounts, operations, pass_of(kernel)]


def _amount(count: int) -> str:
    amount = float(count)
    for word in _THOUSANDS[:-1]:
        if amount < 1000:
            return f"{amount:.4g}{word}"
        amount /= 1000
    return f"{amount:.4g}{_THOUSANDS[-1]}"


def _row(name: str, text: str) -> str:
    return f"  {name:<12}{text}"
