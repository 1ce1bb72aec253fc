"""A stretch of source as compilers show it: numbered lines with the exact expression underlined.

    12 |     y = x.double() @ w
       |         ^^^^^^^^^^

An expression over several lines gets a bracket down its left side, with the middle of a long one left out. Lines wider
than a screen are cropped around the expression, so that a minified file cannot flood a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass

from inductor_debug_schema import Range

from inductor_debug.report.cells import cells, printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownText, ShownTexts
from inductor_debug.report.styles import Role, Styler

MAX_WIDTH = 140
"""Columns of source shown of one line."""
MAX_LINES = 6
"""Lines of an expression shown before its middle is left out."""
_ELLIPSIS = "..."


@dataclass(frozen=True, slots=True)
class ShownSnippet:
    """Draws excerpts with one underline character (`^` for a finding, `-` for a note) in one role."""

    styler: Styler
    mark: str
    role: Role

    def render(self, source: ShownText, area: Range, gutter: int) -> list[str]:
        """The lines of the excerpt, or none if `source` does not reach that far.

        Args:
            source: the file that `area` lies in.
            area: what to underline; an empty one gets a single mark.
            gutter: the columns to keep for line numbers.
        """
        if source.line(area.start.line) is None:
            return []
        last = min(area.end.line, len(source.lines) - 1)
        if last > area.start.line and area.end.line == last and area.end.character == 0:
            last -= 1
        start = source.character_index(area.start)
        if last <= area.start.line:
            end = source.character_index(area.end) if area.end.line == area.start.line else len(source.lines[last])
            return self._one_line(source, area.start.line, start, end, gutter)
        end = source.character_index(area.end) if area.end.line == last else len(source.lines[last])
        return self._many_lines(source, (area.start.line, start), (last, end), gutter)

    def _one_line(self, source: ShownText, number: int, start: int, end: int, gutter: int) -> list[str]:
        text, before, width = crop(source.lines[number], start, end)
        under = " " * before + self.styler.paint(self.mark * max(width, 1), self.role)
        return [self._row(source.label(number), gutter, " " + text), self._row(None, gutter, " " + under)]

    def _many_lines(self, source: ShownText, first: tuple[int, int], last: tuple[int, int], gutter: int) -> list[str]:
        rows: list[str] = []
        line = source.lines[first[0]]
        text, before, _ = crop(line, first[1], first[1] + 1)
        bar = self.styler.paint("|", self.role)
        if not line[: first[1]].strip():
            rows.append(self._row(source.label(first[0]), gutter, " " + self.styler.paint("/", self.role) + " " + text))
        else:
            rows.append(self._row(source.label(first[0]), gutter, "   " + text))
            rows.append(self._row(None, gutter, "  " + self.styler.paint("_" * (before + 1) + self.mark, self.role)))
        for number in self._middle(first[0] + 1, last[0] - 1):
            if number is None:
                rows.append(self.styler.paint(_ELLIPSIS, Role.FRAME) + " " * (gutter - 1) + " " + bar)
            else:
                rows.append(self._row(source.label(number), gutter, f" {bar} " + crop(source.lines[number], 0, 0)[0]))
        text, before, width = crop(source.lines[last[0]], max(last[1] - 1, 0), last[1])
        rows.append(self._row(source.label(last[0]), gutter, f" {bar} " + text))
        foot = "|" + "_" * (before + max(width, 1)) + self.mark
        rows.append(self._row(None, gutter, " " + self.styler.paint(foot, self.role)))
        return rows

    @staticmethod
    def _middle(first: int, last: int) -> list[int | None]:
        if last - first + 1 <= MAX_LINES - 2:
            return list(range(first, last + 1))
        return [first, None, last]

    def _row(self, label: int | None, gutter: int, text: str) -> str:
        shown = "" if label is None else str(label)
        return (self.styler.paint(f"{shown:>{gutter}} |", Role.FRAME) + text).rstrip()


def blamed(path: str, area: Range, places: FileNames, sources: ShownTexts, styler: Styler) -> list[str]:
    """The place of an expression at fault, as `  model.py:33:18`, with its source below."""
    place = styler.paint(f"  {sources.location(printable(places.shown(path)), path, area.start)}", Role.PLACE)
    gutter = len(str(area.end.line + 1)) + 1
    return [place, *ShownSnippet(styler, "^", Role.ERROR).render(sources.of(path), area, gutter)]


def crop(line: str, start: int, end: int) -> tuple[str, int, int]:
    """What to show of `line`, with columns of text before character `start` and from there to `end`.

    Only a window of `MAX_WIDTH` columns is kept of a wide line, the beginning of the expression inside it.
    """
    parts = cells(line)
    parts += [(" ", 1)] * (end - len(parts))
    before = sum(width for _, width in parts[:start])
    wanted = sum(width for _, width in parts[start:end])
    if sum(width for _, width in parts) <= MAX_WIDTH:
        return "".join(shown for shown, _ in parts).rstrip(), before, wanted
    first = _window_start(parts, before, wanted)
    text, used, index = "", 0, first
    while index < len(parts) and used + parts[index][1] <= MAX_WIDTH:
        text += parts[index][0]
        used += parts[index][1]
        index += 1
    skipped = sum(width for _, width in parts[:first])
    lead = _ELLIPSIS if first else ""
    tail = _ELLIPSIS if index < len(parts) else ""
    before += len(lead) - skipped
    return lead + text + tail, before, min(wanted, len(lead) + used - before)


def _window_start(parts: list[tuple[str, int]], before: int, wanted: int) -> int:
    """The first character to show so that the expression is in the window with some text before it."""
    if before + wanted <= MAX_WIDTH:
        return 0
    skip = before - max((MAX_WIDTH - wanted) // 2, 10)
    index = 0
    while skip > 0 and index < len(parts):
        skip -= parts[index][1]
        index += 1
    return index
