"""The command `inductorDebug.explain`: the page of a rule."""

from __future__ import annotations

from inductor_debug_schema.commands.command_answers import RulePage
from inductor_debug_schema.commands.command_requests import ExplainRequest
from lsprotocol import types

from inductor_debug.accelerators.constraints import RULE_MARK
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError


async def explain(call: Call[ExplainRequest]) -> RulePage:
    """Answers with the page, and shows it where that is asked for."""
    # Imported only here: an editor waits while the server starts.
    from inductor_debug.rules.registry import UnknownRuleError, page

    rule = call.request.rule
    registry, interpreter = call.server.configuration.accelerators_for("")
    try:
        known = call.server.configuration.known
        own = await known(lambda: registry.rule_page(rule, interpreter)) if RULE_MARK in rule else None
        markdown = page(rule) if own is None else own
    except UnknownRuleError as error:
        raise RequestError(f"{error}.", INVALID_PARAMS) from error
    if call.request.show:
        call.server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=markdown))
    return RulePage(rule=rule, markdown=markdown)
