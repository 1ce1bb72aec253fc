"""One call of a command: what the client said, read and checked at the border, and where its progress goes.

The schema declares what each command may be told (`commands.command_table`). What does not fit is refused by name here,
so that no command ever sees it: an option that is misspelt would be taken for its default. Only a client of a later
version is believed to mean something by an option that we do not know: it is left out, which the log says.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from inductor_debug_schema import WireError
from inductor_debug_schema.codec import UnknownMemberError, read_value
from inductor_debug_schema.commands.command_table import Command

from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

Token = Union[str, int]
Request = TypeVar("Request")
logger = logging.getLogger(__name__)
PARTIAL_RESULTS = "partialResultToken"
"""What every command may be sent beside its request."""


@dataclass(frozen=True)
class Call(Generic[Request]):
    """A command that is being carried out.

    `work_done` is the request's `workDoneToken`, which progress goes to, `partial_results` the token for pieces of the
    answer; None where the client wants none.
    """

    server: Server
    request: Request
    work_done: Token | None = None
    partial_results: Token | None = None


def call_of(
    command: Command[Request, Any], server: Server, arguments: Sequence[Any], work_done: Token | None
) -> Call[Request]:
    """The call that a client's arguments ask for.

    Raises:
        RequestError: they do not fit the command.
    """
    first = arguments[0] if arguments else None
    said = {name: value for name, value in first.items() if value is not None} if isinstance(first, dict) else {}
    token = said.pop(PARTIAL_RESULTS, None)
    partial_results = token if isinstance(token, (str, int)) and not isinstance(token, bool) else None
    kinds = get_args(command.request) if get_origin(command.request) is Union else (command.request,)
    kind = next((kind for kind in kinds if said.keys() >= _required(kind)), kinds[-1])
    if first is not None and not isinstance(first, dict):
        said = {field.name: first for field in dataclasses.fields(kind)[:1]}
    try:
        if server.client.newer:
            said = _known(command.name, kind, said)
        return Call(server, _read(kind, said), work_done, partial_results)
    except WireError as error:
        raise RequestError(f"{command.name}: {error}.", INVALID_PARAMS) from error


def _known(command: str, kind: Any, said: dict[str, Any]) -> dict[str, Any]:
    """What a newer client said, without what only newer servers understand."""
    names = {field.name for field in dataclasses.fields(kind)}
    if unknown_names := sorted(said.keys() - names):
        logger.warning("%s: this version does not know %s, which a newer editor sends", command, unknown_names)
    return {name: value for name, value in said.items() if name in names}


def _read(kind: type[Request], said: dict[str, Any]) -> Request:
    hints = get_type_hints(kind)
    for name in said:
        if name not in hints:
            raise WireError(unknown(name, hints, "option"))
    for name in sorted(_required(kind) - said.keys()):
        raise WireError(f"it needs the option `{name}`")
    return kind(**{name: _value(hints[name], value, f"`{name}`") for name, value in said.items()})


def _value(kind: Any, value: Any, where: str) -> Any:
    try:
        return read_value(kind, value, where)
    except UnknownMemberError as error:
        raise WireError(f"{where}: {unknown(str(error.said), error.members)}") from error


def _required(kind: Any) -> set[str]:
    missing = dataclasses.MISSING
    return {
        field.name
        for field in dataclasses.fields(kind)
        if field.default is missing and field.default_factory is missing
    }
