"""A survey as a table on a terminal, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inductor_debug_schema import SurveyRow

from inductor_debug.engine.survey.results_file import SurveyResults
from inductor_debug.report.cells import one_line, shortened, width_of
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.survey.survey_columns import SurveyField, failed, fields_of, rules_of
from inductor_debug.report.survey.survey_summary import SurveySummary, summary_of, versions_of
from inductor_debug.rules.amounts import counted

_LONGEST = 48
"""Characters of a cell that is text."""
_MOST_UNCHECKED = 20


def survey_text(results: SurveyResults, styler: Styler, *, verbose: bool = False) -> str:
    """The table, with what it comes to below; `verbose` names everything that was not looked at."""
    fields = _shown(results)
    summary = summary_of(results.header, results.rows)
    heads = [field.label for field in fields] + ["findings by rule"]
    table = [_cells(row, fields) for row in results.rows]
    widths = [max(map(width_of, column)) for column in zip(heads, *table, strict=True)]
    numeric = [field.numeric for field in fields] + [False]
    lines = [styler.paint(_line(heads, widths, numeric), Role.HEADING)]
    for row, cells in zip(results.rows, table, strict=True):
        line = _line(cells, widths, numeric)
        lines.append(styler.paint(line, Role.ERROR) if failed(row) else line)
    lines += ["", *_below(summary, verbose), "", f"{summary.sentence} ({versions_of(results.header)})"]
    return "\n".join(lines) + "\n"


def survey_markdown(results: SurveyResults) -> str:
    """The table as GitHub and others show it, with what it comes to above."""
    fields = _shown(results)
    summary = summary_of(results.header, results.rows)
    heads = [*(field.label for field in fields), "findings by rule"]
    lines = [f"**{_escaped(summary.sentence)}**", "", _escaped(versions_of(results.header)), ""]
    lines += [
        _markdown_row(heads),
        "|".join(["", *(" ---: " if field.numeric else " --- " for field in fields), " --- ", ""]),
    ]
    lines += [_markdown_row(_cells(row, fields)) for row in results.rows]
    below = list(_below(summary, verbose=True))
    if below:
        lines += ["", "<details><summary>What was found most, and what was not looked at</summary>", ""]
        lines += [f"- {_escaped(line)}" for line in below if line] + ["", "</details>"]
    return "\n".join(lines) + "\n"


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> list[str]:
    """The lines of a table; the first `texts` columns are text, the others numbers."""
    marks = [" --- " if number < texts else " ---: " for number in range(len(heads))]
    return [_markdown_row(heads), "|".join(["", *marks, ""]), *map(_markdown_row, rows)]


def _shown(results: SurveyResults) -> list[SurveyField]:
    """The columns that have something in them; the first two always."""
    fields = fields_of(results.rows)
    return [
        field
        for number, field in enumerate(fields)
        if number < 2 or any(field.text(row) not in ("", "·") for row in results.rows)
    ]


def _below(summary: SurveySummary, verbose: bool) -> Iterator[str]:
    for rule, rows, findings in summary.rules:
        yield f"{rule}: {counted(findings, 'finding')} in {counted(rows, 'row')}"
    if summary.breaks:
        yield "graphs break by: " + ", ".join(f"{cause} {count}" for cause, count in summary.breaks)
    shown = summary.unchecked if verbose else summary.unchecked[:_MOST_UNCHECKED]
    for name, why in shown:
        yield f"not checked: {name}: {one_line(why)}"
    if len(shown) < len(summary.unchecked):
        yield f"and {len(summary.unchecked) - len(shown)} more were not checked (--verbose names them)"


def _by_rule(counts: dict[str, int]) -> str:
    return ", ".join(f"{rule} {count}" if count > 1 else rule for rule, count in sorted(counts.items()))


def _cells(row: SurveyRow, fields: Sequence[SurveyField]) -> list[str]:
    """What stands in a row. Of a long name the end is shown, which tells the targets of a file apart."""
    name, *others = (one_line(field.text(row)) for field in fields)
    name = name if len(name) <= _LONGEST else "…" + name[1 - _LONGEST :]
    return [name, *(shortened(text, _LONGEST) for text in others), _by_rule(rules_of(row))]


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = []
    for cell, width, number in zip(cells, widths, numeric, strict=True):
        blank = " " * (width - width_of(cell))
        padded.append(blank + cell if number else cell + blank)
    return "  ".join(padded).rstrip()


def _markdown_row(cells: Sequence[str]) -> str:
    return "|".join(["", *(f" {_escaped(cell)} " for cell in cells), ""])


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
