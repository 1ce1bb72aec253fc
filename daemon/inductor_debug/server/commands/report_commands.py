"""The command `inductorDebug.report`: checks a file and keeps what was found as one page to pass on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import ArtifactKind, ArtifactMade, ReportAnswer, Severity

from inductor_debug import __version__
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.server.commands.ordering import Token, extended, options_of, outcome, perform
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

OPTIONS = ("uri", "format")
_MEDIA_TYPES = {"html": "text/html", "json": "application/json"}


async def report(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Checks: `{uri, format?}` in, the outcome with a reference to the report out; `format` is "html" or "json".

    Links in the report are relative to `root`, the project's.
    What runs is the text of the open document where that may run, else the file on disk.
    """
    options = options_of(arguments)
    form = options.get("format") or "html"
    if form not in _MEDIA_TYPES:
        raise RequestError(f"`format` must be one of {', '.join(_MEDIA_TYPES)}.", INVALID_PARAMS)
    moment, began = datetime.now(timezone.utc), time.perf_counter()
    performed = await perform(server, arguments, Order(), token=token, title="Checking")
    text = _rendered(server, performed, form, moment, time.perf_counter() - began)
    path = performed.report.path
    made = ArtifactMade(ArtifactKind.REPORTS, "report", f".{form}", _MEDIA_TYPES[form], text.encode())
    kept = server.engine.keep(path, [made])
    root = server.configuration.settings_for(path).project_root
    known = outcome(options, performed)
    return extended(ReportAnswer, known, notes=[*known.notes, *kept.notes], artifacts=kept.references, root=root)


def _rendered(server: Server, performed: Performed, form: str, moment: datetime, seconds: float) -> str:
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
    renderer: Renderer = HtmlReport(places, sources, known_page) if form == "html" else JsonReport(places)
    return renderer.file(file) + renderer.end(result)
