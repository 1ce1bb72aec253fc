"""What the daemon has told of one file as a page to read: the report of `check --format html`."""

from __future__ import annotations

import os
from datetime import datetime, timezone

from inductor_debug_schema import FileReport, FileStatus, Severity, TargetReport, from_wire

from inductor_debug import __version__
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.formats.html_report import HtmlReport
from inductor_debug.report.run_report import CheckedFile, CheckResult, Tool
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.rules.registry import known_page
from inductor_debug.server.rpc.told_findings import finding_of
from inductor_debug.web.shown_files import ShownFile


def findings_page(file: ShownFile) -> str:
    """The page; "" as long as nothing is known. Links to places are `file:` URIs, with the range beside them."""
    analysis = file.analysis
    if analysis is None:
        return ""
    findings = [finding_of(file.path.as_uri(), one) for one in file.diagnostics]
    targets = [from_wire(TargetReport, target) for target in analysis["targets"]]
    ended = FileStatus(analysis["status"]) if analysis["status"] else FileStatus.CLEAN
    report = FileReport(str(file.path), ended, targets, findings)
    checked = CheckedFile(file.name, report, analysis["accelerator"], analysis["seconds"], explicit=True)
    tool = Tool("inductor-debug", __version__)
    moment = datetime.now(timezone.utc)
    result = CheckResult((checked,), tool, analysis["seconds"], Severity.WARNING, moment)
    places = FileNames(os.getcwd(), "", {str(file.path): file.name})
    return HtmlReport(places, ShownTexts(), known_page).end(result)
