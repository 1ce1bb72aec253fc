"""Orders of an editor: carries one out for a command, shows how far it is, and answers with references.

A command runs as the task of its own request, so `$/cancelRequest` cancels it here, and with it the worker. Progress
goes to the token that the client sent along; where it sent none, none is shown. The texts of artifacts never travel:
the answer names files.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from inductor_debug_schema import Event, OrderOutcome, Progressed, StageStarted
from inductor_debug_schema.commands.command_requests import FileRequest
from lsprotocol import types

from inductor_debug.engine.orders.orders import Listener, Order, Performed
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

Requested = TypeVar("Requested", bound=FileRequest)
Answer = TypeVar("Answer", bound=OrderOutcome)


def file_of(uri: str) -> str:
    """The path of the file that a command is about.

    Raises:
        RequestError: the URI is none of a file.
    """
    path = path_of(uri)
    if not path:
        raise RequestError(f"{uri} is not the URI of a file.", INVALID_PARAMS)
    return path


async def perform(call: Call[Requested], order: Order, *, title: str, on_event: Listener | None = None) -> Performed:
    """Carries out `order` for the file of a call.

    Args:
        call: whose request names the file, and whose engine does it.
        order: what to do.
        title: what the progress bar is called.
        on_event: told of every event as well.

    Raises:
        RequestError: the URI is none of a file, or the settings for it cannot be used.
    """
    path = file_of(call.request.uri)
    bar = Bar(call, title)

    def hear(event: Event) -> None:
        bar.hear(event)
        if on_event is not None:
            on_event(event)

    try:
        return await call.server.engine.perform(path, order, hear)
    except ConfigurationError as error:
        raise RequestError(str(error)) from error
    finally:
        bar.end()


def outcome(uri: str, performed: Performed) -> OrderOutcome:
    """What every order's result says: the file, its status, why nothing came of it, and the artifacts.

    `reason` is the worst finding of a run that failed, None otherwise; `notes` say which artifacts were not kept.
    """
    report = performed.report
    failed = performed.broken or report.status.value in ("failed", "crashed", "timeout", "no-target")
    worst = min(report.findings, key=lambda finding: finding.severity.rank, default=None)
    return OrderOutcome(
        uri=uri,
        status=report.status.value,
        reason=worst.message if failed and worst is not None else None,
        notes=performed.notes,
        artifacts=performed.references,
    )


def extended(answer: type[Answer], known: OrderOutcome, **more: Any) -> Answer:
    """A command's answer: the outcome of the order, and what the command adds to it or says otherwise."""
    said = {field.name: getattr(known, field.name) for field in dataclasses.fields(known)}
    return answer(**{**said, **more})


class Bar:
    """The progress of one call."""

    def __init__(self, call: Call[Any], title: str) -> None:
        self._server = call.server
        self._token = call.work_done
        self._last = 0
        if self._token is not None:
            self._send(types.WorkDoneProgressBegin(title=title, percentage=0, cancellable=True))

    def hear(self, event: Event) -> None:
        """Shows an event that says how far the work is."""
        if self._token is None:
            return
        if isinstance(event, Progressed):
            if event.total > 0:
                self._last = max(self._last, min(100, 100 * event.done // event.total))
            self._send(types.WorkDoneProgressReport(message=event.message, percentage=self._last))
        elif isinstance(event, StageStarted):
            self.say(f"{event.target}: {stage_name(event.stage)}")

    def say(self, message: str) -> None:
        """Shows what is being done; nobody knows how far it is."""
        if self._token is not None:
            self._send(types.WorkDoneProgressReport(message=message, percentage=self._last))

    def end(self) -> None:
        """The request is answered, one way or another."""
        if self._token is not None:
            self._send(types.WorkDoneProgressEnd())
            self._token = None

    def _send(
        self, value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd
    ) -> None:
        assert self._token is not None
        self._server.progress(types.ProgressParams(token=self._token, value=value))
