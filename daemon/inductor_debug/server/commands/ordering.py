"""Orders of an editor: carries one out for a command, shows how far it is, and answers with references.

A command runs as the task of its own request, so `$/cancelRequest` cancels it here, and with it the worker. Progress
goes to the token that the client sent along; where it sent none, none is shown. The texts of artifacts never travel:
the answer names files.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from inductor_debug_schema import Event, OrderOutcome, Progressed, StageStarted, WireError, from_wire, to_wire
from lsprotocol import types

from inductor_debug.engine.orders.orders import Listener, Order, Performed
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

Token = Union[str, int]
Options = TypeVar("Options")
Answer = TypeVar("Answer", bound=OrderOutcome)


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


def options_from(kind: type[Options], options: Mapping[str, Any]) -> Options:
    """The options of a command that `kind` names, without those that are null.

    Raises:
        RequestError: one is of another type.
    """
    given: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        value = options.get(name)
        if value is None:
            continue
        members = tuple(get_origin(member) or member for member in get_args(hint) if member is not type(None))
        known = (*members, int) if float in members else members
        if not isinstance(value, known) or (isinstance(value, bool) and bool not in known):
            expected = " or ".join(member.__name__ for member in members)
            raise RequestError(f"`{name}` must be of type {expected}.", INVALID_PARAMS)
        given[name] = value
    try:
        return from_wire(kind, given)
    except WireError as error:
        raise RequestError(f"{error}.", INVALID_PARAMS) from error


def names_of(kind: type) -> tuple[str, ...]:
    """The names of the options that `kind` has."""
    return tuple(field.name for field in dataclasses.fields(kind))


def target_of(options: Mapping[str, Any]) -> str:
    """The target that is meant, "" for all.

    Raises:
        RequestError: it is no name.
    """
    target = options.get("target") or ""
    if not isinstance(target, str):
        raise RequestError("`target` must be the name of a target.", INVALID_PARAMS)
    return target


def outcome(options: Mapping[str, Any], performed: Performed) -> OrderOutcome:
    """What every order's result says: the file, its status, why nothing came of it, and the artifacts.

    `reason` is the worst finding of a run that failed, None otherwise; `notes` say which artifacts were not kept.
    """
    report = performed.report
    failed = performed.broken or report.status.value in ("failed", "crashed", "timeout", "no-target")
    worst = min(report.findings, key=lambda finding: finding.severity.rank, default=None)
    return OrderOutcome(
        uri=options["uri"],
        status=report.status.value,
        reason=worst.message if failed and worst is not None else None,
        notes=performed.notes,
        artifacts=performed.references,
    )


def extended(answer: type[Answer], known: OrderOutcome, **more: Any) -> dict[str, Any]:
    """A command's result: the outcome of the order, and what the command adds to it or says otherwise."""
    said = {field.name: getattr(known, field.name) for field in dataclasses.fields(known)}
    document: dict[str, Any] = to_wire(answer(**{**said, **more}))
    return document


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
