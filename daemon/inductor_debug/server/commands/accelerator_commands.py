"""The commands about accelerators: what there is to choose from, and one capture judged for several of them.

The answer to a comparison holds as many findings as a message may carry, and says how many it left out; its page has
them all.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from inductor_debug_schema import AcceleratorComparison, AcceleratorList, AcceleratorsAnswer, FileReport, Location
from inductor_debug_schema.commands.command_requests import AcceleratorsRequest, AnyFileRequest

from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.order_pages import with_page
from inductor_debug.server.commands.ordering import Bar, file_of
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError

BUDGET = 40 << 10
"""Bytes of JSON that the findings of one answer may have."""


async def accelerators(call: Call[AnyFileRequest]) -> AcceleratorList:
    """Lists all that can be chosen by name where the models of a file, or of the workspace, run."""
    path = file_of(call.request.uri) if call.request.uri is not None else ""
    try:
        registry, interpreter = call.server.configuration.accelerators_for(path)
        listed = await call.server.configuration.known(lambda: registry.listed(interpreter))
        return replace(listed, chosen=call.server.configuration.settings_for(path).accelerator)
    except ConfigurationError as error:
        raise RequestError(str(error), INVALID_PARAMS) from error


async def compare_accelerators(call: Call[AcceleratorsRequest]) -> AcceleratorsAnswer:
    """Compares accelerators: those that are named, else all that there are and the chosen one."""
    # Imported only here: an editor waits while the server starts.
    from inductor_debug.engine.whatif.accelerators import shortened, usual_accelerators
    from inductor_debug.report.html.accelerator_page import accelerator_page

    server, request = call.server, call.request
    path = file_of(request.uri)
    bar = Bar(call, "Comparing accelerators")
    try:
        registry, interpreter = server.configuration.accelerators_for(path)
        settings = server.configuration.settings_for(path)
        usual = await server.configuration.known(
            lambda: usual_accelerators(settings, registry.usually_compared(interpreter))
        )
        names = dict.fromkeys(request.accelerators or usual)
        alternatives = await server.configuration.known(
            lambda: [server.configuration.for_accelerator(path, name) for name in names]
        )
        compared = await server.engine.compare_accelerators(path, request.target, alternatives, bar.hear)
    except ConfigurationError as error:
        raise RequestError(str(error), INVALID_PARAMS) from error
    finally:
        bar.end()
    if not isinstance(compared, AcceleratorComparison):
        return _failed(request.uri, compared)
    short = shortened(compared, BUDGET)
    answer = AcceleratorsAnswer(
        uri=request.uri, status="done", reason=None, notes=[], artifacts=[], place=None, comparison=short
    )
    if not request.format:
        return answer
    pages = partial(accelerator_page, compared), partial(accelerator_page, short)
    return with_page(server, answer, path, "", *pages)


def _failed(uri: str, report: FileReport) -> AcceleratorsAnswer:
    """The answer where the capture failed."""
    worst = min(report.findings, key=lambda finding: finding.severity.rank, default=None)
    return AcceleratorsAnswer(
        uri=uri,
        status=report.status.value,
        reason=worst.message if worst is not None else None,
        notes=[],
        artifacts=[],
        place=Location(worst.path, worst.range) if worst is not None else None,
        comparison=None,
    )
