"""The command `inductorDebug.bugReport`, in two steps: the user sees what is in a report before it is written.

Reports that were gathered stay in memory until they are written or newer ones push them out.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from inductor_debug.engine.bug_report.bug_report import BugReport, WantedReport, gather, write
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands.ordering import Bar, Token, options_of, target_of
from inductor_debug.server.commands.repro_commands import shown_finding
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

OPTIONS = ("uri", "target", "fingerprint", "bisect", "id", "write")
_MOST_KEPT = 3


async def bug_report(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Gathers or writes.

    `{uri, target?, fingerprint?, bisect?}` gathers and answers `{id, title, body, files, missing, redacted}`, where
    `files` lists `{name, bytes, about}`. `{id, write: PATH}` writes that report and answers `{path, bytes}`.
    """
    first = arguments[0] if arguments else None
    if isinstance(first, dict) and "write" in first:
        return _write(server, first)
    options = options_of(arguments)
    uri, finding = shown_finding(server, options)
    path = path_of(uri)
    if not path:
        raise RequestError(f"{uri} is not the URI of a file.", INVALID_PARAMS)
    bar = Bar(server, token, "Gathering a bug report")

    async def perform(order: Order) -> Performed:
        return await server.engine.perform(path, order, bar.hear)

    try:
        settings = server.configuration.settings_for(path)
        wanted = WantedReport(path, target_of(options), finding, bisect=options.get("bisect", True) is not False)
        report = await gather(wanted, settings, perform, bar.say)
    except ConfigurationError as error:
        raise RequestError(str(error)) from error
    finally:
        bar.end()
    return {
        "id": _keep(server, report),
        "title": report.title,
        "body": report.body,
        "files": report.listing(),
        "missing": report.missing,
        "redacted": report.redacted,
    }


def _write(server: Server, options: dict[str, Any]) -> dict[str, Any]:
    report = _kept.get(server, OrderedDict()).get(str(options.get("id")))
    if report is None:
        raise RequestError("There is no such report any more; gather it again.", INVALID_PARAMS)
    target = options["write"]
    if not isinstance(target, str) or not target:
        raise RequestError("`write` must be the path of a file.", INVALID_PARAMS)
    path = Path(target).absolute()
    try:
        write(report, path)
    except OSError as error:
        raise RequestError(f"{path} cannot be written: {error.strerror or error}.") from error
    return {"path": str(path), "bytes": path.stat().st_size}


_kept: WeakKeyDictionary[Server, OrderedDict[str, BugReport]] = WeakKeyDictionary()
_numbers = itertools.count(1)


def _keep(server: Server, report: BugReport) -> str:
    reports = _kept.setdefault(server, OrderedDict())
    name = str(next(_numbers))
    reports[name] = report
    while len(reports) > _MOST_KEPT:
        reports.popitem(last=False)
    return name
