"""SARIF 2.1.0 for code scanning services, written by hand.

What GitHub asks for beyond the standard is observed: URIs relative to the repository, at least one location with a line
of at least 1, stable partial fingerprints, one run with an `automationDetails.id`. A crash or a timeout is told twice,
as a result that a person sees at a line, and as a notification that says that the tool's run was not complete. Targets
that were not checked, or not to their end, are notifications alone: nothing was found in them, nor was it looked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from inductor_debug_schema import Checked, Finding, Range, Related, Severity, UntakenBlock

from inductor_debug.engine.results.target_coverage import remark
from inductor_debug.engine.selection.selection import words
from inductor_debug.report.file_names import FileNames, file_uri
from inductor_debug.report.run_report import CheckedFile, CheckResult, SkippedFile, is_about_the_run
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.rules.registry import Page
from inductor_debug.rules.words.untaken_words import sentence_of

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
FINGERPRINT = "inductorDebug/v1"

_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}
_COVERAGE_LEVELS = {Checked.NO: "warning", Checked.PARTLY: "note"}


class SarifReport:
    """One SARIF log with one run. `page_of` gives a rule's page, or None for an unknown rule."""

    def __init__(self, places: FileNames, sources: ShownTexts, page_of: Callable[[str], Page | None]) -> None:
        self._places = places
        self._sources = sources
        self._page_of = page_of

    def file(self, file: CheckedFile) -> str:
        """Nothing: the log is written at the end."""
        return ""

    def end(self, result: CheckResult) -> str:
        """The log as indented JSON."""
        return json.dumps(self.document(result), indent=1, ensure_ascii=True) + "\n"

    def document(self, result: CheckResult) -> dict[str, Any]:
        """The log as plain dicts and lists."""
        return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [self._run(result)]}

    def _run(self, result: CheckResult) -> dict[str, Any]:
        findings = [finding for _, finding in result.findings()]
        rules = sorted({finding.rule for finding in findings})
        index = {rule: number for number, rule in enumerate(rules)}
        return {
            "tool": {
                "driver": {
                    "name": result.tool.name,
                    "version": result.tool.version,
                    "semanticVersion": result.tool.version,
                    "rules": [self._rule(rule) for rule in rules],
                    "properties": {"torch": result.tool.torch, "python": result.tool.python},
                }
            },
            "automationDetails": {"id": f"{result.tool.name}/{result.accelerator or 'none'}/"},
            "invocations": [self._invocation(result)],
            "originalUriBaseIds": {ROOT: {"uri": file_uri(self._places.root).rstrip("/") + "/"}},
            "columnKind": "utf16CodeUnits",
            "results": [self._result(finding, index[finding.rule]) for finding in findings],
        }

    def _rule(self, rule: str) -> dict[str, Any]:
        name = "".join(word.capitalize() for word in rule.split("-"))
        page = self._page_of(rule)
        if page is None:
            return {"id": rule, "name": name}
        return {
            "id": rule,
            "name": name,
            "shortDescription": {"text": page.summary},
            "fullDescription": {"text": page.summary},
            "help": {"text": page.text, "markdown": page.text},
        }

    def _result(self, finding: Finding, rule_index: int) -> dict[str, Any]:
        result: dict[str, Any] = {
            "ruleId": finding.rule,
            "ruleIndex": rule_index,
            "level": _LEVELS[finding.severity],
            "message": {"text": self._message(finding.path, finding.range, finding.message)},
            "locations": [self._location(finding)],
            "properties": {
                "stage": finding.stage.value,
                "target": finding.target,
                "op": finding.op,
                "module": finding.module,
                "count": finding.count,
            },
        }
        if finding.related:
            result["relatedLocations"] = [
                self._related(number, related) for number, related in enumerate(finding.related, 1)
            ]
        if finding.fingerprint:
            result["partialFingerprints"] = {FINGERPRINT: finding.fingerprint}
        return result

    def _location(self, finding: Finding) -> dict[str, Any]:
        location: dict[str, Any] = {"physicalLocation": self._physical(finding.path, finding.range, snippet=True)}
        if finding.target:
            name = f"{finding.target}.{finding.module}" if finding.module else finding.target
            location["logicalLocations"] = [{"name": finding.target, "fullyQualifiedName": name}]
        return location

    def _related(self, number: int, related: Related) -> dict[str, Any]:
        return {
            "id": number,
            "message": {"text": self._message(related.path, related.range, related.message)},
            "physicalLocation": self._physical(related.path, related.range),
        }

    def _message(self, path: str, area: Range, message: str) -> str:
        """The message, with its place where that is in a cell of a notebook."""
        cell = self._sources.of(path).cell(area.start.line)
        return message if cell is None else f"{cell}: {message}"

    def _physical(self, path: str, area: Range, *, snippet: bool = False) -> dict[str, Any]:
        if self._sources.of(path).cell(area.start.line) is not None:  # lines of the file itself are of its JSON
            return {"artifactLocation": self._artifact(path)}
        region: dict[str, Any] = {
            "startLine": area.start.line + 1,
            "startColumn": area.start.character + 1,
            "endLine": area.end.line + 1,
            "endColumn": area.end.character + 1,
        }
        text = self._sources.of(path).excerpt(area) if snippet else ""
        if text:
            region["snippet"] = {"text": text}
        return {"artifactLocation": self._artifact(path), "region": region}

    def _artifact(self, path: str) -> dict[str, Any]:
        location = {"uri": self._places.uri(path)}
        if self._places.in_repository(path) is not None:
            location["uriBaseId"] = ROOT
        return location

    def _invocation(self, result: CheckResult) -> dict[str, Any]:
        return {
            "executionSuccessful": not any(file.unanalysed() for file in result.files),
            "exitCode": int(result.exit_code()),
            "startTimeUtc": _utc(result.started),
            "endTimeUtc": _utc(result.started + timedelta(seconds=result.seconds)),
            "workingDirectory": {"uri": file_uri(self._places.working_folder).rstrip("/") + "/"},
            "toolExecutionNotifications": [
                *(
                    notification
                    for file in result.files
                    for notification in (*self._failures(file), *self._uncovered(file))
                ),
                *map(self._not_opened, result.skipped),
            ],
        }

    def _not_opened(self, file: SkippedFile) -> dict[str, Any]:
        return {
            "level": "note",
            "descriptor": {"id": "not-opened"},
            "message": {"text": f"{file.shown} was not opened: {words(file.skip)}"},
            "locations": [{"physicalLocation": {"artifactLocation": self._artifact(file.path)}}],
        }

    def _failures(self, file: CheckedFile) -> list[dict[str, Any]]:
        if not file.unanalysed():
            return []
        causes = [(finding.rule, finding.message) for finding in file.findings if is_about_the_run(finding)]
        if file.problem is not None or not causes:
            causes.append(("not-analysed", file.problem or f"{file.shown} could not be analysed"))
        return [
            {
                "level": "error",
                "descriptor": {"id": rule},
                "message": {"text": message},
                "locations": [{"physicalLocation": {"artifactLocation": self._artifact(file.path)}}],
            }
            for rule, message in causes
        ]

    def _untaken(self, file: CheckedFile, block: UntakenBlock) -> dict[str, Any]:
        return {
            "physicalLocation": {
                "artifactLocation": self._artifact(file.path),
                "region": {"startLine": block.range.start.line + 1, "endLine": block.range.end.line + 1},
            },
            "message": {"text": sentence_of(block, file.path)},
        }

    def _uncovered(self, file: CheckedFile) -> list[dict[str, Any]]:
        return [
            {
                "level": _COVERAGE_LEVELS[target.checked],
                "descriptor": {"id": "not-checked"},
                "message": {"text": f"{target.name}: {remark(target)}"},
                "locations": [
                    {
                        "physicalLocation": {
                            "artifactLocation": self._artifact(file.path),
                            "region": {"startLine": target.line + 1},
                        }
                    },
                    *(self._untaken(file, block) for block in target.untaken),
                ],
            }
            for target in file.report.targets
            if remark(target)
        ]


def _utc(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
