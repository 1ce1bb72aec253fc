"""Orders of an editor: carries one out for a command, shows how far it is, and answers with references.

A command runs as the task of its own request, so `$/cancelRequest` cancels it here, and with it the worker. Progress
goes to the token that the client sent along; where it sent none, none is shown. The texts of artifacts never travel:
the answer names files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Union

from inductor_debug_schema import ArtifactReference, Event, FileReport, Progressed, StageStarted, to_wire
from lsprotocol import types

from inductor_debug.engine.orders.orders import Listener, Order, Performed
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

Token = Union[str, int]


def options_of(arguments: Sequence[Any]) -> dict[str, Any]:
    """A command's arguments as an object: `[{"uri": …}]`, or `[uri]`.

    Raises:
        RequestError: there is no URI among them.
    """
    first = arguments[0] if arguments else None
    options = dict(first) if isinstance(first, dict) else {"uri": first}
    if not isinstance(options.get("uri"), str) or not options["uri"]:
        raise RequestError("The command needs the URI of a file.", INVALID_PARAMS)
    return options


async def perform(
    server: Server,
    arguments: Sequence[Any],
    order: Order,
    *,
    token: Token | None = None,
    title: str = "",
    on_event: Listener | None = None,
) -> Performed:
    """Carries out `order` for the file whose URI stands in `arguments`.

    Args:
        server: whose engine does it.
        arguments: the command's; `uri` names the file and `target` the target, all where there is none.
        order: what to do.
        token: the request's `workDoneToken`, which `Progressed` events are sent to.
        title: what the progress bar is called.
        on_event: told of every event as well.

    Raises:
        RequestError: the URI is none of a file, or the settings for it cannot be used.
    """
    options = options_of(arguments)
    path = path_of(options["uri"])
    if not path:
        raise RequestError(f"{options['uri']} is not the URI of a file.", INVALID_PARAMS)
    bar = Bar(server, token, title)

    def hear(event: Event) -> None:
        bar.hear(event)
        if on_event is not None:
            on_event(event)

    try:
        return await server.engine.perform(path, order, hear)
    except ConfigurationError as error:
        raise RequestError(str(error)) from error
    finally:
        bar.end()


def references(found: Iterable[ArtifactReference]) -> list[dict[str, Any]]:
    """Artifact references as results of commands carry them: `{kind, path, bytes, media_type}`."""
    return [to_wire(reference) for reference in found]


def outcome(options: dict[str, Any], report: FileReport, performed: Performed) -> dict[str, Any]:
    """What every order's result says: the file, its status, why nothing came of it, and the artifacts.

    `reason` is the worst finding of a run that failed, null otherwise; `notes` say which artifacts were not kept.
    """
    failed = performed.broken or report.status.value in ("failed", "crashed", "timeout", "no-target")
    worst = min(report.findings, key=lambda finding: finding.severity.rank, default=None)
    return {
        "uri": options["uri"],
        "status": report.status.value,
        "reason": worst.message if failed and worst is not None else None,
        "notes": performed.notes,
        "artifacts": references(performed.references),
    }


class Bar:
    """The progress of one request."""

    def __init__(self, server: Server, token: Token | None, title: str) -> None:
        self._server = server
        self._token = token
        self._last = 0
        if token is not None:
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
