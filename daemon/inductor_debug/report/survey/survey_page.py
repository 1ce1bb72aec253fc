"""A survey as one page that stands alone: it loads nothing, and ten thousand models open in two seconds.

What is drawn and sorted travels as columns of plain values; what a row tells when it is opened is a line of JSON each,
which is read when it is wanted. Whatever comes from elsewhere is data, and text on the page, never markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inductor_debug_schema import Checked, Severity, SurveyComparison, SurveyFinding, SurveyRow

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.accelerators.profile import NO_ACCELERATOR, Profile, load_document, read_profile
from inductor_debug.engine.survey.results_file import SurveyResults
from inductor_debug.report.cells import printable
from inductor_debug.report.html.card_pieces import pieces_style
from inductor_debug.report.roofs import ceilings_of
from inductor_debug.report.survey.survey_columns import (
    column_of,
    compared_of,
    failed,
    fields_of,
    measured_of,
    name_of,
    rules_found,
    speed_up,
)
from inductor_debug.report.survey.survey_summary import summary_of, versions_of
from inductor_debug.source.notebooks.reading import CellPlace

_PARTS = Path(__file__).with_name("page")
_SCRIPTS = ("format.js", "charts.js", "table.js", "app.js")
_MOST_FINDINGS = 60
"""Findings that are shown of one row."""
_STATES = (
    ("", "every state"),
    ("findings", "with findings"),
    ("clean", "without findings"),
    ("unchecked", "not checked"),
    ("failed", "failed"),
)


def survey_page(results: SurveyResults, changes: PageChanges | None = None) -> str:
    """The whole page; with `changes` it tells what has changed since an earlier survey, too."""
    script = "(() => {\n" + "\n".join(map(_part, _SCRIPTS)) + "\n})();"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    summary = summary_of(results.header, results.rows)
    details = "\n".join(_json(_detail(row, changes)) for row in results.rows)
    title = f"inductor-debug survey: {results.header.name}"
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{_text(title)}</title>\n<style>{pieces_style()}{_part('page.css')}</style>\n</head>\n",
            f"<body>\n<h1>{_text(summary.sentence)}</h1>\n",
            f'<p class="about">{_text(versions_of(results.header))}</p>\n',
            *_changes(changes),
            _FILTERS.format(states="".join(f'<option value="{value}">{label}</option>' for value, label in _STATES)),
            '<div id="charts" class="cards"></div>\n<div class="below"><div id="table" aria-label="models"></div>',
            '<aside id="details" aria-live="polite" hidden></aside></div>\n',
            f'<script type="application/json" id="survey-data">{_json(_data(results, changes))}</script>\n',
            f'<script type="application/jsonl" id="survey-details">\n{details}\n</script>\n',
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _part(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8")


class PageChanges:
    """What a comparison adds to the page of the later survey.

    Args:
        sentence: what it comes to.
        lines: changes that concern no row that is there, worst first, each with whether it is for the worse.
        rows: changes of each row, by its name.
        fields: numbers of both surveys: label, kind, and the pair of values by the row's name.
    """

    def __init__(
        self,
        sentence: str,
        lines: Sequence[tuple[str, bool]],
        rows: Mapping[str, Sequence[tuple[str, bool]]],
        fields: Sequence[tuple[str, str, Mapping[str, tuple[float, float]]]],
    ) -> None:
        self.sentence, self.lines, self.rows, self.fields = sentence, lines, rows, fields


_FILTERS = """<div class="filters">
<input id="search" type="search" placeholder="search models, tags, rules (press /)" aria-label="search">
<select id="rule" aria-label="rule"></select>
<select id="state" aria-label="state">{states}</select>
<span id="shown" class="about" role="status"></span>
<button id="theme" type="button">light / dark</button>
</div>
"""


def _changes(changes: PageChanges | None) -> Iterator[str]:
    if changes is None:
        return
    yield f'<div class="changes"><p><strong>{_text(changes.sentence)}</strong></p>'
    for line, worse in changes.lines:
        yield f'<p class="{"error" if worse else "good"}">{_text(line)}</p>'
    yield "</div>\n"


def _data(results: SurveyResults, changes: PageChanges | None) -> dict[str, Any]:
    """What is drawn, sorted and searched, by column."""
    rows = results.rows
    fields = fields_of(rows)
    rules = rules_found(rows)
    names = [name_of(row) for row in rows]
    return {
        "rowCount": len(rows),
        "names": names,
        "search": [_searched(row) for row in rows],
        "state": [_states(row) for row in rows],
        "severity": [_worst(row) for row in rows],
        "fields": [{"key": field.key, "label": field.label, "kind": field.kind} for field in fields],
        "columns": [[_value(field.value(row)) for row in rows] for field in fields],
        "rules": rules,
        "matrixCells": list(_cells(rows, rules)),
        "breaks": _breaks(rows),
        "accelerators": [_accelerator(name, rows) for name in _accelerators(rows)],
        "backends": list(_backends(rows)),
        "compared": list(_compared(rows)),
        "before": _before(names, changes) if changes is not None else None,
    }


def _cells(rows: Sequence[SurveyRow], rules: Sequence[str]) -> Iterator[int]:
    """Row, rule and severity of each cell of the heat map, one after the other."""
    places = {rule: place for place, rule in enumerate(rules)}
    for number, row in enumerate(rows):
        worst: dict[str, int] = {}
        for finding in row.findings:
            worst[finding.rule] = min(worst.get(finding.rule, 9), finding.severity.rank)
        for rule, rank in worst.items():
            yield from (number, places[rule], rank)


def _breaks(rows: Sequence[SurveyRow]) -> dict[str, Any]:
    reasons = sorted({finding.cause for row in rows for finding in row.findings if finding.cause})
    counts: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        causes = [finding.cause for finding in row.findings if finding.cause]
        if causes:
            counts[number] = [causes.count(reason) for reason in reasons]
    return {"reasons": reasons, "counts": counts}


def _accelerators(rows: Sequence[SurveyRow]) -> list[str]:
    """The accelerators that there are; no one only where there is no other."""
    names = list(dict.fromkeys(column.accelerator for row in rows for column in row.columns))
    return [name for name in names if name != NO_ACCELERATOR] or names[:1]


def _accelerator(name: str, rows: Sequence[SurveyRow]) -> dict[str, Any]:
    columns = [column_of(row, name) for row in rows]
    profile = _profile(name)
    speed = profile.speed if profile is not None else None
    ceilings = ceilings_of(profile)
    return {
        "title": "" if name == NO_ACCELERATOR else profile.title if profile is not None else name,
        "bytes": profile.memory_bytes if profile is not None else None,
        "roofs": {
            "bandwidth": speed.bytes_per_second if speed is not None else None,
            "rates": [ceiling.operations_per_second for ceiling in ceilings],
        },
        "peak": [None if column is None else column.peak_bytes for column in columns],
        "flops": [None if column is None else column.flops for column in columns],
        "moved": [None if column is None else column.moved_bytes for column in columns],
        "seconds": [None if column is None else column.seconds_at_least for column in columns],
    }


def _profile(name: str) -> Profile | None:
    """The profile of an accelerator that comes with the tool; None of another one, which may not be here."""
    try:
        return read_profile(load_document(name))
    except ProfileError:
        return None


def _backends(rows: Sequence[SurveyRow]) -> Iterator[dict[str, Any]]:
    for name in dict.fromkeys(document.measured_backend for row in rows for document in row.measured):
        documents = [measured_of(row, name) for row in rows]
        phases = list(
            dict.fromkeys(part for document in documents if document for one in document.cold for part in one.phases)
        )
        yield {
            "name": name,
            "names": phases,
            "phases": [
                [document.cold[0].phases.get(phase, 0.0) for phase in phases] if document and document.cold else None
                for document in documents
            ],
            "speed": [None if document is None else speed_up(document) for document in documents],
        }


def _compared(rows: Sequence[SurveyRow]) -> Iterator[dict[str, Any]]:
    for name in dict.fromkeys(document.compared_backend for row in rows for document in row.compared):
        documents = [compared_of(row, name) for row in rows]
        yield {
            "name": name,
            "verdict": [document.verdict.value if document and document.verdict else None for document in documents],
            "error": [document.error if document else None for document in documents],
        }


def _before(names: Sequence[str], changes: PageChanges) -> dict[str, Any]:
    fields = [
        {
            "label": label,
            "kind": kind,
            "before": [values.get(name, (None, None))[0] for name in names],
            "after": [values.get(name, (None, None))[1] for name in names],
        }
        for label, kind, values in changes.fields
    ]
    return {"fields": fields, "worse": [any(worse for _, worse in changes.rows.get(name, ())) for name in names]}


def _detail(row: SurveyRow, changes: PageChanges | None) -> dict[str, Any]:
    """What is told of a row that is opened."""
    shown = row.findings[:_MOST_FINDINGS]
    left = len(row.findings) - len(shown)
    why = row.why + (f" {left} more findings are in the results." if left else "")
    return {
        "path": row.path,
        "tags": row.tags,
        "why": why.strip(),
        "signature": row.signature,
        "recompile": row.recompile_cause,
        "graph": quote(row.graph_page),
        "findings": [_finding(finding, len(row.columns) > 1) for finding in shown],
        "compared": [_comparison(document) for document in row.compared],
        "commands": list(_commands(row)),
        "before": [{"text": line, "worse": worse} for line, worse in changes.rows.get(name_of(row), ())]
        if changes is not None
        else [],
    }


def _finding(finding: SurveyFinding, several: bool) -> dict[str, Any]:
    start, end = finding.range.start, finding.range.end
    marks = []
    for number, line in enumerate(finding.excerpt):
        at = finding.excerpt_line + number
        first = start.character if at == start.line else len(line) - len(line.lstrip())
        last = end.character if at == end.line else len(line)
        marks.append([first, min(last, len(line))] if first < len(line) else None)
    count = f", {finding.count} ops" if finding.count > 1 else ""
    cell = CellPlace(finding.cell, finding.cell_line) if finding.cell else None
    place = f": {cell}" if cell is not None else f":{start.line + 1}:{start.character + 1}"
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": printable(finding.message),
        "place": f"{finding.path}{place}{count}",
        "lines": [printable(line) for line in finding.excerpt],
        "first": cell.line if cell is not None else finding.excerpt_line,
        "marks": marks,
        "on": f"on {', '.join(finding.accelerators)}" if several else "",
    }


def _comparison(document: SurveyComparison) -> str:
    verdict = document.verdict.value if document.verdict is not None else "unfinished"
    blame = f" Most to blame: {document.blame}." if document.blame else ""
    return f"KernelDiff, {document.compared_backend}: {verdict}. {document.why}{blame}"


def _commands(row: SurveyRow) -> Iterator[str]:
    """What shows more of a row."""
    file = shlex.quote(row.path)
    target = shlex.quote(f"{row.path}::{row.target}") if row.target else file
    names = [column.accelerator for column in row.columns if column.accelerator != NO_ACCELERATOR]
    yield f"inductor-debug check {file}" + (f" --accelerator {shlex.quote(names[0])}" if names else "")
    yield f"inductor-debug graph {target} --format svg -o graph.svg"
    for document in row.compared:
        yield f"inductor-debug diff {target} --backend {shlex.quote(document.compared_backend)}"


def _searched(row: SurveyRow) -> str:
    words = [row.model, row.target, row.path, *row.tags, *{finding.rule for finding in row.findings}]
    return " ".join(words).lower()


def _states(row: SurveyRow) -> str:
    words = ["findings" if row.findings else "clean"]
    words += ["unchecked"] if row.checked is Checked.NO else []
    return " ".join([*words, *(["failed"] if failed(row) else [])])


def _worst(row: SurveyRow) -> str:
    if failed(row):
        return "failed"
    ranks = [finding.severity.rank for finding in row.findings]
    return list(Severity)[min(ranks)].value if ranks else ""


def _value(value: object) -> object:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _json(value: Any) -> str:
    """JSON that can stand in a script element whatever it holds."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _text(value: str) -> str:
    return escape(printable(value))
