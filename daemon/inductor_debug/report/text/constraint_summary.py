"""Findings of one file summed up by rule: `analyze --type constraints`."""

from __future__ import annotations

from collections.abc import Iterator

from inductor_debug_schema import FileReport, Finding
from inductor_debug_schema.answers.constraints_document import ConstraintPlace, ConstraintsDocument, ConstraintSummary

from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.rules.amounts import counted

SCHEMA = 1


def constraints_of(report: FileReport, accelerator: str | None) -> ConstraintsDocument:
    """The document of one file."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    rules = [_rule(rule, found) for rule, found in by_rule.items()]
    return ConstraintsDocument(
        schema=SCHEMA,
        path=report.path,
        status=report.status,
        accelerator=accelerator,
        targets=[target.name for target in report.targets],
        rules=sorted(rules, key=lambda summary: (-summary.ops, summary.rule)),
    )


def _rule(rule: str, found: list[Finding]) -> ConstraintSummary:
    return ConstraintSummary(
        rule=rule,
        severity=min((finding.severity for finding in found), key=lambda severity: severity.rank),
        findings=len(found),
        ops=sum(finding.count for finding in found),
        places=[
            ConstraintPlace(
                message=finding.message,
                path=finding.path,
                range=finding.range,
                target=finding.target,
                stage=finding.stage,
                op=finding.op,
                count=finding.count,
                fingerprint=finding.fingerprint,
            )
            for finding in found
        ],
    )


class ConstraintsText:
    """Writes such documents for people."""

    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places = places
        self._sources = sources
        self._paint = styler.paint

    def text(self, document: ConstraintsDocument) -> str:
        """One document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: ConstraintsDocument) -> Iterator[str]:
        heading = f"{self._places.shown(document.path)}, accelerator {document.accelerator or 'none'}"
        yield self._paint(printable(heading), Role.HEADING)
        if not document.rules:
            yield "  nothing found"
        for summary in document.rules:
            counts = f"{counted(summary.findings, 'place')}, {counted(summary.ops, 'op')}"
            yield f"  {self._paint(summary.rule, Role.PLACE)} ({summary.severity.value}): {counts}"
            for place in summary.places:
                where = self._sources.location(self._places.shown(place.path), place.path, place.range.start)
                yield printable(f"    {where}: {place.message}")
