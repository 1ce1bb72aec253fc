"""The command `inductorDebug.suggest`: what makes a target faster, tried without the accelerator."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from inductor_debug_schema import SuggestAnswer, SuggestionsDocument
from inductor_debug_schema.commands.command_requests import PageRequest

from inductor_debug.engine.orders.suggesting import suggest_order
from inductor_debug.report.html.suggestions_page import suggestions_page
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.order_pages import with_page
from inductor_debug.server.commands.ordering import extended, outcome, perform


async def suggest(call: Call[PageRequest]) -> SuggestAnswer:
    """Tries what may help; answers with the document of each target, and with a page where the request asks for one."""
    request = call.request
    performed = await perform(call, replace(suggest_order(), target=request.target), title="Trying suggestions")
    documents = performed.documents(SuggestionsDocument)
    answer = extended(SuggestAnswer, outcome(request.uri, performed), suggestions=documents)
    if not request.format or not documents:
        return answer
    page = partial(suggestions_page, documents)
    return with_page(call.server, answer, performed.report.path, performed.text, page)
