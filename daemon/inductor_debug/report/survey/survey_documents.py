"""A survey for programs: one JSON document, and CSV with a line for each row and a column for each rule."""

from __future__ import annotations

import csv
import io
import json

from inductor_debug_schema import to_wire

from inductor_debug.engine.survey.results_file import SurveyResults
from inductor_debug.report.survey.survey_columns import SurveyField, fields_of, rule_fields


def survey_json(results: SurveyResults) -> str:
    """The header and all rows."""
    document = {"schema": results.header.schema, "survey": to_wire(results.header), "rows": to_wire(results.rows)}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def survey_csv(results: SurveyResults) -> str:
    """Plain numbers (bytes, seconds, shares from 0 to 1); what nobody knows is empty."""
    rows = results.rows
    fields = [
        *fields_of(rows)[:1],
        SurveyField("target", "target", lambda row: row.target, "text"),
        SurveyField("path", "path", lambda row: row.path, "text"),
        SurveyField("tags", "tags", lambda row: " ".join(row.tags), "text"),
        *fields_of(rows)[1:],
        SurveyField("recompile_cause", "", lambda row: row.recompile_cause, "text"),
        SurveyField("why", "", lambda row: row.why, "text"),
        SurveyField("seconds", "", lambda row: row.seconds),
        *rule_fields(rows),
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.key for field in fields])
    for row in rows:
        writer.writerow(["" if (value := field.value(row)) is None else _plain(value) for field in fields])
    return text.getvalue()


def _plain(value: object) -> object:
    """Text that a spreadsheet would take for a formula is kept from being one."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value
