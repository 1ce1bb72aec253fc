"""A log of transfers as a page: what crosses to the accelerator and back, and what does not come back as it was.

Works on the documents alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from inductor_debug_schema import Crossing, Position, Range, RoundTrip, TransferRow, TransfersDocument

from inductor_debug.report.file_names import FileNames
from inductor_debug.report.html.markup import Links, bullets, chooses_values, code, page, table, text, texts
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.transfer_words import kind_of, rounded_told, values_told
from inductor_debug.rules.amounts import counted, in_bytes
from inductor_debug.source.notebooks.reading import line_in_words

MOST_ROWS = 1000
"""Rows of one page; a browser would take seconds for more."""
_COLUMNS = ("Graph", "Direction", "Tensor", "Type", "On the device", "Padding", "Digest", "Round trip")
_DIRECTIONS = {Crossing.TO_DEVICE: "to device", Crossing.TO_HOST: "to host"}
_ROUND_TRIPS = {
    RoundTrip.SAME: "same",
    RoundTrip.ROUNDED: "rounded",
    RoundTrip.CHANGED: "<strong>changed</strong>",
    RoundTrip.NOT_RUN: "not run",
}


def transfers_page(
    documents: Sequence[TransfersDocument],
    places: FileNames,
    sources: ShownTexts,
    most_rows: int = MOST_ROWS,
    log: str | None = None,
) -> str:
    """The page of one target's transfers, or of those of several.

    Args:
        documents: one for each target.
        places: how files are called.
        sources: what stands in them.
        most_rows: of a table; the page says where there are more.
        log: the path of the file that has them all, one JSON document a line; None where it was not kept.
    """
    links = Links(places, sources)
    title = _title(documents[0]) if len(documents) == 1 else "Transfers"
    bodies = ("\n".join(_body(document, links, most_rows)) for document in documents)
    start = Position(0, 0)
    more = [] if log is None else [f"<p>{links.to('The log: one JSON document a line', log, Range(start, start))}</p>"]
    return page(title, ["\n<hr>\n".join(bodies), *more])


def _title(document: TransfersDocument) -> str:
    return f"Transfers of {document.target}"


def _body(document: TransfersDocument, links: Links, most_rows: int) -> Iterator[str]:
    summary, transfers = document.summary, document.transfers
    shown = transfers[:most_rows]
    changed = [transfer for transfer in shown if transfer.round_trip is RoundTrip.CHANGED]
    amount, host = counted(summary.transfers, "transfer"), in_bytes(summary.host_bytes)
    device = f"{in_bytes(summary.device_bytes)} on {document.accelerator}"
    yield f"<h1>{text(_title(document))}</h1>"
    yield f"<p>{text(f'{amount}, {host} on the host, {device}.')}</p>"
    yield from (f"<p><strong>{text(said)}</strong></p>" for said in (document.problem, document.error) if said)
    yield from (f"<p>{text(words)}</p>" for words in rounded_told(document))
    if changed:
        yield "<h2>What does not come back as it was</h2>"
        yield bullets(_change(transfer, links) for transfer in changed)
    if shown:
        yield "<h2>All transfers</h2>"
        yield table(_COLUMNS, (_row(transfer, links) for transfer in shown), named=True)
    if len(transfers) > len(shown):
        all_of_them = counted(len(transfers), "transfer")
        yield f"<p>{text(f'The log has more: {all_of_them}.')}</p>"
    if shown:
        yield "<h2>Values</h2>"
        said = f"{code('--values N')} shows the first and the last N of each tensor, and the first N that differ."
        yield f"<p>{chooses_values(said, document.values)}</p>"
    yield from (_values(transfer) for transfer in shown if transfer.values)


def _row(transfer: TransferRow, links: Links) -> tuple[str, ...]:
    dtype, kept, layout = transfer.dtype, transfer.device_dtype, transfer.layout
    kind = f"{dtype}[{', '.join(map(str, transfer.shape))}]"
    return (
        text(transfer.graph),
        _DIRECTIONS[transfer.direction],
        f"{text(transfer.role)} {_name(transfer, links)}",
        text(kind if dtype == kept else f"{kind} as {kept}"),
        "×".join(map(str, layout.size)) if layout is not None else in_bytes(transfer.device_bytes),
        f"{layout.waste:.0%}" if layout is not None else "",
        text(transfer.digest[:8]),
        _ROUND_TRIPS[transfer.round_trip],
    )


def _values(transfer: TransferRow) -> str:
    """What the host has and what the device would hold."""
    rows = [texts(row) for row in values_told(transfer)]
    head = f"{text(transfer.role)} {code(transfer.name)}, {text(kind_of(transfer))}"
    return f"<details><summary>{head}</summary>{table(('Index', 'Host', 'Device', ''), rows)}</details>"


def _change(transfer: TransferRow, links: Links) -> str:
    example, path, line = transfer.example, transfer.path, transfer.line
    are = "is" if transfer.changed == 1 else "are"
    amount = counted(transfer.changed, "element")
    words = f"{amount} of {transfer.dtype} {are} kept as {transfer.device_dtype}"
    if example is not None:
        words += f"; {example.before} at {example.index} becomes {example.after}"
    if path is not None:
        words += f" ({os.path.basename(path)}{'' if line is None else f', {line_in_words(path, line)}'})"
    return f"{_name(transfer, links)}: {text(words)}"


def _name(transfer: TransferRow, links: Links) -> str:
    """The tensor's name; it leads to where it was declared."""
    name = code(transfer.name)
    if transfer.path is None or transfer.line is None:
        return name
    start = Position(transfer.line, 0)
    return links.to(name, transfer.path, Range(start, start))
