"""How wide text is on a terminal, and how to show it there without letting it take the terminal over.

Source lines and messages come from other people's files: escape sequences, bidirectional overrides and other control
characters are replaced by visible stand-ins. Widths follow Unicode's East Asian Width and the common emoji sequences;
what a given terminal does with rarer ones cannot be known from here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

TAB = "    "
"""A tab is shown as four blanks wherever it stands, so that the carets under it do not depend on the terminal."""

_ZERO_WIDTH_JOINER = "\u200d"
_EMOJI_SELECTOR = "\ufe0f"
_REPLACEMENT = "\ufffd"


def cells(line: str) -> list[tuple[str, int]]:
    """What to print for each character of `line`, and how many columns it takes."""
    result: list[tuple[str, int]] = []
    joined = False
    for character in line:
        shown, width = _cell(character)
        if joined or (_is_skin_tone(character) and result):
            width = 0
        elif character == _EMOJI_SELECTOR and result and result[-1][1] == 1:
            width = 1
        joined = character == _ZERO_WIDTH_JOINER and bool(result)
        result.append((shown, width))
    return result


def width_of(text: str) -> int:
    """The columns that one line of text takes."""
    return sum(width for _, width in cells(text))


def one_line(text: str) -> str:
    """`text`, printable and without line breaks, for places where a further line would be read as something else."""
    return printable(" ".join(text.splitlines()))


def shortened(text: str, most: int) -> str:
    """`text`, or as many of its first characters as leave room for "…" among `most`."""
    return text if len(text) <= most else text[: most - 1] + "…"


def in_columns(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: Sequence[str],
    *,
    within: int | None = None,
    spare: Sequence[str] = (),
) -> list[str]:
    """A table as lines: figures under each other at the right, and behind them the name of each row, head first.

    Args:
        head: what the figures are.
        rows: the figures.
        names: of the rows, their title first.
        within: the columns of the terminal that there are. Names are cut where that is not enough.
        spare: what is left out, one after the other, where less than a third of them is left for the names.
    """
    lines = [head, *rows]
    widths = [max(width_of(line[number]) for line in lines) for number in range(len(head))]
    kept = list(range(len(head)))
    for column in map(head.index, spare):
        if within is not None and 3 * _room(within, [widths[number] for number in kept]) < within:
            kept.remove(column)
    room = None if within is None else max(_room(within, [widths[number] for number in kept]), 1)
    shown = []
    for line, name in zip(lines, names, strict=True):
        figures = "  ".join(" " * (widths[number] - width_of(line[number])) + line[number] for number in kept)
        told = name if room is None else shortened(name, room)
        shown.append(printable(f"  {figures}  {told}".rstrip()))
    return shown


def _room(within: int, widths: Sequence[int]) -> int:
    """The columns that are left behind figures, each with two blanks before and after."""
    return within - sum(widths) - 2 * (len(widths) + 1)


def printable(text: str) -> str:
    """`text` with control characters replaced, line breaks kept; safe to print."""
    return "\n".join("".join(shown for shown, _ in cells(line)) for line in text.split("\n"))


def _cell(character: str) -> tuple[str, int]:
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character, 1
    if character == "\t":
        return TAB, len(TAB)
    if code < 0x20:
        return chr(0x2400 + code), 1
    if code == 0x7F:
        return "\u2421", 1
    category = unicodedata.category(character)
    if category in ("Mn", "Me") or character in (_ZERO_WIDTH_JOINER, "\u200c"):
        return character, 0
    if category in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return _REPLACEMENT, 1
    return character, 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _is_skin_tone(character: str) -> bool:
    return "\U0001f3fb" <= character <= "\U0001f3ff"
