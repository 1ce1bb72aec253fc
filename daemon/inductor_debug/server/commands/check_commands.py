"""The commands about analyses: `inductorDebug.check`, `cancel`, `restart` and `inferAnew`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from inductor_debug_schema import FileReport, Severity
from inductor_debug_schema.commands.command_answers import CheckAnswer
from inductor_debug_schema.commands.command_requests import AnyFileRequest, CheckRequest, EmptyRequest, FileRequest

from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.ordering import file_of
from inductor_debug.server.rpc.protocol import RequestError
from inductor_debug.server.state.notebook_synchronisation import analyse
from inductor_debug.source.notebooks.reading import cells_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server


async def check(call: Call[CheckRequest]) -> CheckAnswer:
    """Analyses a file now, whatever the trigger says; answers when it is done.

    Findings in a file that is not open are shown, too.
    """
    server, uri = call.server, call.request.uri
    notebook = server.cells.known.get(uri)
    if notebook is not None and call.request.all_cells:
        notebook.whole = True
        analyse(server, notebook)
    if uri not in server.documents:
        return await _check_file(server, uri)
    server.engine.analyze(uri, "command")
    try:
        update = await server.engine.settled(uri)
    except asyncio.CancelledError:
        server.engine.cancel(uri)
        raise
    if update is None:
        raise RequestError(f"{uri} was closed while it was analysed.")
    seconds = round(update.seconds, 4)
    return _answer(uri, update.report, update.version, update.generation, update.state.value, seconds)


async def _check_file(server: Server, uri: str) -> CheckAnswer:
    path = file_of(uri)
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        found = await server.engine.check_on_disk(path)
    except ConfigurationError as error:
        raise RequestError(str(error)) from error
    seconds = round(loop.time() - began, 4)
    server.workspace_results.keep(found.update, found.text, found.dependencies)
    return _answer(uri, found.update.report, None, 0, "done", seconds, cells_of(path))


def _answer(
    uri: str,
    report: FileReport,
    version: int | None,
    generation: int,
    state: str,
    seconds: float,
    cells: list[tuple[int, int]] | None = None,
) -> CheckAnswer:
    severities = [finding.severity for finding in report.findings]
    return CheckAnswer(
        uri=uri,
        version=version,
        generation=generation,
        state=state,
        seconds=seconds,
        status=report.status,
        findings=len(severities),
        errors=severities.count(Severity.ERROR),
        warnings=severities.count(Severity.WARNING),
        cells=cells or [],
    )


async def cancel(call: Call[AnyFileRequest]) -> None:
    """Stops the analysis of a file, or of all files."""
    call.server.engine.cancel(call.request.uri)


async def restart(call: Call[EmptyRequest]) -> None:
    """Stops every worker, forgets every result and begins again."""
    await call.server.engine.restart()


async def infer_anew(call: Call[FileRequest]) -> None:
    """Infers the inputs of a file's classes anew, instead of judging edits with those that they last ran with."""
    call.server.engine.infer_anew(file_of(call.request.uri))
