"""Findings of one file summed up by rule: `analyze --type constraints`.

The document: `{"schema", "path", "status", "accelerator", "targets": [names], "rules": [{"rule", "severity",
"findings", "ops", "places": [{"message", "path", "range", "target", "stage", "op", "count", "fingerprint"}]}]}`, most
ops first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inductor_debug_schema import FileReport, Finding, Range, from_wire, to_wire

from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.rules.amounts import counted

SCHEMA = 1


def constraints_of(report: FileReport, accelerator: str | None) -> list[dict[str, Any]]:
    """The document of one file, with absolute paths."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    rules = [_rule(rule, found) for rule, found in by_rule.items()]
    return [
        {
            "schema": SCHEMA,
            "path": report.path,
            "status": report.status.value,
            "accelerator": accelerator,
            "targets": [target.name for target in report.targets],
            "rules": sorted(rules, key=lambda entry: (-entry["ops"], entry["rule"])),
        }
    ]


def _rule(rule: str, found: list[Finding]) -> dict[str, Any]:
    return {
        "rule": rule,
        "severity": min((finding.severity for finding in found), key=lambda severity: severity.rank).value,
        "findings": len(found),
        "ops": sum(finding.count for finding in found),
        "places": [
            {
                "message": finding.message,
                "path": finding.path,
                "range": to_wire(finding.range),
                "target": finding.target,
                "stage": finding.stage.value,
                "op": finding.op,
                "count": finding.count,
                "fingerprint": finding.fingerprint,
            }
            for finding in found
        ],
    }


class ConstraintsText:
    """Writes such documents for people."""

    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places = places
        self._sources = sources
        self._paint = styler.paint

    def text(self, document: dict[str, Any]) -> str:
        """One document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: dict[str, Any]) -> Iterator[str]:
        heading = f"{self._places.shown(document['path'])}, accelerator {document['accelerator'] or 'none'}"
        yield self._paint(printable(heading), Role.HEADING)
        if not document["rules"]:
            yield "  nothing found"
        for entry in document["rules"]:
            counts = f"{counted(entry['findings'], 'place')}, {counted(entry['ops'], 'op')}"
            yield f"  {self._paint(entry['rule'], Role.PLACE)} ({entry['severity']}): {counts}"
            for place in entry["places"]:
                area = from_wire(Range, place["range"])
                where = self._sources.location(self._places.shown(place["path"]), place["path"], area.start)
                yield printable(f"    {where}: {place['message']}")
