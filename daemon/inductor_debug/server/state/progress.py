"""Work-done progress for editors that show it: one bar for each document that is being analysed.

Not pygls' own helper: cancelling while its token is being created ends in an error message at the user. Here the token
is asked for without anybody waiting, and a bar whose analysis has ended before the client agreed is never begun.
What the user asked for shows a bar as soon as it runs; anything else only when it takes longer than a moment.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inductor_debug_schema import Stage
from lsprotocol import types

from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.rules.words.stage_names import stage_name

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

PATIENCE_SECONDS = 0.4
UNASKED = frozenset({"edited", "changed on disk", "settings changed"})
"""Causes of analyses that the user does not wait for: a bar for each of those would only flicker."""
_PERCENTAGES = {
    None: 0,
    Stage.LOAD: 5,
    Stage.PREVIEW: 25,
    Stage.MOCK: 50,
    Stage.AOT: 70,
    Stage.INDUCTOR: 85,
    Stage.GRADIENTS: 90,
    Stage.EXPORT: 92,
}
"""How far along each stage is when it begins; nobody can know better, and a bar must only never go back."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Bar:
    token: str
    name: str
    generation: int
    percentage: int
    message: str
    timer: asyncio.TimerHandle | None = None
    created: bool = False
    begun: bool = False
    over: bool = False


class ProgressBars:
    """Follows the engine's updates with one bar a document."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._bars: dict[str, _Bar] = {}
        self._numbers = itertools.count(1)

    def hear(self, update: AnalysisUpdate) -> None:
        """Begins, moves or ends the document's bar."""
        if not self._server.client.work_done_progress or update.version is None:
            return
        bar = self._bars.get(update.uri)
        if bar is not None and (update.state.settled or update.generation != bar.generation):
            self._end(update.uri, update.state.value if update.generation == bar.generation else "superseded")
            bar = None
        if update.state.settled:
            return
        message = f"{stage_name(update.stage) if update.stage else 'starting'} ({update.cause})"
        percentage = _PERCENTAGES[update.stage]
        if bar is None:
            token, name = f"inductor-debug/{next(self._numbers)}", os.path.basename(update.path)
            bar = _Bar(token, name, update.generation, percentage, message)
            self._bars[update.uri] = bar
            bar.timer = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._create, bar)
        elif message != bar.message or percentage > bar.percentage:
            bar.message, bar.percentage = message, max(percentage, bar.percentage)
            if bar.begun:
                report = types.WorkDoneProgressReport(message=bar.message, percentage=bar.percentage, cancellable=True)
                self._send(bar.token, report)
        if update.state is AnalysisState.RUNNING and update.cause not in UNASKED:
            self._create(bar)

    def closed(self, uri: str) -> None:
        """A closed document has no bar."""
        self._end(uri, "closed")

    def cancelled(self, token: str | int) -> str | None:
        """The document whose bar the user cancelled."""
        return next((uri for uri, bar in self._bars.items() if bar.token == token), None)

    def _create(self, bar: _Bar) -> None:
        if not bar.created:
            bar.created = True
            self._server.spawn(self._begin(bar))

    async def _begin(self, bar: _Bar) -> None:
        params = types.WorkDoneProgressCreateParams(token=bar.token)
        created = await self._server.protocol.agreed(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)
        if not created or bar.over:
            return
        bar.begun = True
        self._send(
            bar.token,
            types.WorkDoneProgressBegin(
                title=f"Checking {bar.name}", message=bar.message, percentage=bar.percentage, cancellable=True
            ),
        )

    def _end(self, uri: str, message: str) -> None:
        bar = self._bars.pop(uri, None)
        if bar is None:
            return
        bar.over = True
        if bar.timer is not None:
            bar.timer.cancel()
        if bar.begun:
            self._send(bar.token, types.WorkDoneProgressEnd(message=message))

    def _send(
        self,
        token: str,
        value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd,
    ) -> None:
        self._server.progress(types.ProgressParams(token=token, value=value))


def register(server: Server) -> None:
    """Shows progress and listens for its Cancel button."""
    bars = ProgressBars(server)
    server.listeners.append(bars.hear)
    server.closed_listeners.append(bars.closed)

    @server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def cancel(params: types.WorkDoneProgressCancelParams) -> None:
        uri = bars.cancelled(params.token)
        if uri is not None:
            server.engine.cancel(uri)
