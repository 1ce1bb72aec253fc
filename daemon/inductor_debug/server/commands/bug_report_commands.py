"""The command `inductorDebug.bugReport`, in two steps: the user sees what is in a report before it is written.

Reports that were gathered stay in memory until they are written or newer ones push them out.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from inductor_debug_schema.commands.command_answers import GatheredBugReport, WrittenBugReport
from inductor_debug_schema.commands.command_requests import BugReportRequest, WriteBugReportRequest

from inductor_debug.engine.bug_report.bug_report import BugReport, WantedReport, gather, write
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.ordering import Bar, file_of
from inductor_debug.server.commands.repro_commands import shown_finding
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

_MOST_KEPT = 3


async def bug_report(call: Call[WriteBugReportRequest | BugReportRequest]) -> WrittenBugReport | GatheredBugReport:
    """Gathers a report, or writes one that was gathered."""
    server, request = call.server, call.request
    if isinstance(request, WriteBugReportRequest):
        return _write(server, request)
    uri, finding = shown_finding(server, request.uri, request.fingerprint)
    path = file_of(uri)
    bar = Bar(call, "Gathering a bug report")

    async def perform(order: Order) -> Performed:
        return await server.engine.perform(path, order, bar.hear)

    try:
        settings = server.configuration.settings_for(path)
        wanted = WantedReport(path, request.target, finding, bisect=request.bisect)
        report = await gather(wanted, settings, perform, bar.say)
    except ConfigurationError as error:
        raise RequestError(str(error)) from error
    finally:
        bar.end()
    return GatheredBugReport(
        id=_keep(server, report),
        title=report.title,
        body=report.body,
        files=report.listing(),
        missing=report.missing,
        redacted=report.redacted,
    )


def _write(server: Server, request: WriteBugReportRequest) -> WrittenBugReport:
    report = _kept.get(server, OrderedDict()).get(request.id)
    if report is None:
        raise RequestError("There is no such report any more; gather it again.", INVALID_PARAMS)
    if not request.write:
        raise RequestError("`write` must be the path of a file.", INVALID_PARAMS)
    path = Path(request.write).absolute()
    try:
        write(report, path)
    except OSError as error:
        raise RequestError(f"{path} cannot be written: {error.strerror or error}.") from error
    return WrittenBugReport(path=str(path), bytes=path.stat().st_size)


_kept: WeakKeyDictionary[Server, OrderedDict[str, BugReport]] = WeakKeyDictionary()
_numbers = itertools.count(1)


def _keep(server: Server, report: BugReport) -> str:
    reports = _kept.setdefault(server, OrderedDict())
    name = str(next(_numbers))
    reports[name] = report
    while len(reports) > _MOST_KEPT:
        reports.popitem(last=False)
    return name
