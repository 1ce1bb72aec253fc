"""The tensors at a line as text for people: one table, with what is made and read first, and the memory under it."""

from __future__ import annotations

from inductor_debug_schema import LineTensors, MemoryPeak, TensorPlace, TensorRow

from inductor_debug.report.cells import printable, shortened, width_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.styles import Role, Styler
from inductor_debug.rules.amounts import counted, in_bytes
from inductor_debug.source.notebooks.reading import line_in_words

_COLUMNS = ("", "tensor", "dimensions", "type", "bytes", "on the device", "made by", "read by")
_DEVICE = _COLUMNS.index("on the device")
_MARKS = {"made": "made", "read": "read", "freed": "freed here", "gone": "gone before the end", "saved": "for backward"}
_WIDEST = 48


def tensors_text(document: LineTensors, places: FileNames, styler: Styler) -> str:
    """The run that is shown, its tensors, and the memory."""
    lines = [_head(document, places), ""]
    listed = [row for row in document.rows if group_of(row) is None]
    rows = [_COLUMNS, *(_cells(row, places) for row in listed)]
    if not any(row[_DEVICE] for row in rows[1:]):
        rows = [row[:_DEVICE] + row[_DEVICE + 1 :] for row in rows]
    roles = [Role.FAINT, *(None if row.counted else Role.FAINT for row in listed)]
    lines += _table(rows, roles, styler)
    lines += _others(document, styler)
    lines += ["", *_memory(document, places)]
    return "\n".join(lines) + "\n"


def _head(document: LineTensors, places: FileNames) -> str:
    where = places.at(document.path, document.line)
    time = f", call {document.call + 1} of {document.calls}" if document.calls > 1 else ""
    module = f" in {document.module}" if document.module else ""
    between = (
        ""
        if document.start_line <= document.line <= document.end_line
        else f" (after {line_in_words(document.path, document.start_line)})"
    )
    return printable(f"{where}{between}: {document.target}, {document.function}{module}{time}")


def _cells(row: TensorRow, places: FileNames) -> tuple[str, ...]:
    label = row.label if row.named else f"`{row.label}`"
    scope = f" (of {row.scope})" if row.scope else ""
    reads = ", ".join(_place(place, places) for place in row.reads[:2])
    more = f" +{row.read_count - 2}" if row.read_count > 2 else ""
    amount = (
        in_bytes(row.storage_bytes) if row.counted else f"view of {_cut(row.view_of, 24)}" if row.view_of else "0 B"
    )
    kind = row.dtype if row.order == "contiguous" else f"{row.dtype} {row.order}"
    maker = row.made or row.declared
    return (
        ", ".join(_MARKS[role] for role in row.roles),
        _cut(label + scope),
        dimensions(row),
        kind,
        amount,
        _padding(row),
        _place(maker, places) if maker is not None else row.kind,
        reads + more,
    )


def dimensions(row: TensorRow) -> str:
    """`[B=8, T=64, 768]`."""
    parts: list[str] = []
    for index, size in enumerate(row.shape):
        name = row.dims[index] if index < len(row.dims) else ""
        number = row.sizes[index] if index < len(row.sizes) else size
        parts.append(f"{name}={number}" if name else f"{size}={number}" if isinstance(size, str) else str(size))
    return f"[{', '.join(parts)}]"


def _padding(row: TensorRow) -> str:
    if row.layout is None or not row.counted:
        return ""
    padding = f" ({row.layout.waste:.0%} padding)" if row.layout.waste else ""
    return in_bytes(row.layout.bytes) + padding


def group_of(row: TensorRow) -> str | None:
    """What rows that the line has nothing to do with are summed up as; None for a row of its own."""
    if "saved" in row.roles:
        return "saved for the backward pass"
    return f"{row.kind} that this line does not read" if row.kind in ("parameter", "buffer") and not row.roles else None


def _others(document: LineTensors, styler: Styler) -> list[str]:
    """What is alive and has nothing to do with the line, in one line for each group."""
    groups: dict[str, list[TensorRow]] = {}
    for row in document.rows:
        group = group_of(row)
        if group is not None:
            groups.setdefault(group, []).append(row)
    found: list[str] = []
    for group, rows in groups.items():
        total = in_bytes(sum(row.storage_bytes for row in rows if row.counted))
        noun, _, rest = group.partition(" that ")
        words = f"{counted(len(rows), noun)} that {rest}" if rest else f"{counted(len(rows), 'tensor')} {group}"
        found.append(styler.paint(f"  and {words}: {total}", Role.FAINT))
    return found


def _memory(document: LineTensors, places: FileNames) -> list[str]:
    memory = document.memory
    if memory is None:
        return []
    kinds = ", ".join(f"{kind} {in_bytes(amount)}" for kind, amount in memory.kinds.items())
    bound = (
        "" if document.exact else f" (with {', '.join(f'{name} = {size}' for name, size in document.symbols.items())})"
    )
    lines = [f"alive now: {in_bytes(memory.bytes)}{bound}: {kinds}"]
    if memory.device_bytes is not None:
        lines.append(f"on {printable(document.accelerator)}: {in_bytes(memory.device_bytes)} with padding")
    if document.line_peak is not None and document.line_peak.bytes > memory.bytes:
        lines.append(f"at most, while this line runs: {_peak(document.line_peak, places)}")
    if document.peak is not None:
        lines.append(f"peak of the run: {_peak(document.peak, places)}")
    return lines


def _peak(peak: MemoryPeak, places: FileNames) -> str:
    where = f" at {_place(peak.place, places)}: {printable(peak.place.text)}" if peak.place is not None else ""
    return in_bytes(peak.bytes) + where


def _place(place: TensorPlace, places: FileNames) -> str:
    return places.at(place.path, place.range.start.line)


def _cut(words: str, width: int = _WIDEST) -> str:
    return shortened(printable(words), width)


def _table(rows: list[tuple[str, ...]], roles: list[Role | None], styler: Styler) -> list[str]:
    widths = [max(width_of(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines: list[str] = []
    for row, role in zip(rows, roles, strict=True):
        padded = [cell + " " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True)]
        line = f"  {'  '.join(padded)}".rstrip()
        lines.append(line if role is None else styler.paint(line, role))
    return lines
