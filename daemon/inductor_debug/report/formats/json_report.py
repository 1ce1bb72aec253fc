"""The `check --format json` document, exactly as CONTRACT fixes it, plus a few additions.

`files[].path` is as given; a finding's `path` is the same string where it lies in that file, else relative to the
working folder if below it, else absolute. Additions to the contract: `accelerator` and `seconds` of a file, `notes` of
a stage, `shortfall` and `at` of one that saw less than the whole, `link` of a finding, `problem` of a file that could
not be looked at, `skipped` (files of folders that were not opened, and why), `summary.baseline`, `summary.skipped`.
"""

from __future__ import annotations

import json
from typing import Any

from inductor_debug_schema import Finding, Position, Range, Related, Severity, TargetReport, to_wire

from inductor_debug.engine.selection.selection import words
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.run_report import CheckedFile, CheckResult, SkippedFile
from inductor_debug.source.notebooks.reading import place_of

SCHEMA = 1


class JsonReport:
    """One JSON document for the whole run."""

    def __init__(self, places: FileNames) -> None:
        self._places = places

    def file(self, file: CheckedFile) -> str:
        """Nothing: the document is written at the end."""
        return ""

    def end(self, result: CheckResult) -> str:
        """The document, indented, with a line break at its end."""
        return json.dumps(self.document(result), indent=1, ensure_ascii=True) + "\n"

    def document(self, result: CheckResult) -> dict[str, Any]:
        """The document as plain dicts and lists."""
        return {
            "schema": SCHEMA,
            "tool": to_wire(result.tool),
            "accelerator": result.accelerator,
            "files": [self._file(file) for file in result.files],
            "skipped": [self._skipped(file) for file in result.skipped],
            "summary": _summary(result),
        }

    def _file(self, file: CheckedFile) -> dict[str, Any]:
        document: dict[str, Any] = {
            "path": file.shown,
            "status": file.report.status.value,
            "accelerator": file.accelerator,
            "seconds": round(file.seconds, 4),
            "targets": [self._target(target) for target in file.report.targets],
            "findings": [finding_document(finding, self._places) for finding in file.findings],
        }
        if file.problem is not None:
            document["problem"] = file.problem
        return document

    def _skipped(self, file: SkippedFile) -> dict[str, Any]:
        deed = file.skip.deed
        return {
            "path": file.shown,
            "reason": file.skip.reason.value,
            "effect": deed.effect.value if deed is not None else None,
            "line": deed.line if deed is not None else None,
            "why": words(file.skip),
        }

    def _target(self, target: TargetReport) -> dict[str, Any]:
        document: dict[str, Any] = to_wire(target)
        for stage in document["stages"]:
            stage["seconds"] = round(stage["seconds"], 4)
            if stage["at"] is not None:
                stage["at"]["path"] = self._places.shown(stage["at"]["path"])
            for seen in stage["elsewhere"]:
                seen["path"] = self._places.shown(seen["path"])
        return document


def finding_document(finding: Finding, places: FileNames) -> dict[str, Any]:
    """A finding as the contract has it, in every JSON document that holds findings."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "path": places.shown(finding.path),
        "range": to_wire(finding.range),
        "cell": _cell(finding.path, finding.range),
        "stage": finding.stage.value,
        "target": finding.target,
        "op": finding.op,
        "direction": finding.direction.value if finding.direction is not None else None,
        "inferred": finding.inferred,
        "module": finding.module,
        "count": finding.count,
        "related": [_related(related, places) for related in finding.related],
        "facts": None if finding.facts is None else _shown(to_wire(finding.facts), places),
        "fingerprint": finding.fingerprint,
        "link": finding.link,
    }


def _shown(value: Any, places: FileNames) -> Any:
    """The facts with paths as they are shown everywhere else."""
    if isinstance(value, dict):
        return {key: places.shown(item) if key == "path" else _shown(item, places) for key, item in value.items()}
    return [_shown(item, places) for item in value] if isinstance(value, list) else value


def _related(related: Related, places: FileNames) -> dict[str, Any]:
    return {
        "path": places.shown(related.path),
        "range": to_wire(related.range),
        "cell": _cell(related.path, related.range),
        "message": related.message,
    }


def _cell(path: str, area: Range) -> dict[str, Any] | None:
    """The number of a notebook's cell, and the range within it; None in other files."""
    place = place_of(path, area.start.line)
    if place is None:
        return None
    up = area.start.line - place.line
    start, end = (Position(at.line - up, at.character) for at in (area.start, area.end))
    return {"number": place.cell, "range": to_wire(Range(start, end))}


def _summary(result: CheckResult) -> dict[str, Any]:
    document: dict[str, Any] = {
        "files": len(result.files),
        "skipped": len(result.skipped),
        "findings": len(result.findings()),
        "errors": result.count(Severity.ERROR),
        "warnings": result.count(Severity.WARNING),
        "seconds": round(result.seconds, 4),
    }
    if result.baseline is not None:
        document["baseline"] = {"hidden": result.baseline.hidden, "fixed": result.baseline.fixed}
    return document
