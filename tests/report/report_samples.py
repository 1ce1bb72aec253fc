"""Made-up results for the tests of the reports."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from inductor_debug.report.file_names import FileNames
from inductor_debug.report.run_report import CheckedFile, CheckResult, Tool
from inductor_debug_schema import (
    Checked,
    FileReport,
    FileStatus,
    Finding,
    Position,
    Range,
    Related,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
)

TOOL = Tool("inductor-debug", "0.1.0", "2.13.0", "3.11.2")


def span(line: int, start: int, end: int, end_line: int | None = None) -> Range:
    return Range(Position(line, start), Position(line if end_line is None else end_line, end))


def span_of(text: str, part: str, occurrence: int = 0) -> Range:
    """The range of `part` in `text`, in UTF-16 units."""
    at = -1
    for _ in range(occurrence + 1):
        at = text.index(part, at + 1)
    return Range(_position(text, at), _position(text, at + len(part)))


def _position(text: str, index: int) -> Position:
    before = text[:index].replace("\r\n", "\n").replace("\r", "\n")
    line = before.rpartition("\n")[2]
    return Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


def finding(path: Path | str, area: Range, **values: Any) -> Finding:
    defaults: dict[str, Any] = {
        "rule": "dtype",
        "severity": Severity.WARNING,
        "message": "float64 is not supported by mock",
        "stage": Stage.PREVIEW,
        "target": "Model",
        "op": "aten._to_copy.default",
        "module": "encoder.layer.0",
        "count": 12,
        "fingerprint": "0123456789abcdef",
    }
    return Finding(path=str(path), range=area, **{**defaults, **values})


def related(path: Path | str, area: Range, message: str = "declared here") -> Related:
    return Related(str(path), area, message)


def target(
    name: str = "Model",
    line: int = 3,
    *,
    state: StageState = StageState.DONE,
    coverage: Checked = Checked.YES,
    why: str = "",
) -> TargetReport:
    stages = [
        StageReport(Stage.PREVIEW, state, 0.05, ops=40),
        StageReport(Stage.MOCK, state, 0.75, graphs=2, ops=41, graph_breaks=1, notes=["a device was redirected"]),
    ]
    return TargetReport(name, line, stages, checked=coverage, why=why)


def checked(path: Path | str, *findings: Finding, shown: str | None = None, **values: Any) -> CheckedFile:
    status = values.pop("status", FileStatus.FINDINGS if findings else FileStatus.CLEAN)
    targets = values.pop("targets", [target()])
    report = FileReport(path=str(path), status=status, targets=targets, findings=list(findings))
    return CheckedFile(shown=shown or Path(path).name, report=report, accelerator="mock", seconds=1.5, **values)


def result(*files: CheckedFile, **values: Any) -> CheckResult:
    defaults: dict[str, Any] = {
        "tool": TOOL,
        "seconds": 1.234,
        "failing": Severity.WARNING,
        "started": datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=timezone.utc),
    }
    return CheckResult(files=files, **{**defaults, **values})


def places(folder: Path, *files: CheckedFile) -> FileNames:
    return FileNames(str(folder), str(folder), {file.path: file.shown for file in files})
