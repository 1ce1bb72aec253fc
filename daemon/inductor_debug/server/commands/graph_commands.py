"""The command `inductorDebug.graph`: captures the graphs of a file's targets and answers with where they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import GraphAnswer, GraphStage, GraphTarget, Stage

from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands.ordering import Token, extended, options_of, outcome, perform
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

GRAPH_STAGES = (Stage.MOCK, Stage.AOT, Stage.INDUCTOR)
"""Stages that have graphs."""
OPTIONS = ("uri", "target", "stages", "fresh")


async def graph(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Captures graphs: `{uri, target?, stages?, fresh?}` in, artifact references out.

    `target` is a name, all targets where it is left out; `stages` are some of "mock", "aot" and "inductor" (the default
    is "mock" and "aot"). Where the analysis of the file as it is now has captured them, it is answered with those,
    unless `fresh` asks for new ones. The result also lists the targets with the state of each of their stages.
    """
    options = options_of(arguments)
    target = options.get("target") or ""
    if not isinstance(target, str):
        raise RequestError("`target` must be the name of a target.", INVALID_PARAMS)
    order = Order(target=target, stages=_stages(options.get("stages")), keep_graphs=True)
    performed = None if options.get("fresh") else await _held(server, options["uri"], order)
    if performed is None:
        performed = await perform(server, arguments, order, token=token, title="Capturing graphs")
    targets = [
        GraphTarget(
            found.name,
            found.line,
            [GraphStage(report.stage, report.state, report.notes) for report in found.stages],
        )
        for found in performed.report.targets
    ]
    return extended(GraphAnswer, outcome(options, performed), targets=targets)


async def _held(server: Server, uri: str, order: Order) -> Performed | None:
    path = path_of(uri)
    try:
        return await server.engine.held(path, order) if path and order.target else None
    except ConfigurationError as error:
        raise RequestError(str(error)) from error


def _stages(said: Any) -> tuple[Stage, ...]:
    if said is None:
        return (Stage.MOCK, Stage.AOT)
    known = {stage.value: stage for stage in GRAPH_STAGES}
    if not isinstance(said, list) or not said:
        raise RequestError(f"`stages` must be a list of some of {', '.join(known)}.", INVALID_PARAMS)
    for name in said:
        if name not in known:
            words = f"{unknown(str(name), known, 'stage')} (stages with graphs are {', '.join(known)})"
            raise RequestError(f"`stages`: {words}.", INVALID_PARAMS)
    return tuple(stage for stage in GRAPH_STAGES if stage.value in said)
