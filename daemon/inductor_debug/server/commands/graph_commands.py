"""Commands for graphs: `inductorDebug.graph` captures those of a file's targets and answers with where they are kept.

`inductorDebug.importArtifacts` reads what a compiler has written as graphs that the editor shows like ours. Nothing of
it is executed: files are read beside the server's loop, and the graphs are kept where captured ones are.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    GraphAnswer,
    GraphDocument,
    GraphStage,
    GraphTarget,
    KernelBuild,
    Stage,
)
from inductor_debug_schema.commands.command_answers import ImportAnswer, ImportedCompile
from inductor_debug_schema.commands.command_requests import FileRequest, GraphRequest

from inductor_debug.artifacts.graph_columns import MEDIA_TYPE, SUFFIX, decode, encode
from inductor_debug.engine.orders.compiling import compile_order, with_builds
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.outcomes import failure
from inductor_debug.engine.settings.settings import ConfigurationError, Settings
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.ordering import Bar, extended, file_of, outcome, perform
from inductor_debug.server.commands.partial_results import PartialResults
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

GRAPH_STAGES = (Stage.MOCK, Stage.AOT, Stage.INDUCTOR)
"""Stages that have graphs."""
_NO_KERNELS = "There are no kernels of Triton's to compile: choose a GPU as the accelerator."
_ENDED = "the process that compiles ended."


async def graph(call: Call[GraphRequest]) -> GraphAnswer:
    """Captures graphs.

    Where the analysis of the file as it is now has captured them, it is answered with those, unless the request is for
    `fresh` ones. Kernels that are to be compiled may be those that the last such command captured.
    """
    request = call.request
    order = Order(target=request.target, stages=_stages(request.stages), keep_graphs=True)
    performed = None if request.fresh else await _held(call.server, request.uri, order)
    if performed is None and request.compile and not request.fresh:
        performed = _captured_before(call.server, request.uri, order)
    if performed is None:
        performed = await perform(call, order, title="Capturing graphs")
        call.server.captured_graphs.take(request.uri, order, _settings(call.server, request.uri), performed)
    if request.compile:
        performed = await _compiled(call, performed)
    targets = [
        GraphTarget(
            found.name,
            found.line,
            [GraphStage(report.stage, report.state, report.notes) for report in found.stages],
        )
        for found in performed.report.targets
    ]
    return extended(GraphAnswer, outcome(request.uri, performed), targets=targets)


async def _compiled(call: Call[GraphRequest], performed: Performed) -> Performed:
    """The same with what Triton made of the kernels, and a note where it made nothing of them."""
    graphs = [artifact for artifact in performed.artifacts if artifact.media_type == MEDIA_TYPE]
    documents = [decode(artifact.content) for artifact in graphs]
    settings, known = _settings(call.server, call.request.uri), call.server.known_kernels
    builds = known.of(settings, documents)
    order = compile_order(with_builds(document, builds) for document in documents)
    if order is None and not builds:
        return dataclasses.replace(performed, notes=[*performed.notes, _NO_KERNELS])
    if order is not None:
        made = await perform(call, order, title="Compiling kernels", on_event=PartialResults(call).hear)
        new = made.documents(KernelBuild)
        known.take(settings, documents, new)
        builds += new
        if not builds:
            return dataclasses.replace(
                performed, notes=[*performed.notes, f"No kernel was compiled: {failure(made) or _ENDED}"]
            )
    whole = [
        dataclasses.replace(artifact, content=encode(with_builds(document, builds)))
        for artifact, document in zip(graphs, documents, strict=True)
    ]
    kept = call.server.engine.keep(file_of(call.request.uri), whole)
    others = [reference for reference in performed.references if reference.media_type != MEDIA_TYPE]
    return dataclasses.replace(performed, references=[*others, *kept.references], notes=[*performed.notes, *kept.notes])


def _captured_before(server: Server, uri: str, order: Order) -> Performed | None:
    """What the last order for graphs brought, where it was this one and nothing has changed since."""
    document = server.documents.get(uri)
    if document is None:
        return None
    return server.captured_graphs.of(uri, order, _settings(server, uri), document.text)


def _settings(server: Server, uri: str) -> Settings:
    try:
        return server.configuration.settings_for(file_of(uri))
    except ConfigurationError as error:
        raise RequestError(str(error)) from error


async def _held(server: Server, uri: str, order: Order) -> Performed | None:
    path = path_of(uri)
    try:
        return await server.engine.held(path, order) if path and order.target else None
    except ConfigurationError as error:
        raise RequestError(str(error)) from error


def _stages(said: Sequence[Stage] | None) -> tuple[Stage, ...]:
    if said is None:
        return (Stage.MOCK, Stage.AOT)
    if not said or not set(said) <= set(GRAPH_STAGES):
        raise RequestError(f"`stages` must be some of {', '.join(GRAPH_STAGES)}, which have graphs.", INVALID_PARAMS)
    return tuple(stage for stage in GRAPH_STAGES if stage in said)


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
