"""What a survey comes to, beside its table: counts, findings by rule, breaks by reason, and what was not looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug_schema import Checked, SurveyHeader, SurveyRow

from inductor_debug.report.survey.survey_columns import failed, name_of, rules_of
from inductor_debug.rules.amounts import counted


@dataclass(frozen=True, slots=True)
class SurveySummary:
    """The sums of a survey. `rules` counts rows and findings of each rule, `breaks` findings by reason.

    `unchecked` are rows of which nothing ran, each with the reason.
    """

    sentence: str
    rules: list[tuple[str, int, int]]
    breaks: list[tuple[str, int]]
    unchecked: list[tuple[str, str]]


def summary_of(header: SurveyHeader, rows: Sequence[SurveyRow]) -> SurveySummary:
    """Sums up all rows."""
    findings: Counter[str] = Counter()
    having: Counter[str] = Counter()
    breaks: Counter[str] = Counter()
    for row in rows:
        counts = rules_of(row)
        findings.update(counts)
        having.update(counts.keys())
        breaks.update(finding.cause for finding in row.findings if finding.cause)
    models = len({row.model for row in rows})
    whole = sum(row.checked is Checked.YES for row in rows)
    partly = sum(row.checked is Checked.PARTLY for row in rows)
    broken = sum(map(failed, rows))
    parts = [
        counted(models, "model") + (f" of {header.models:,}" if models < header.models else ""),
        f"{whole:,} checked" + (f" and {partly:,} partly" if partly else ""),
        f"{counted(sum(findings.values()), 'finding')} in {counted(sum(bool(row.findings) for row in rows), 'row')}",
        *([f"{broken:,} failed"] if broken else []),
    ]
    return SurveySummary(
        sentence=", ".join(parts),
        rules=[(rule, having[rule], count) for rule, count in findings.most_common()],
        breaks=breaks.most_common(),
        unchecked=[(name_of(row), row.why or row.status.value) for row in rows if row.checked is Checked.NO],
    )


def versions_of(header: SurveyHeader) -> str:
    """`quick, torch 2.13.0, Python 3.11.2, 2 × x86_64, 2026-01-01 12:00 UTC`."""
    torch = f"torch {header.torch}" if header.torch else "torch unknown"
    return f"{header.name}, {torch}, Python {header.python}, {header.machine}, {header.started}"
