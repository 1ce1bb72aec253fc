"""JUnit XML for CI services that know nothing better: a suite for each file, a case for each of its targets.

A case fails when one of its findings is at or above the failing severity, is an error when the target could not be
analysed, and is skipped where nothing of it was checked or a file offers no target: what passes has run. Files that
were not opened are skipped cases of a suite of their own. Milder findings, and what was not looked at of a case, are
its output. Only elements and attributes that both Ant's and Jenkins' schemas know are written, and nothing that XML 1.0
cannot hold.
"""

from __future__ import annotations

import re
import socket
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

from inductor_debug_schema import Checked, FileStatus, Finding

from inductor_debug.engine.results.target_coverage import remark
from inductor_debug.engine.selection.selection import words
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.run_report import CheckedFile, CheckResult, is_about_the_run
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.rules.amounts import counted

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
WHOLE_FILE = "(file)"
"""The name of the case that stands for a file rather than for one of its targets."""
NOT_OPENED = "(not opened)"
"""The name of the suite of the files of folders that were passed over."""


@dataclass
class _Case:
    name: str
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    problem: str | None = None
    skipped: str | None = None
    partly: str | None = None


class JunitReport:
    """One XML document for the whole run."""

    def __init__(self, places: FileNames, sources: ShownTexts) -> None:
        self._places = places
        self._sources = sources

    def file(self, file: CheckedFile) -> str:
        """Nothing: the document is written at the end."""
        return ""

    def end(self, result: CheckResult) -> str:
        """The document, indented."""
        suites = ElementTree.Element("testsuites", name="inductor-debug")
        for number, file in enumerate(result.files):
            self._suite(suites, number, file, result)
        if result.skipped:
            self._not_opened(suites, len(result.files), result)
        for kind in ("tests", "failures", "errors"):
            suites.set(kind, str(sum(int(suite.get(kind, "0")) for suite in suites)))
        suites.set("time", f"{result.seconds:.3f}")
        ElementTree.indent(suites)
        text = ElementTree.tostring(suites, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'

    def _suite(self, parent: ElementTree.Element, number: int, file: CheckedFile, result: CheckResult) -> None:
        suite = ElementTree.SubElement(parent, "testsuite")
        properties = ElementTree.SubElement(suite, "properties")
        for name, value in (("accelerator", file.accelerator or "none"), ("torch", result.tool.torch or "")):
            ElementTree.SubElement(properties, "property", name=name, value=_clean(value))
        outcomes = [self._case(suite, case, file, result) for case in _cases(file)]
        _finish(suite, file.shown, number, outcomes, file.seconds, result)

    def _not_opened(self, parent: ElementTree.Element, number: int, result: CheckResult) -> None:
        suite = ElementTree.SubElement(parent, "testsuite")
        ElementTree.SubElement(suite, "properties")
        for file in result.skipped:
            case = ElementTree.SubElement(
                suite, "testcase", name=WHOLE_FILE, classname=_clean(file.shown), time="0.000"
            )
            ElementTree.SubElement(case, "skipped", message=_clean(f"not opened: {words(file.skip)}"))
        _finish(suite, NOT_OPENED, number, ["skipped"] * len(result.skipped), 0.0, result)

    def _case(self, suite: ElementTree.Element, case: _Case, file: CheckedFile, result: CheckResult) -> str:
        element = ElementTree.SubElement(
            suite, "testcase", name=_clean(case.name), classname=_clean(file.shown), time=f"{case.seconds:.3f}"
        )
        failing = [finding for finding in case.findings if result.fails(finding)]
        milder = [finding for finding in case.findings if not result.fails(finding)]
        outcome = "passed"
        if case.problem is not None:
            outcome = "error"
            self._verdict(element, outcome, case.problem, failing, "not-analysed")
        elif failing:
            outcome = "failure"
            rules = ", ".join(dict.fromkeys(finding.rule for finding in failing))
            self._verdict(element, outcome, f"{counted(len(failing), 'finding')}: {rules}", failing, failing[0].rule)
        elif case.skipped is not None:
            outcome = "skipped"
            ElementTree.SubElement(element, "skipped", message=_clean(case.skipped))
        output = [case.partly] if case.partly is not None else []
        output += [self._lines(milder)] if milder else []
        if output:
            ElementTree.SubElement(element, "system-out").text = _clean("\n".join(output))
        return outcome

    def _verdict(
        self, element: ElementTree.Element, tag: str, message: str, findings: list[Finding], kind: str
    ) -> None:
        verdict = ElementTree.SubElement(element, tag, message=_clean(message), type=kind)
        verdict.text = self._lines(findings) if findings else _clean(message)

    def _lines(self, findings: list[Finding]) -> str:
        lines = []
        for finding in findings:
            shown = self._places.shown(finding.path)
            place = self._sources.location(shown, finding.path, finding.range.start)
            lines.append(f"{place}: {finding.severity.value}[{finding.rule}] {finding.message}")
        return _clean("\n".join(lines))


def _finish(
    suite: ElementTree.Element, name: str, number: int, outcomes: list[str], seconds: float, result: CheckResult
) -> None:
    """Gives a suite what every suite has: its name, its number, and how its cases ended."""
    attributes = {
        "name": _clean(name),
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
        "time": f"{seconds:.3f}",
        "timestamp": result.started.strftime("%Y-%m-%dT%H:%M:%S"),
        "hostname": _clean(socket.gethostname() or "localhost"),
        "id": str(number),
        "package": _clean(name),
    }
    suite.attrib.update(attributes)
    ElementTree.SubElement(suite, "system-out")
    ElementTree.SubElement(suite, "system-err")


def _cases(file: CheckedFile) -> list[_Case]:
    """The cases of a file: its targets, and one for the file where something is said of no target."""
    stuck = set(file.unanalysed())
    cases = {}
    for target in file.report.targets:
        cases[target.name] = case = _Case(target.name, sum(stage.seconds for stage in target.stages))
        if target.checked is Checked.NO:
            case.skipped = remark(target)
        elif target.checked is Checked.PARTLY:
            case.partly = remark(target)
    for finding in file.findings:
        name = finding.target or WHOLE_FILE
        cases.setdefault(name, _Case(name)).findings.append(finding)
    if "" in stuck or not cases:
        cases.setdefault(WHOLE_FILE, _Case(WHOLE_FILE))
    for name in stuck:
        case = cases[name or WHOLE_FILE]
        cause = next((finding.message for finding in case.findings if is_about_the_run(finding)), None)
        case.problem = file.problem or cause or case.partly or case.skipped or f"{file.shown} could not be analysed"
    if file.report.status is FileStatus.NO_TARGET and WHOLE_FILE in cases:
        cases[WHOLE_FILE].skipped = "nothing in it to compile"
    return list(cases.values())


def _clean(text: str) -> str:
    """`text` without the characters that XML 1.0 cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
