"""The command `inductorDebug.debug`: writes the files in which a debugger stops, and says how it is started.

The editor starts it; the file that VS Code keeps its configurations in gets this one, too, for the next time.
"""

from __future__ import annotations

import asyncio

from inductor_debug_schema import DebugDocument, Location, Position, Range
from inductor_debug_schema.answers.order_answers import DebugAnswer
from inductor_debug_schema.commands.command_requests import DebugRequest

from inductor_debug.engine.orders.debugging import (
    DebugFolderError,
    debug_order,
    stops_at,
    usual_folder,
    write_folder,
)
from inductor_debug.engine.orders.launch_configuration import launched
from inductor_debug.engine.settings.settings import ConfigurationError, Settings
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.ordering import extended, outcome, perform
from inductor_debug.server.rpc.protocol import RequestError


async def debug(call: Call[DebugRequest]) -> DebugAnswer:
    """Writes the files of one target; the first that there is, where none is named."""
    request = call.request
    performed = await perform(call, debug_order(request.target, line=request.line), title="Writing files to debug")
    known = outcome(request.uri, performed)
    documents = performed.documents(DebugDocument)
    made = next((document for document in documents if not document.problem), None)
    if made is None:
        return extended(DebugAnswer, known, reason=documents[0].problem if documents else known.reason)
    try:
        settings = call.server.configuration.settings_for(made.path)
        return await asyncio.to_thread(_written, extended(DebugAnswer, known), made, settings, request.line)
    except (ConfigurationError, DebugFolderError) as error:
        raise RequestError(str(error)) from error


def _written(answer: DebugAnswer, document: DebugDocument, settings: Settings, line: int | None) -> DebugAnswer:
    """Writes the folder and the configuration; a file of configurations that cannot be read costs no more than that."""
    folder = write_folder(document, usual_folder(settings.project_root, document))
    launch = launched(folder.name, folder.script, document.path, settings)
    stops = [
        Location(folder.path_of(stop), Range(Position(stop.line, 0), Position(stop.line, 0)))
        for stop in stops_at(document, line)
    ]
    return extended(
        DebugAnswer,
        answer,
        configuration=launch.configuration,
        folder=launch.root,
        script=folder.script,
        stops=stops,
        written=launch.path is not None,
        notes=[*answer.notes, *document.notes, *filter(None, [launch.why])],
    )
