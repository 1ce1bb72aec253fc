"""The command `inductorDebug.diff`: compares a backend with a reference and answers with verdicts and references."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from inductor_debug_schema import (
    DiffAnswer,
    DiffDocument,
    DiffSummary,
    Event,
    OrderOutcome,
)
from inductor_debug_schema.commands.command_requests import DiffRequest

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.engine.orders.comparing import diff_order
from inductor_debug.engine.orders.partial_comparisons import PartialComparisons
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.ordering import extended, outcome, perform
from inductor_debug.server.commands.partial_results import PartialResults
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

_MOST_BLAMED = 10


async def diff(call: Call[DiffRequest]) -> DiffAnswer:
    """Compares.

    The whole document of a comparison is an artifact: it may be larger than a message should be. With `maps` the errors
    of outputs are one, too. The findings become diagnostics of the file, beside those of its analysis.

    With `partialResultToken`, rows are told as they come (`partial_results`). A comparison that is cancelled, or whose
    worker dies, is answered with what had come, as a document with `partial` true.
    """
    server, request = call.server, call.request
    try:
        order = diff_order(request, target=request.target)
    except ProfileError as error:
        raise RequestError(str(error), INVALID_PARAMS) from error
    partial, results = PartialComparisons(), PartialResults(call)

    def hear(event: Event) -> None:
        partial.hear(event)
        results.hear(event)

    try:
        performed = await perform(call, order, title="Comparing", on_event=hear)
    except asyncio.CancelledError:
        unfinished = partial.documents("it was cancelled")
        if not unfinished:
            raise
        cancelled = OrderOutcome(uri=request.uri, status="cancelled", reason=None, notes=[], artifacts=[])
        return _answer(server, cancelled, [], unfinished, partial)
    server.numerics.take(performed.report.path, performed)
    known = outcome(request.uri, performed)
    unfinished = partial.documents(known.reason or "its process ended") if performed.broken else []
    return _answer(server, known, performed.documents(DiffDocument), unfinished, partial)


def _answer(
    server: Server,
    known: OrderOutcome,
    finished: list[DiffDocument],
    unfinished: list[DiffDocument],
    partial: PartialComparisons,
) -> DiffAnswer:
    """The result, with what there is of comparisons that did not end as files."""
    notes, artifacts = known.notes, known.artifacts
    if unfinished:
        kept = server.engine.keep(path_of(known.uri), partial.artifacts(unfinished))
        notes, artifacts = [*notes, *kept.notes], [*artifacts, *kept.references]
    comparisons = [_summary(document) for document in (*finished, *unfinished)]
    return extended(DiffAnswer, known, notes=notes, artifacts=artifacts, comparisons=comparisons)


def _summary(document: DiffDocument) -> DiffSummary:
    return DiffSummary(
        target=document.target,
        reference=document.reference,
        backend=document.backend,
        verdict=document.verdict,
        why=document.why,
        blame=document.blame[:_MOST_BLAMED],
        partial=document.partial,
    )
