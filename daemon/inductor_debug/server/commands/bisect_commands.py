"""The commands `inductorDebug.bisect` and `inductorDebug.transfers`: documents are artifacts, answers are short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import (
    BisectAnswer,
    BisectDocument,
    BisectOptions,
    TransfersAnswer,
    TransfersDocument,
    TransfersOverview,
    to_wire,
)

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.engine.orders.bisecting import bisect_order, transfers_order
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.report.bisect_words import verdict_sentence
from inductor_debug.report.html.bisect_page import Climb, bisect_page
from inductor_debug.report.html.transfers_page import transfers_page
from inductor_debug.server.commands import order_pages
from inductor_debug.server.commands.ordering import (
    Token,
    extended,
    names_of,
    options_from,
    options_of,
    outcome,
    perform,
    target_of,
)
from inductor_debug.server.commands.partial_results import PartialResults
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

_ROWS_THAT_FIT = 40
"""Rows of a page that is sent whole, whatever they say."""
OPTIONS = ("uri", "target", order_pages.OPTION, *names_of(BisectOptions))
TRANSFER_OPTIONS = ("uri", "target", order_pages.OPTION)


async def bisect(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Bisects: `{uri, target?, reference?, backends?, accelerator?, seed?, gradients?, passes?, inject?}` in.

    The result has the outcome of the order and, in `bisections`, the contract's document of each target, in `said` what
    it comes to in a sentence. With `partialResultToken`, the rungs to climb are told first (`planned`), and then each
    as it was climbed (`partial_results`). With `format: "html"` there is a page of it, too, already while the ladder is
    climbed.
    """
    options = options_of(arguments)
    said = options_from(BisectOptions, options)
    try:
        order = bisect_order(said, server.configuration.settings_for(path_of(options["uri"])))
    except (ProfileError, ConfigurationError) as error:
        raise RequestError(str(error), INVALID_PARAMS) from error
    order = replace(order, target=target_of(options))
    paged = order_pages.wants_page(options)
    told = PartialResults(server, options, Climb().hear if paged else None)
    performed = await perform(server, arguments, order, token=token, title="Bisecting", on_event=told.hear)
    answers = (answered.document for answered in performed.answers)
    bisections = [document for document in answers if isinstance(document, BisectDocument)]
    sentences = [verdict_sentence(to_wire(document)) for document in bisections]
    answer = extended(BisectAnswer, outcome(options, performed), bisections=bisections, said=sentences)
    return order_pages.with_page(server, answer, performed, bisect_page, bisect_page) if paged else answer


async def transfers(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Logs transfers: `{uri, target?, format?}` in; the summary of each target out, as a page if that is "html"."""
    options = options_of(arguments)
    paged = order_pages.wants_page(options)
    order = replace(transfers_order(), target=target_of(options))
    performed = await perform(server, arguments, order, token=token, title="Logging transfers")
    overviews = [
        TransfersOverview(
            target=document.target,
            accelerator=document.accelerator,
            summary=document.summary,
            problem=document.problem,
            error=document.error,
        )
        for document in (answered.document for answered in performed.answers)
        if isinstance(document, TransfersDocument)
    ]
    answer = extended(TransfersAnswer, outcome(options, performed), transfers=overviews)
    log = next((kept.path for kept in performed.references if kept.path.endswith(".jsonl")), None)
    whole = partial(transfers_page, log=log)
    shorter = partial(whole, most_rows=_ROWS_THAT_FIT)
    return order_pages.with_page(server, answer, performed, whole, shorter) if paged else answer
