"""The `bisect` and `transfers` documents as text for people. Works on the documents alone; nothing here judges."""

from __future__ import annotations

import textwrap

from inductor_debug_schema import (
    BisectDocument,
    BisectGuilty,
    BisectRung,
    BisectVerdict,
    Crossing,
    RoundTrip,
    RungState,
    TransferRow,
    TransfersDocument,
)

from inductor_debug.report.bisect_words import VERDICTS, typed
from inductor_debug.report.cells import printable, width_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.snippet import blamed
from inductor_debug.rules.amounts import counted, in_bytes

_WIDE = 110
_STATES = {
    RungState.OK: ("pass", Role.GOOD),
    RungState.WRONG: ("wrong", Role.ERROR),
    RungState.FAILED: ("failed", Role.ERROR),
}
_COLUMNS: tuple[str, ...] = ("graph", "direction", "tensor", "type", "on the device", "padding", "digest", "round trip")


def bisect_text(document: BisectDocument, places: FileNames, sources: ShownTexts, styler: Styler) -> str:
    """The ladder, the verdict, the guilty part with its source, and the commands for both sides."""
    head = f"{printable(document.target)}: "
    role = Role.GOOD if document.verdict is BisectVerdict.NONE else Role.ERROR
    lines = [head + styler.paint(VERDICTS[document.verdict], role), ""]
    lines += _ladder(document.ladder, styler)
    if document.guilty is not None:
        lines += ["", *_guilty(document.guilty, places, sources, styler)]
    if document.commands:
        lines += ["", "the last that is right, and the first that is not:"]
        lines += [f"  {printable(typed(command, places))}" for command in document.commands]
    for note in document.notes:
        lines += [styler.paint(line, Role.FAINT) for line in _wrapped(f"note: {note}", "  ", "    ")]
    return "\n".join(lines) + "\n"


def transfers_text(document: TransfersDocument, places: FileNames, sources: ShownTexts, styler: Styler) -> str:
    """A table of what crosses, then what does not come back as it was."""
    summary = document.summary
    head = (
        f"{printable(document.target)}: {counted(summary.transfers, 'transfer')}, "
        f"{in_bytes(summary.host_bytes)} on the host, "
        f"{in_bytes(summary.device_bytes)} on {printable(document.accelerator)}"
    )
    lines = [head, ""]
    rows = [_COLUMNS, *(_row(transfer) for transfer in document.transfers)]
    roles = [Role.FAINT] + [_round_trip_role(transfer) for transfer in document.transfers]
    lines += _table(rows, roles, styler)
    for transfer in document.transfers:
        lines += _change(transfer, places, styler)
    for trouble in filter(None, (document.problem, document.error)):
        lines += ["", *_wrapped(trouble, "", "  ")]
    return "\n".join(lines) + "\n"


def _change(transfer: TransferRow, places: FileNames, styler: Styler) -> list[str]:
    """What became of a tensor that does not come back as it was; nothing of others."""
    if not transfer.changed:
        return []
    words = (
        f"{transfer.name}: {counted(transfer.changed, 'element')} changed on the way: "
        f"{transfer.dtype} is kept as {transfer.device_dtype}"
    )
    example = transfer.example
    if example is not None:
        words += f"; {example.before} at {example.index} becomes {example.after}"
    lines = ["", *_wrapped(words, "", "  ")]
    if transfer.path is not None and transfer.line is not None:
        lines.append(styler.paint(f"  {printable(places.shown(transfer.path))}:{transfer.line + 1}", Role.PLACE))
    return lines


def _ladder(ladder: list[BisectRung], styler: Styler) -> list[str]:
    width = max((width_of(printable(rung.backend)) for rung in ladder), default=0)
    lines = []
    for rung in ladder:
        name = printable(rung.backend)
        padded = name + " " * (width - width_of(name))
        word, role = _STATES[rung.state]
        state = styler.paint(word.ljust(6), role)
        indent = " " * (width + 12)
        words = _wrapped(rung.why, indent, indent)
        lines.append(f"  {padded}  {state}  " + (words[0].lstrip() if words else ""))
        lines += words[1:]
    return lines


def _guilty(guilty: BisectGuilty, places: FileNames, sources: ShownTexts, styler: Styler) -> list[str]:
    direction = guilty.direction.value if guilty.direction is not None else None
    part = guilty.part if guilty.part is not None and guilty.part.casefold() != guilty.backend.casefold() else None
    parts = {
        "part:": part,
        "in the": direction,
        "graph": guilty.graph,
        "pass:": guilty.pass_,
        "operation": guilty.op,
        "node": guilty.node,
    }
    words = [f"guilty: {guilty.backend}", *(f"{name} {part}" for name, part in parts.items() if part is not None)]
    lines = _wrapped(", ".join(words), "", "  ")
    if guilty.path is None:
        return lines
    if guilty.range is None:
        return [*lines, styler.paint(f"  {printable(places.shown(guilty.path))}", Role.PLACE)]
    return lines + blamed(guilty.path, guilty.range, places, sources, styler)


def _row(transfer: TransferRow) -> tuple[str, ...]:
    dtype, kept, layout = transfer.dtype, transfer.device_dtype, transfer.layout
    shape = "x".join(map(str, transfer.shape)) or "scalar"
    return (
        transfer.graph,
        "to device" if transfer.direction is Crossing.TO_DEVICE else "to host",
        f"{transfer.role} {printable(transfer.name)}",
        f"{dtype} {shape}" if dtype == kept else f"{dtype} as {kept} {shape}",
        "x".join(map(str, layout.size)) if layout is not None else in_bytes(transfer.device_bytes),
        f"{layout.waste:.0%}" if layout is not None else "",
        transfer.digest[:8],
        transfer.round_trip.value,
    )


def _round_trip_role(transfer: TransferRow) -> Role | None:
    return Role.ERROR if transfer.round_trip is RoundTrip.CHANGED else None


def _table(rows: list[tuple[str, ...]], roles: list[Role | None], styler: Styler) -> list[str]:
    widths = [max(width_of(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row, role in zip(rows, roles, strict=True):
        cells = [cell + " " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True)]
        line = "  " + "  ".join(cells).rstrip()
        lines.append(line if role is None else styler.paint(line, role))
    return lines


def _wrapped(words: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(printable(words), _WIDE, initial_indent=first, subsequent_indent=rest, break_long_words=False)
