"""The commands `inductorDebug.bisect` and `inductorDebug.transfers`: documents are artifacts, answers are short."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from inductor_debug_schema import (
    BisectAnswer,
    BisectDocument,
    TransfersAnswer,
    TransfersDocument,
    TransfersOverview,
)
from inductor_debug_schema.commands.command_requests import BisectRequest, TransfersRequest

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.engine.orders.bisecting import bisect_order, transfers_order
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.report.bisect_words import verdict_sentence
from inductor_debug.report.html.bisect_page import Climb, bisect_page
from inductor_debug.report.html.transfers_page import transfers_page
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.order_pages import with_page
from inductor_debug.server.commands.ordering import extended, outcome, perform
from inductor_debug.server.commands.partial_results import PartialResults
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

_ROWS_THAT_FIT = 40
"""Rows of a page that is sent whole, whatever they say."""


async def bisect(call: Call[BisectRequest]) -> BisectAnswer:
    """Bisects.

    The answer has, in `bisections`, the contract's document of each target, in `said` what it comes to in a sentence.
    With `partialResultToken`, the rungs to climb are told first (`planned`), and then each as it was climbed
    (`partial_results`). With a `format` there is a page of it, too, already while the ladder is climbed.
    """
    server, request = call.server, call.request
    try:
        order = bisect_order(request, server.configuration.settings_for(path_of(request.uri)))
    except (ProfileError, ConfigurationError) as error:
        raise RequestError(str(error), INVALID_PARAMS) from error
    told = PartialResults(call, Climb().hear if request.format else None)
    order = replace(order, target=request.target)
    performed = await perform(call, order, title="Bisecting", on_event=told.hear)
    documents = performed.documents(BisectDocument)
    sentences = [verdict_sentence(document) for document in documents]
    answer = extended(BisectAnswer, outcome(request.uri, performed), bisections=documents, said=sentences)
    if not request.format or not documents:
        return answer
    return with_page(server, answer, performed.report.path, performed.text, partial(bisect_page, documents))


async def transfers(call: Call[TransfersRequest]) -> TransfersAnswer:
    """Logs transfers; answers with an overview of each target, and with a page where the request has a `format`."""
    request = call.request
    try:
        order = replace(transfers_order(values=request.values), target=request.target)
    except ValueError as error:
        raise RequestError(str(error), INVALID_PARAMS) from error
    performed = await perform(call, order, title="Logging transfers")
    documents = performed.documents(TransfersDocument)
    overviews = [
        TransfersOverview(
            target=document.target,
            accelerator=document.accelerator,
            summary=document.summary,
            problem=document.problem,
            error=document.error,
        )
        for document in documents
    ]
    answer = extended(TransfersAnswer, outcome(request.uri, performed), transfers=overviews)
    if not request.format or not documents:
        return answer
    log = next((kept.path for kept in performed.references if kept.path.endswith(".jsonl")), None)
    whole = partial(transfers_page, documents, log=log)
    shorter = partial(whole, most_rows=_ROWS_THAT_FIT)
    return with_page(call.server, answer, performed.report.path, performed.text, whole, shorter)
