"""`check --format llm`: what was found in as few words as carry it, for language models and whoever pays by the word.

The same data in two forms: `BriefFinding` for programs (`inductor-debug mcp` answers with it), a line of text for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug_schema import Checked, Finding, Range

from inductor_debug.engine.results.target_coverage import remark
from inductor_debug.report.cells import one_line, shortened
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.run_report import CheckedFile, CheckResult, summary
from inductor_debug.report.source_characters import ShownTexts

_LONGEST = 600
_MOST_RELATED = 4
_LONGEST_CODE = 120


@dataclass(frozen=True)
class BriefFinding:
    """A finding: where (`model.py:34:18`), the code there, what it is about, and places that belong to it."""

    rule: str
    severity: str
    place: str
    code: str
    message: str
    target: str
    operation: str
    operations: int
    related: list[str]
    fingerprint: str


class BriefFindings:
    """Makes them."""

    def __init__(self, places: FileNames, sources: ShownTexts) -> None:
        self._places, self._sources = places, sources

    def of(self, finding: Finding) -> BriefFinding:
        """One finding, in brief."""
        related = [
            f"{self._place(known.path, known.range)} {shortened(one_line(known.message), _LONGEST)}"
            for known in finding.related[:_MOST_RELATED]
        ]
        return BriefFinding(
            rule=finding.rule,
            severity=finding.severity.value,
            place=self._place(finding.path, finding.range),
            code=shortened(one_line(self._sources.of(finding.path).excerpt(finding.range)), _LONGEST_CODE),
            message=shortened(one_line(finding.message), _LONGEST),
            target=finding.target,
            operation=finding.op or "",
            operations=finding.count,
            related=related,
            fingerprint=finding.fingerprint,
        )

    def _place(self, path: str, area: Range) -> str:
        return self._sources.location(self._places.shown(path), path, area.start)


def unchecked(files: Sequence[CheckedFile]) -> list[str]:
    """What was not checked to its end, each with why: `model.py::Net partly checked: …`."""
    return [
        f"{file.shown}::{target.name} {shortened(remark(target), _LONGEST)}"
        for file in files
        for target in file.report.targets
        if target.checked is not Checked.YES
    ] + [f"{file.shown} {file.problem}" for file in files if file.problem is not None]


class LlmReport:
    """The lines of a run: `place severity rule | code | message | operation ×n`."""

    def __init__(self, places: FileNames, sources: ShownTexts) -> None:
        self._brief = BriefFindings(places, sources)

    def file(self, file: CheckedFile) -> str:
        """The findings of a file."""
        return "".join(f"{line}\n" for finding in file.findings for line in _lines(self._brief.of(finding)))

    def end(self, result: CheckResult) -> str:
        """What was not checked, and the sum of it."""
        return "".join(f"{line}\n" for line in (*unchecked(result.files), summary(result)))


def _lines(finding: BriefFinding) -> list[str]:
    times = f" ×{finding.operations}" if finding.operations > 1 else ""
    parts = (f"{finding.place} {finding.severity} {finding.rule}", finding.code, finding.message)
    operation = f"{finding.operation}{times}" if finding.operation else ""
    return [" | ".join(filter(None, (*parts, operation))), *(f"  {related}" for related in finding.related)]
