"""The command `inductorDebug.graph`: captures the graphs of a file's targets and answers with where they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inductor_debug_schema import GraphAnswer, GraphStage, GraphTarget, Stage
from inductor_debug_schema.commands.command_requests import GraphRequest

from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.ordering import extended, outcome, perform
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

GRAPH_STAGES = (Stage.MOCK, Stage.AOT, Stage.INDUCTOR)
"""Stages that have graphs."""


async def graph(call: Call[GraphRequest]) -> GraphAnswer:
    """Captures graphs.

    Where the analysis of the file as it is now has captured them, it is answered with those, unless the request is for
    `fresh` ones.
    """
    request = call.request
    order = Order(target=request.target, stages=_stages(request.stages), keep_graphs=True)
    performed = None if request.fresh else await _held(call.server, request.uri, order)
    if performed is None:
        performed = await perform(call, order, title="Capturing graphs")
    targets = [
        GraphTarget(
            found.name,
            found.line,
            [GraphStage(report.stage, report.state, report.notes) for report in found.stages],
        )
        for found in performed.report.targets
    ]
    return extended(GraphAnswer, outcome(request.uri, performed), targets=targets)


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
