"""The statistics of a graph (`rules.statistics`) as text: `analyze --type summary`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inductor_debug.report.cells import printable
from inductor_debug.report.places import Places
from inductor_debug.report.styles import Role, Styler

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_THOUSANDS = ("", " thousand", " million", " billion", " trillion", " quadrillion")
_MOST_OPS = 10
_MOST_HOLDINGS = 5


class StatisticsText:
    """Writes statistics documents for people."""

    def __init__(self, places: Places, styler: Styler) -> None:
        self._places = places
        self._paint = styler.paint

    def text(self, document: dict[str, Any]) -> str:
        """One document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: dict[str, Any]) -> Iterator[str]:
        heading = f"{self._places.shown(document['path'])}::{document['target']}, stage {document['stage']}"
        yield self._paint(printable(heading), Role.HEADING)
        backward = document["backward_ops"]
        yield _row("ops", f"{document['ops']}" + (f", {backward} of them in the backward pass" if backward else ""))
        for name, count in list(document["by_op"].items())[:_MOST_OPS]:
            yield printable(f"    {count:>6}  {name}")
        if len(document["by_op"]) > _MOST_OPS:
            yield f"            and {len(document['by_op']) - _MOST_OPS} other operators"
        yield _row("dtypes", ", ".join(f"{name} ({count})" for name, count in document["dtypes"].items()))
        for kind, entry in document["memory"].items():
            if entry["tensors"]:
                count = f"{entry['tensors']} tensor{'' if entry['tensors'] == 1 else 's'}"
                yield _row(_plural(kind), f"{size(entry['bytes'])} in {count}")
        yield _row("FLOPs", self._operations(document))
        yield from self._peak(document["peak"])

    def _operations(self, document: dict[str, Any]) -> str:
        text = _amount(document["flops"])
        if document["backward_flops"]:
            text += f", {_amount(document['backward_flops'])} of them in the backward pass"
        if document["uncounted"]:
            text += f" (without {document['uncounted']} ops whose sizes are symbols)"
        return text

    def _peak(self, peak: dict[str, Any]) -> Iterator[str]:
        amount = size(peak["bytes"]) if peak["exact"] else f"at least {size(peak['bytes'])}"
        where = f" at {peak['op']}" if peak["op"] else ""
        where += " in the backward pass" if peak["backward"] else ""
        where += f", {self._place(peak)}" if peak["path"] else ""
        yield _row("peak", printable(amount + where))
        for holding in peak["largest"][:_MOST_HOLDINGS]:
            name = holding["op"] or f"{holding['kind']} {holding['name']}".strip()
            shape = ", ".join(map(str, holding["shape"]))
            place = f"  {self._place(holding)}" if holding["path"] else ""
            yield printable(f"    {size(holding['bytes']):>10}  {name} {holding['dtype']}[{shape}]{place}")

    def _place(self, said: dict[str, Any]) -> str:
        return f"{self._places.shown(said['path'])}:{said['range']['start']['line'] + 1}"


def size(count: int) -> str:
    """`1.5 MiB`, `100 B`."""
    amount = float(count)
    for unit in _UNITS[:-1]:
        if amount < 1024:
            return f"{amount:.4g} {unit}"
        amount /= 1024
    return f"{amount:.4g} {_UNITS[-1]}"


def _amount(count: int) -> str:
    amount = float(count)
    for word in _THOUSANDS[:-1]:
        if amount < 1000:
            return f"{amount:.4g}{word}"
        amount /= 1000
    return f"{amount:.4g}{_THOUSANDS[-1]}"


def _plural(kind: str) -> str:
    return f"{kind}s"


def _row(name: str, text: str) -> str:
    return f"  {name:<12}{text}"
