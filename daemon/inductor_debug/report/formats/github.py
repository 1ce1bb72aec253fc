"""Workflow commands that GitHub Actions turns into annotations on a pull request.

GitHub reads ten annotations of a kind per step, so the most severe come first and the rest is only counted; the whole
list goes into the step's summary, where the runner offers one. Everything from user code is escaped: a message can
never become a command of its own. What was not checked is a notice at its class.
"""

from __future__ import annotations

from collections.abc import Mapping

from inductor_debug_schema import Checked, Finding, Severity, TargetReport

from inductor_debug.engine.results.target_coverage import remark
from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.run_report import CheckedFile, CheckResult, summary
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.unchecked_classes import coverage_line
from inductor_debug.source.notebooks.reading import place_in_words

PER_KIND = 10
"""How many annotations of a kind GitHub reads per step."""
_SUMMARY_ROWS = 500

_KINDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


class GithubReport:
    """Annotations on the output; the full table in the file that `GITHUB_STEP_SUMMARY` names."""

    def __init__(self, places: FileNames, sources: ShownTexts, environ: Mapping[str, str]) -> None:
        self._places = places
        self._sources = sources
        self._environ = environ

    def file(self, file: CheckedFile) -> str:
        """Nothing: the most severe of all files come first."""
        return ""

    def end(self, result: CheckResult) -> str:
        """The workflow commands, one a line, and a last line that counts what they leave out."""
        findings = sorted((finding for _, finding in result.findings()), key=lambda finding: finding.severity.rank)
        lines = [self._problem(file) for file in result.files if file.problem is not None]
        left = dict.fromkeys(_KINDS.values(), PER_KIND)
        left["error"] -= min(len(lines), PER_KIND)
        lines = lines[:PER_KIND]
        hidden = 0
        for finding in findings:
            kind = _KINDS[finding.severity]
            if left[kind] > 0:
                left[kind] -= 1
                lines.append(self._annotation(kind, finding))
            else:
                hidden += 1
        for file, target in _uncovered(result)[: left["notice"]]:
            lines.append(self._notice(file, target))
        lines += filter(None, [coverage_line(result.files, self._sources)])
        lines.append(summary(result) + (f"; {hidden} not annotated, 10 of a kind are the most" if hidden else ""))
        complaint = self._write_summary(result)
        if complaint:
            lines.append(command("warning", {"title": "inductor-debug"}, complaint))
        return "\n".join(lines) + "\n"

    def _annotation(self, kind: str, finding: Finding) -> str:
        title = f"inductor-debug {finding.rule}"
        cell = self._sources.of(finding.path).cell(finding.range.start.line)
        if cell is not None:  # lines of the file itself are of its JSON
            words = f"{cell}: {finding.message}"
            return command(kind, {"file": self._path(finding.path), "title": title}, printable(words))
        start = self._sources.shown_position(finding.path, finding.range.start)
        end = self._sources.shown_position(finding.path, finding.range.end)
        properties = {"file": self._path(finding.path), "line": start[0], "endLine": end[0]}
        if start[0] == end[0]:
            properties |= {"col": start[1], "endColumn": end[1]}
        return command(kind, {**properties, "title": title}, printable(finding.message))

    def _notice(self, file: CheckedFile, target: TargetReport) -> str:
        properties = {"file": self._path(file.path), "line": target.line + 1, "title": "inductor-debug not-checked"}
        return command("notice", properties, printable(f"{target.name}: {remark(target)}"))

    def _problem(self, file: CheckedFile) -> str:
        return command("error", {"file": self._path(file.path), "title": "inductor-debug"}, file.problem or "")

    def _path(self, path: str) -> str:
        return self._places.in_repository(path) or path

    def _write_summary(self, result: CheckResult) -> str | None:
        """Adds the table to the step's summary; returns why that failed, if it did."""
        target = self._environ.get("GITHUB_STEP_SUMMARY")
        if not target:
            return None
        try:
            with open(target, "a", encoding="utf-8", errors="replace") as file:
                file.write(self._table(result))
        except OSError as error:
            return f"The step's summary cannot be written: {error.strerror or error}"
        return None

    def _table(self, result: CheckResult) -> str:
        lines = [f"### inductor-debug: {summary(result)}", ""]
        findings = [finding for _, finding in result.findings()]
        if findings:
            lines += ["| severity | rule | place | message |", "| --- | --- | --- | --- |"]
        for finding in sorted(findings, key=lambda finding: finding.severity.rank)[:_SUMMARY_ROWS]:
            place = self._sources.location(self._path(finding.path), finding.path, finding.range.start)
            cells = (finding.severity.value, finding.rule, place, finding.message)
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        if len(findings) > _SUMMARY_ROWS:
            lines.append(f"\n{len(findings) - _SUMMARY_ROWS} more.")
        lines += [
            f"\n- `{place}` {_cell(f'{target.name}: {remark(target)}')}"
            for file, target in _uncovered(result)[:_SUMMARY_ROWS]
            for place in [place_in_words(self._path(file.path), file.path, target.line)]
        ]
        return "\n".join(lines) + "\n\n"


def _uncovered(result: CheckResult) -> list[tuple[CheckedFile, TargetReport]]:
    """What was not checked to its end, what was not at all first; of branches not taken the coverage line tells."""
    targets = [(file, target) for file in result.files for target in file.report.targets]
    found = [(file, target) for file, target in targets if remark(target) and not target.untaken]
    return sorted(found, key=lambda item: item[1].checked is not Checked.NO)


def command(kind: str, properties: Mapping[str, object], message: str) -> str:
    """A workflow command: `::error file=model.py,line=3::message`, with GitHub's escapes."""
    listed = ",".join(f"{name}={_escape_property(str(value))}" for name, value in properties.items())
    return f"::{kind} {listed}::{_escape(message)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


def _cell(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    return "<br>".join(escaped.splitlines())
