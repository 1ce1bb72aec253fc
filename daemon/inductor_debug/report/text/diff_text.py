"""The `diff` document as text for people: the verdict, a table of results, the blamed expressions with their source.

Works on the document alone, so that it shows what a script would read. Nothing here judges.
"""

from __future__ import annotations

import math
import textwrap

from inductor_debug_schema import DiffBlame, DiffDocument, DiffSegment, DiffTensor, DiffVerdict
from inductor_debug_schema.answers.diff_document import Value

from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.snippet import blamed

_ROLES = {
    DiffVerdict.PASS: Role.GOOD,
    DiffVerdict.SUSPICIOUS: Role.WARNING,
    DiffVerdict.WRONG: Role.ERROR,
    DiffVerdict.FAILED: Role.ERROR,
}
_WIDE = 110
_MOST_ROWS = 40
_MOST_BLAMED = 5
_COLUMNS = ("result", "type", "verdict", "times expected", "max error", "SNR dB", "outside tolerances")


def diff_text(document: DiffDocument, places: FileNames, sources: ShownTexts, styler: Styler) -> str:
    """One document, ending in a line end."""
    return _DiffText(places, sources, styler).render(document)


class _DiffText:
    """Renders `diff` documents."""

    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places, self._sources, self._styler = places, sources, styler

    def render(self, document: DiffDocument) -> str:
        verdict = document.verdict or DiffVerdict.FAILED
        head = f"{document.target}: {document.backend} against {document.reference}: "
        lines = [printable(head) + self._styler.paint(verdict.value, _ROLES[verdict])]
        if document.partial:
            lines[0] += " " + self._styler.paint("(unfinished)", Role.WARNING)
        lines += textwrap.wrap(printable(document.why), _WIDE, initial_indent="  ", subsequent_indent="  ")
        lines += self._table([*document.outputs, *document.gradients])
        lines += self._segments(document.segments)
        blames = _one_for_each_place(document.blame)
        for position, blame in enumerate(blames[:_MOST_BLAMED], 1):
            lines += self._blame(position, blame)
        if len(blames) > _MOST_BLAMED:
            lines += ["", f"  and {len(blames) - _MOST_BLAMED} more expressions"]
        lines += self._remarks(document)
        return "\n".join(lines) + "\n"

    def _table(self, results: list[DiffTensor]) -> list[str]:
        if not results:
            return []
        worst_first = sorted(results, key=_rank, reverse=True)
        shown = results if len(results) <= _MOST_ROWS else worst_first[:_MOST_ROWS]
        rows = [_COLUMNS, *(_row(result) for result in shown)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
        lines = [""]
        for index, row in enumerate(rows):
            cells = [
                cell.ljust(width) if column < 3 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            line = "  " + "  ".join(cells).rstrip()
            role = Role.FAINT if index == 0 else _ROLES[shown[index - 1].verdict]
            lines.append(line if role is Role.GOOD else self._styler.paint(line, role))
        if len(shown) < len(results):
            lines.append(self._styler.paint(f"  and {len(results) - len(shown)} more, none of them worse", Role.FAINT))
        return lines

    def _segments(self, segments: list[DiffSegment]) -> list[str]:
        """How many pieces of the graph were compared by themselves, and the smallest one that is wrong."""
        wrong = [segment for segment in segments if segment.wrong]
        if not segments:
            return []
        words = f"{len(segments)} pieces of the graph were compiled and compared by themselves, {len(wrong)} are wrong"
        if wrong:
            least = min(wrong, key=lambda segment: segment.end - segment.start)
            relative = _number(least.isolated.relative if least.isolated is not None else None)
            several = f"operations {least.start + 1} to {least.end}"
            where = several if least.end > least.start + 1 else f"operation {least.end}"
            words += f"; the smallest is {where} (relative error {relative})"
        return ["", *textwrap.wrap(words, _WIDE, initial_indent="  ", subsequent_indent="  ")]

    def _blame(self, position: int, blame: DiffBlame) -> list[str]:
        what = (f"{blame.op} ({blame.node})" if blame.node else blame.op) + (
            f" in {blame.module}" if blame.module else ""
        )
        words = f"blame {position}: {what}: {blame.why}"
        lines = ["", *textwrap.wrap(printable(words), _WIDE, subsequent_indent="  ", break_long_words=False)]
        if blame.range is None or blame.path is None:
            return lines
        return lines + blamed(blame.path, blame.range, self._places, self._sources, self._styler)

    def _remarks(self, document: DiffDocument) -> list[str]:
        words = [f"note: {note}" for note in document.notes]
        if document.weights:
            words.append(f"weights: {document.weights}")
        if document.first_divergent:
            words.append(f"errors begin to grow at {document.first_divergent}")
        lines = [""] if words else []
        for remark in words:
            wrapped = textwrap.wrap(printable(remark), _WIDE, initial_indent="  ", subsequent_indent="    ")
            lines += [self._styler.paint(line, Role.FAINT) for line in wrapped]
        return lines


def _one_for_each_place(blames: list[DiffBlame]) -> list[DiffBlame]:
    """The most blamed operation of each expression; those without a place all stay."""
    found: dict[object, DiffBlame] = {}
    for number, blame in enumerate(blames):
        key = (blame.path, blame.range) if blame.range is not None else number
        found.setdefault(key, blame)
    return list(found.values())


def _row(result: DiffTensor) -> tuple[str, ...]:
    metrics = result.metrics
    shape = "" if result.shape is None else str(result.shape).replace(" ", "")
    mismatch = metrics.mismatch_percent
    return (
        printable(result.name),
        f"{result.dtype}{shape}",
        result.verdict.value,
        _number(metrics.anchored_ratio),
        _number(metrics.max_abs),
        _number(metrics.snr_db),
        "" if mismatch is None or not metrics.elements else f"{mismatch:.3g} %",
    )


def _rank(result: DiffTensor) -> tuple[int, float]:
    """Larger for worse results: by verdict, then by ratio."""
    ratio = result.metrics.anchored_ratio
    return result.verdict.rank, ratio if isinstance(ratio, (int, float)) else math.inf if ratio else 0.0


def _number(value: Value) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.3g}"
