"""The `transfers` document as text for people. Works on the document alone; nothing here judges."""

from __future__ import annotations

from collections.abc import Iterator

from inductor_debug_schema import Crossing, RoundTrip, TransferRow, TransfersDocument

from inductor_debug.report.cells import printable, width_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.wrapping import wrapped
from inductor_debug.report.transfer_words import DIFFERS, kind_of, rounded_told, values_told
from inductor_debug.rules.amounts import counted, in_bytes

_COLUMNS: tuple[str, ...] = ("graph", "direction", "tensor", "type", "on the device", "padding", "digest", "round trip")


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
    lines += [line for words in rounded_told(document) for line in ("", *wrapped(words, "", "  "))]
    for transfer in document.transfers:
        lines += _values(transfer, styler)
    for trouble in filter(None, (document.problem, document.error)):
        lines += ["", *wrapped(trouble, "", "  ")]
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
    lines = ["", *wrapped(words, "", "  ")]
    if transfer.path is not None and transfer.line is not None:
        lines.append(styler.paint(f"  {printable(places.at(transfer.path, transfer.line))}", Role.PLACE))
    return lines


def _values(transfer: TransferRow, styler: Styler) -> Iterator[str]:
    """What the host has and what the device would hold, where values were asked for."""
    rows = list(values_told(transfer))
    if not rows:
        return
    yield from ("", f"{transfer.role} {printable(transfer.name)}, {kind_of(transfer)}:")
    roles = [Role.FAINT, *(Role.ERROR if row[-1] == DIFFERS else None for row in rows)]
    yield from _table([("", "host", "device", ""), *rows], roles, styler)


def _row(transfer: TransferRow) -> tuple[str, ...]:
    layout = transfer.layout
    return (
        transfer.graph,
        "to device" if transfer.direction is Crossing.TO_DEVICE else "to host",
        f"{transfer.role} {printable(transfer.name)}",
        kind_of(transfer),
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
