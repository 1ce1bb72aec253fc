"""`workspace/executeCommand`: what a user can ask for by name.

Only commands that work are offered. A command runs as a task of its own request, so `$/cancelRequest` stops it and the
analysis it asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import FileReport, Severity
from lsprotocol import types

from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.engine.notebooks.reading import cells_of
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands import (
    accelerator_commands,
    bisect_commands,
    bug_report_commands,
    diff_commands,
    graph_commands,
    outline_commands,
    report_commands,
    repro_commands,
    size_commands,
    tensor_commands,
)
from inductor_debug.server.commands.ordering import Token
from inductor_debug.server.commands.partial_results import OPTION as PARTIAL_RESULTS
from inductor_debug.server.commands.workspace_command import check_workspace
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server


async def check(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Analyses a file now, whatever the trigger says; answers with a summary when it is done.

    Findings in a file that is not open are shown, too. Those in a notebook are in lines of one text made of its code
    cells: `cells` has, for each, its number and the line at which it begins there.
    """
    uri = _uri(arguments)
    if uri is None:
        raise RequestError("inductorDebug.check needs the URI of a file.", INVALID_PARAMS)
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
    return {
        "uri": uri,
        "version": update.version,
        "generation": update.generation,
        "state": update.state.value,
        "seconds": round(update.seconds, 4),
        **_summary(update.report),
    }


async def _check_file(server: Server, uri: str) -> dict[str, Any]:
    path = path_of(uri)
    if not path:
        raise RequestError(f"{uri} is not the URI of a file.", INVALID_PARAMS)
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        found = await server.engine.check_on_disk(path)
    except ConfigurationError as error:
        raise RequestError(str(error)) from error
    seconds = round(loop.time() - began, 4)
    server.workspace_results.keep(found.update, found.text, found.dependencies)
    answer = {"uri": uri, "version": None, "generation": 0, "state": "done", "seconds": seconds}
    return {**answer, **_summary(found.update.report), "cells": cells_of(path)}


async def cancel(server: Server, arguments: Sequence[Any], token: Token | None = None) -> None:
    """Stops the analysis of the file in the arguments, or of all files."""
    server.engine.cancel(_uri(arguments))


async def restart(server: Server, arguments: Sequence[Any], token: Token | None = None) -> None:
    """Stops every worker, forgets every result and begins again."""
    await server.engine.restart()


async def infer_anew(server: Server, arguments: Sequence[Any], token: Token | None = None) -> None:
    """Infers the inputs of a file's classes anew, instead of judging edits with those that they last ran with."""
    uri = _uri(arguments)
    if uri is None:
        raise RequestError("inductorDebug.inferAnew needs the URI of a file.", INVALID_PARAMS)
    server.engine.infer_anew(path_of(uri))


async def explain(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, str]:
    """Answers with a rule's page: `{rule, markdown}`. The argument is its id, or `{rule, show}`.

    With `show` the page is shown as a message, too, for clients that do nothing with a command's result.
    """
    from inductor_debug.rules.registry import UnknownRuleError, page

    first = arguments[0] if arguments else None
    options = first if isinstance(first, dict) else {"rule": first}
    rule = options.get("rule")
    if not isinstance(rule, str):
        raise RequestError("inductorDebug.explain needs the id of a rule.", INVALID_PARAMS)
    try:
        markdown = page(rule)
    except UnknownRuleError as error:
        raise RequestError(f"{error}.", INVALID_PARAMS) from error
    if options.get("show"):
        server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=markdown))
    return {"rule": rule, "markdown": markdown}


Run = Callable[["Server", Sequence[Any], "Token | None"], Awaitable[Any]]
"""Takes the server, the arguments and the request's `workDoneToken`; returns the result or raises `RequestError`."""


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """A command and the options that it knows beside `partialResultToken`, which every command may be sent."""

    run: Run
    options: tuple[str, ...] = ("uri",)

    def require_known(self, name: str, arguments: Sequence[Any]) -> None:
        """Refuses options that nobody would read: one that is misspelt would be taken for its default.

        Raises:
            RequestError: there is such an option.
        """
        first = arguments[0] if arguments else None
        for option in first if isinstance(first, dict) else ():
            if option not in (*self.options, PARTIAL_RESULTS):
                raise RequestError(f"{name}: {unknown(str(option), self.options, 'option')}.", INVALID_PARAMS)


COMMANDS: dict[str, ServerCommand] = {
    "inductorDebug.check": ServerCommand(check),
    "inductorDebug.checkWorkspace": ServerCommand(check_workspace, ("folders",)),
    "inductorDebug.graph": ServerCommand(graph_commands.graph, graph_commands.OPTIONS),
    "inductorDebug.diff": ServerCommand(diff_commands.diff, diff_commands.OPTIONS),
    "inductorDebug.repro": ServerCommand(repro_commands.repro, repro_commands.OPTIONS),
    "inductorDebug.bisect": ServerCommand(bisect_commands.bisect, bisect_commands.OPTIONS),
    "inductorDebug.transfers": ServerCommand(bisect_commands.transfers, bisect_commands.TRANSFER_OPTIONS),
    "inductorDebug.compareAccelerators": ServerCommand(
        accelerator_commands.compare_accelerators, accelerator_commands.OPTIONS
    ),
    "inductorDebug.sizes": ServerCommand(size_commands.sizes),
    "inductorDebug.setSizes": ServerCommand(size_commands.set_sizes, ("uri", "target", "sizes")),
    "inductorDebug.outline": ServerCommand(outline_commands.outline, outline_commands.OUTLINE_OPTIONS),
    "inductorDebug.directive": ServerCommand(outline_commands.directive, outline_commands.DIRECTIVE_OPTIONS),
    "inductorDebug.tensors": ServerCommand(tensor_commands.tensors, tensor_commands.OPTIONS),
    "inductorDebug.bugReport": ServerCommand(bug_report_commands.bug_report, bug_report_commands.OPTIONS),
    "inductorDebug.report": ServerCommand(report_commands.report, report_commands.OPTIONS),
    "inductorDebug.cancel": ServerCommand(cancel),
    "inductorDebug.restart": ServerCommand(restart),
    "inductorDebug.inferAnew": ServerCommand(infer_anew),
    "inductorDebug.explain": ServerCommand(explain, ("rule", "show")),
}
"""Every command that is offered."""


def _uri(arguments: Sequence[Any]) -> str | None:
    """The URI in a command's arguments: a string, or an object with `uri`."""
    first = arguments[0] if arguments else None
    if isinstance(first, dict):
        first = first.get("uri")
    return first if isinstance(first, str) and first else None


def _summary(report: FileReport) -> dict[str, Any]:
    severities = [finding.severity for finding in report.findings]
    return {
        "status": report.status.value,
        "findings": len(severities),
        "errors": severities.count(Severity.ERROR),
        "warnings": severities.count(Severity.WARNING),
        "artifacts": [],
    }


def register(server: Server) -> None:
    """Answers `workspace/executeCommand`."""

    @server.feature(types.WORKSPACE_EXECUTE_COMMAND)
    async def execute(params: types.ExecuteCommandParams) -> Any:
        command = COMMANDS.get(params.command)
        if command is None:
            offered = ", ".join(COMMANDS)
            raise RequestError(
                f"The command {params.command!r} is not available in this version; there are {offered}.", INVALID_PARAMS
            )
        arguments = params.arguments or []
        command.require_known(params.command, arguments)
        await server.ready.wait()
        return await command.run(server, arguments, params.work_done_token)
