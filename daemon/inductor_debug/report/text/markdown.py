"""Markdown pages on a terminal: headings, paragraphs, lists and code, which is all that a rule's page uses.

What this does not know is printed as it stands, so nothing of a page is ever lost.
"""

from __future__ import annotations

import re
import textwrap

from inductor_debug.report.cells import printable
from inductor_debug.report.styles import Role, Styler

_HEADING = re.compile(r"#{1,6} +(.*)")
_BULLET = re.compile(r"(\s*(?:[-*]|\d+\.) +)(.*)")
_CODE = re.compile(r"`([^`]+)`")
_FENCE = "```"


def render(text: str, styler: Styler, width: int) -> str:
    """`text` for a terminal of `width` columns, ending in a line break.

    Without colour, code keeps its backticks, so that it can still be told from prose.
    """
    blocks: list[str] = []
    prose: list[str] = []
    code: list[str] | None = None

    def flush() -> None:
        if prose:
            blocks.append("\n".join(_paragraph(prose, styler, width)))
            prose.clear()

    for line in printable(text).split("\n"):
        if line.lstrip().startswith(_FENCE):
            flush()
            if code is None:
                code = []
            else:
                blocks.append("\n".join("    " + styler.paint(row, Role.CODE) if row else "" for row in code))
                code = None
        elif code is not None:
            code.append(line)
        elif heading := _HEADING.match(line):
            flush()
            blocks.append(styler.paint(heading[1], Role.HEADING))
        elif line.strip():
            prose.append(line)
        else:
            flush()
    if code is not None:
        prose += [_FENCE, *code]
    flush()
    return "\n\n".join(blocks) + "\n"


def _paragraph(lines: list[str], styler: Styler, width: int) -> list[str]:
    """Wraps a paragraph, or each item of a list under its bullet."""
    items: list[tuple[str, str]] = []
    for line in lines:
        bullet = _BULLET.match(line)
        if bullet:
            items.append((bullet[1], bullet[2]))
        elif items:
            items[-1] = (items[-1][0], f"{items[-1][1]} {line.strip()}")
        else:
            items.append(("", line.strip()))
    rows: list[str] = []
    for lead, words in items:
        wrapped = textwrap.wrap(
            lead + words,
            max(width, 20),
            subsequent_indent=" " * len(lead),
            break_long_words=False,
            break_on_hyphens=False,
        )
        rows += _paint_code("\n".join(wrapped), styler).split("\n")
    return rows


def _paint_code(text: str, styler: Styler) -> str:
    """Colours inline code, which may run over a line break, line by line."""
    if not styler.enabled:
        return text

    def paint(match: re.Match[str]) -> str:
        return "\n".join(styler.paint(part, Role.CODE) for part in match[1].split("\n"))

    return _CODE.sub(paint, text)
