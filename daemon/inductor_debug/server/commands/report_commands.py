"""The command `inductorDebug.report`: checks a file and keeps what was found as one page to pass on."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from inductor_debug_schema import ArtifactKind, ArtifactMade, ReportAnswer, Severity
from inductor_debug_schema.commands.command_requests import ReportFormat, ReportRequest

from inductor_debug import __version__
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.ordering import extended, outcome, perform

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

_MEDIA_TYPES = {ReportFormat.HTML: "text/html", ReportFormat.JSON: "application/json"}


async def report(call: Call[ReportRequest]) -> ReportAnswer:
    """Checks a file; what runs is the text of the open document where that may run, else what is on disk."""
    server, form = call.server, call.request.format
    moment, began = datetime.now(timezone.utc), time.perf_counter()
    performed = await perform(call, Order(), title="Checking")
    text = _rendered(server, performed, form, moment, time.perf_counter() - began)
    path = performed.report.path
    made = ArtifactMade(ArtifactKind.REPORTS, "report", f".{form.value}", _MEDIA_TYPES[form], text.encode())
    kept = server.engine.keep(path, [made])
    root = server.configuration.settings_for(path).project_root
    known = outcome(call.request.uri, performed)
    return extended(ReportAnswer, known, notes=[*known.notes, *kept.notes], artifacts=kept.references, root=root)


def _rendered(server: Server, performed: Performed, form: ReportFormat, moment: datetime, seconds: float) -> str:
    found = performed.report
    # Imported only here: an editor waits while the server starts.
    from inductor_debug.report.file_names import FileNames
    from inductor_debug.report.formats.html_report import HtmlReport
    from inductor_debug.report.formats.json_report import JsonReport
    from inductor_debug.report.run_report import CheckedFile, CheckResult, Renderer, Tool
    from inductor_debug.report.source_characters import ShownTexts
    from inductor_debug.rules.registry import known_page

    settings = server.configuration.settings_for(found.path)
    places = FileNames(settings.project_root, settings.project_root)
    file = CheckedFile(places.shown(found.path), found, settings.chosen_accelerator, seconds, explicit=True)
    result = CheckResult((file,), Tool("inductor-debug", __version__), seconds, Severity.WARNING, moment)
    sources = ShownTexts({found.path: performed.text})
    renderer: Renderer = HtmlReport(places, sources, known_page) if form is ReportFormat.HTML else JsonReport(places)
    return renderer.file(file) + renderer.end(result)
