"""The `bisect` and `transfers` documents as text for people. Works on the JSON documents alone; nothing here judges."""

from __future__ import annotations

import textwrap
from typing import Any

from inductor_debug_schema import Range, from_wire

from inductor_debug.report.bisect_words import VERDICTS, typed
from inductor_debug.report.cells import printable, width_of
from inductor_debug.report.file_names import Places
from inductor_debug.report.source_characters import Sources
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.snippet import blamed
from inductor_debug.rules.amounts import counted, in_bytes

_WIDE = 110
_STATES = {"ok": ("pass", Role.GOOD), "wrong": ("wrong", Role.ERROR), "failed": ("failed", Role.ERROR)}
_COLUMNS: tuple[str, ...] = ("graph", "direction", "tensor", "type", "on the device", "padding", "digest", "round trip")


def bisect_text(document: dict[str, Any], places: Places, sources: Sources, styler: Styler) -> str:
    """The ladder, the verdict, the guilty part with its source, and the commands for both sides."""
    verdict = str(document["verdict"])
    head = f"{printable(document['target'])}: "
    role = Role.GOOD if verdict == "none" else Role.ERROR
    lines = [head + styler.paint(VERDICTS.get(verdict, verdict), role), ""]
    lines += _ladder(document["ladder"], styler)
    if document["guilty"] is not None:
        lines += ["", *_guilty(document["guilty"], places, sources, styler)]
    if document["commands"]:
        lines += ["", "the last that is right, and the first that is not:"]
        lines += [f"  {printable(typed(command, places))}" for command in document["commands"]]
    for note in document.get("notes", []):
        lines += [styler.paint(line, Role.FAINT) for line in _wrapped(f"note: {note}", "  ", "    ")]
    return "\n".join(lines) + "\n"


def transfers_text(document: dict[str, Any], places: Places, sources: Sources, styler: Styler) -> str:
    """A table of what crosses, then what does not come back as it was."""
    summary = document["summary"]
    head = (
        f"{printable(document['target'])}: {counted(summary['transfers'], 'transfer')}, "
        f"{in_bytes(summary['host_bytes'])} on the host, "
        f"{in_bytes(summary['device_bytes'])} on {printable(document['accelerator'])}"
    )
    lines = [head, ""]
    rows = [_COLUMNS, *(_row(transfer) for transfer in document["transfers"])]
    roles = [Role.FAINT] + [_round_trip_role(transfer) for transfer in document["transfers"]]
    lines += _table(rows, roles, styler)
    for transfer in document["transfers"]:
        if transfer["changed"]:
            example = transfer["example"]
            words = (
                f"{transfer['name']}: {counted(transfer['changed'], 'element')} changed on the way: "
                f"{transfer['dtype']} is kept as {transfer['device_dtype']}; "
                f"{example['before']} at {example['index']} becomes {example['after']}"
            )
            lines += ["", *_wrapped(words, "", "  ")]
            if transfer["path"] is not None:
                shown = f"  {printable(places.shown(transfer['path']))}:{transfer['line'] + 1}"
                lines.append(styler.paint(shown, Role.PLACE))
    for key in ("problem", "error"):
        if document[key]:
            lines += ["", *_wrapped(str(document[key]), "", "  ")]
    return "\n".join(lines) + "\n"


def _ladder(ladder: list[dict[str, Any]], styler: Styler) -> list[str]:
    width = max((width_of(printable(rung["backend"])) for rung in ladder), default=0)
    lines = []
    for rung in ladder:
        name = printable(rung["backend"])
        padded = name + " " * (width - width_of(name))
        word, role = _STATES[rung["state"]]
        state = styler.paint(word.ljust(6), role)
        indent = " " * (width + 12)
        words = _wrapped(rung["why"], indent, indent)
        lines.append(f"  {padded}  {state}  " + (words[0].lstrip() if words else ""))
        lines += words[1:]
    return lines


def _guilty(guilty: dict[str, Any], places: Places, sources: Sources, styler: Styler) -> list[str]:
    words = [f"guilty: {guilty['backend']}"]
    words += [f"{name} {guilty[key]}" for key, name in _PARTS if guilty.get(key) is not None]
    lines = _wrapped(", ".join(words), "", "  ")
    if guilty["range"] is None:
        if guilty["path"] is not None:
            lines.append(styler.paint(f"  {printable(places.shown(guilty['path']))}", Role.PLACE))
        return lines
    return lines + blamed(guilty["path"], from_wire(Range, guilty["range"]), places, sources, styler)


_PARTS = (("direction", "in the"), ("graph", "graph"), ("pass", "pass:"), ("op", "operation"), ("node", "node"))


def _row(transfer: dict[str, Any]) -> tuple[str, ...]:
    dtype, kept, layout = transfer["dtype"], transfer["device_dtype"], transfer["layout"]
    shape = "x".join(map(str, transfer["shape"])) or "scalar"
    return (
        transfer["graph"],
        "to device" if transfer["direction"] == "to-device" else "to host",
        f"{transfer['role']} {printable(transfer['name'])}",
        f"{dtype} {shape}" if dtype == kept else f"{dtype} as {kept} {shape}",
        "x".join(map(str, layout["size"])) if layout is not None else in_bytes(transfer["device_bytes"]),
        f"{layout['waste']:.0%}" if layout is not None else "",
        transfer["digest"][:8],
        transfer["round_trip"],
    )


def _round_trip_role(transfer: dict[str, Any]) -> Role | None:
    return Role.ERROR if transfer["round_trip"] == "changed" else None


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
