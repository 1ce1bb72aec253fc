"""Pieces that the survey's page and the report of `check` share: cards with bars and heat maps, in the same colours.

Here they are HTML that needs no script, because editors show the report without any; the survey's page draws bars that
look the same (`report/survey/page/charts.js`) of the rows that its filters leave. Labels are HTML already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from inductor_debug_schema import Severity

from inductor_debug.report.html.markup import table, text

MOST_BARS = 14
"""As many as the survey's page has."""


@cache
def pieces_style() -> str:
    """The style sheet that they need, for light, dark, and the colours of an editor."""
    # Widths are classes: pages that a browser is given over HTTP may have no style of their elements' own.
    widths = "".join(f".bars .w{percent} {{ width: {percent}%; }} " for percent in range(1, 101))
    return Path(__file__).with_name("card_pieces.css").read_text(encoding="utf-8") + widths


@dataclass(frozen=True, slots=True)
class BarRow:
    """One bar: what it is of, how much in words, and its parts, each with the class that colours it and its words."""

    label: str
    amount: str
    parts: Sequence[tuple[str, float, str]]


def bars(title: str, found: Sequence[BarRow], keys: Sequence[tuple[str, str]] = ()) -> str:
    """A card with the first bars, longest first as they come, and what the colours mean; nothing without any."""
    if not found:
        return ""
    most = max(sum(amount for _, amount, _ in bar.parts) for bar in found) or 1.0
    shown = found[:MOST_BARS]
    left = f": the first {len(shown)} of {len(found)}" if len(found) > len(shown) else ""
    rows = "".join(
        f'<span class="name">{bar.label}</span><span class="bar">'
        + "".join(
            f'<i class="{kind} w{max(1, round(100 * amount / most))}" title="{text(words)}"></i>'
            for kind, amount, words in bar.parts
            if amount > 0
        )
        + f'</span><span class="amount">{text(bar.amount)}</span>'
        for bar in shown
    )
    return _card(title + left, f'<div class="bars">{rows}</div>{_legend(keys)}')


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A row of a heat map: its label, and by column the severity and the number of what is there."""

    label: str
    cells: dict[str, tuple[Severity, int]]


def heat_map(title: str, columns: dict[str, str], rows: Sequence[HeatRow]) -> str:
    """A card with a table whose cells have the colour of their severity; `columns` are labels by name."""
    lines = [(row.label, *(_heat(row.cells.get(name)) for name in columns)) for row in rows]
    keys = [(severity.value, severity.value) for severity in Severity]
    return _card(title, table(("", *columns.values()), lines, named=True) + _legend(keys), "card whole heat")


def _heat(cell: tuple[Severity, int] | None) -> str:
    if cell is None:
        return ""
    severity, count = cell
    return f'<span class="cell {severity.value}" title="{severity.value}">{count}</span>'


def cards(made: Sequence[str]) -> str:
    """The cards beside each other; nothing of nothing."""
    there = [card for card in made if card]
    return f'<div class="cards">{"".join(there)}</div>' if there else ""


def _card(title: str, inside: str, kind: str = "card") -> str:
    return f'<figure class="{kind}"><figcaption>{text(title)}</figcaption>{inside}</figure>'


def _legend(keys: Sequence[tuple[str, str]]) -> str:
    if not keys:
        return ""
    named = "".join(f'<span class="key {kind}">{text(words)}</span>' for kind, words in keys)
    return f'<p class="legend">{named}</p>'
