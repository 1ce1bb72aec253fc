"""The command `inductorDebug.repro`, and the code action that leads to it: a finding in, a proved script out.

The answer names files; the script's text never travels. A search that is cancelled leaves its smallest script behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import ArtifactMade, Event, Finding
from lsprotocol import types

from inductor_debug.engine.folders import cache_folder
from inductor_debug.engine.reproducing import document_of, order_for, proved
from inductor_debug.server.ordering import Token, options_of, outcome, perform
from inductor_debug.server.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.server import Server

COMMAND = "inductorDebug.repro"
CLIENT_COMMAND = "inductorDebug.makeReproducer"
"""The command of clients that show progress and open the script themselves."""
TITLE = "Make a minimal reproducer"
_NOT_CUT_OUT = frozenset(
    {"unused-ignore", "syntax-error", "configuration", "directive", "import-error", "unreadable", "environment",
     "internal-error", "timeout"}
)  # fmt: skip
"""Rules about files and settings: there is nothing to run, so there is nothing to cut out."""


async def repro(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Makes a reproducer: `{uri, target?, rule?, line?, fingerprint?, backend?}` in, the `repro` document out.

    `line` is zero-based; `fingerprint` is that of a finding that is shown. The document comes with the artifacts'
    references and, as every order's result, with `status`, `reason` and `notes`.
    """
    options = options_of(arguments)
    path = path_of(options["uri"])
    finding = _named(server, options)
    order = order_for(
        rule=_text(options, "rule"),
        line=options["line"] if isinstance(options.get("line"), int) else None,
        finding=finding,
        target=_text(options, "target"),
        backend=_text(options, "backend"),
        memo=str(cache_folder() / "repro"),
    )
    made: list[ArtifactMade] = []

    def note(event: Event) -> None:
        if isinstance(event, ArtifactMade):
            made.append(event)

    try:
        performed = await perform(server, arguments, order, token=token, title=TITLE, on_event=note)
        found = await proved(performed, server.configuration.settings_for(path))
    except asyncio.CancelledError:
        server.engine.keep(path, made)
        raise
    result = outcome(options, performed.report, performed)
    document = found.document if performed.answers or found.script else {**document_of([]), "why": result["reason"]}
    return {**result, **document}


def actions(server: Server, findings: Sequence[Finding], uri: str) -> Iterator[tuple[types.Command, Finding]]:
    """The command for each finding that something can be cut out for."""
    for finding in findings:
        if finding.rule not in _NOT_CUT_OUT:
            known = CLIENT_COMMAND in server.client.commands
            asked = {"uri": uri, "fingerprint": finding.fingerprint, "target": finding.target, "rule": finding.rule}
            title = f"{TITLE} ({finding.rule})"
            yield types.Command(title, CLIENT_COMMAND if known else COMMAND, arguments=[asked]), finding


def _named(server: Server, options: dict[str, Any]) -> Finding | None:
    """The finding with the fingerprint that is asked for, among those that are shown.

    Raises:
        RequestError: none of them has it.
    """
    wanted = _text(options, "fingerprint")
    if not wanted:
        return None
    for uri in (options["uri"], *server.documents):
        latest = server.engine.latest(uri)
        for finding in latest.report.findings if latest is not None else ():
            if finding.fingerprint == wanted:
                return finding
    raise RequestError("The finding is not there any more.")


def _text(options: dict[str, Any], name: str) -> str:
    value = options.get(name) or ""
    if not isinstance(value, str):
        raise RequestError(f"`{name}` must be a string.", INVALID_PARAMS)
    return value
