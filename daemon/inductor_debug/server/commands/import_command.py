"""The command `inductorDebug.importArtifacts`: what a compiler has written, as graphs that the editor shows like ours.

Nothing is executed. Files are read beside the server's loop, and the graphs are kept where captured ones are.
"""

from __future__ import annotations

import asyncio

from inductor_debug_schema import ArtifactKind, ArtifactMade, GraphDocument
from inductor_debug_schema.commands.command_answers import ImportAnswer, ImportedCompile
from inductor_debug_schema.commands.command_requests import FileRequest

from inductor_debug.artifacts.graph_columns import MEDIA_TYPE, SUFFIX, encode
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.ordering import Bar, file_of
from inductor_debug.server.rpc.protocol import RequestError


async def import_artifacts(call: Call[FileRequest]) -> ImportAnswer:
    """Reads a folder, a log or a sidecar; sources that are elsewhere now are looked for in the workspace.

    Raises:
        RequestError: the URI is none of a file, or the settings there cannot be used.
    """
    # Imported only here: an editor waits while the server starts.
    from inductor_debug.compiler_output.importing import NothingFoundError, read_artifacts

    path, uri = file_of(call.request.uri), call.request.uri
    roots = list(call.server.configuration.folders.values())
    bar = Bar(call, "Reading what a compiler has written")
    try:
        found = await asyncio.to_thread(read_artifacts, path, roots)
        compiles = [_kept(call, path, document) for document in found.documents]
    except NothingFoundError as error:
        return ImportAnswer(uri=uri, compiles=[], unread=[], reason=f"{error}.")
    except ConfigurationError as error:
        raise RequestError(str(error)) from error
    finally:
        bar.end()
    unread = [f"{each.path or '.'}: {each.why}" for each in found.unread]
    return ImportAnswer(uri=uri, compiles=compiles, unread=unread)


def _kept(call: Call[FileRequest], path: str, document: GraphDocument) -> ImportedCompile:
    made = ArtifactMade(
        ArtifactKind.INDUCTOR_IR, "graphs", SUFFIX, MEDIA_TYPE, encode(document), document.target, document.stage
    )
    kept = call.server.engine.keep(path, [made])
    return ImportedCompile(document.target, kept.references, [*document.notes, *kept.notes])
