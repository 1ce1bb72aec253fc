"""The command `inductorDebug.repro`, and the code action that leads to it: a finding in, a proved script out.

The answer names files; a script's text travels only where it could not be kept. A search that is cancelled is answered
with its smallest script so far, where it has one.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inductor_debug_schema import (
    ArtifactMade,
    Event,
    Finding,
    OrderOutcome,
    ReproAnswer,
    ReproDocument,
)
from inductor_debug_schema.commands.command_requests import ReproRequest
from lsprotocol import types

from inductor_debug.engine.orders.reproducing import made_of, not_cut_out, order_for, proved, refused, script_of
from inductor_debug.engine.settings.folders import cache_folder
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.ordering import extended, outcome, perform
from inductor_debug.server.rpc.protocol import RequestError
from inductor_debug.server.state.known_comparisons import RULE as NUMERICS
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

COMMAND = "inductorDebug.repro"
CLIENT_COMMAND = "inductorDebug.makeReproducer"
"""The command of clients that show progress and open the script themselves."""
TITLE = "Make a minimal reproducer"
_LONGEST_TEXT = 48 << 10
"""Bytes of JSON that a script may have to travel in a message, which leaves 16 KiB of it for the rest."""


async def repro(call: Call[ReproRequest]) -> ReproAnswer:
    """Makes a reproducer; the answer's `status` is "cancelled" where somebody had enough."""
    server, request = call.server, call.request
    uri, finding = shown_finding(server, request.uri, request.fingerprint or "")
    call = dataclasses.replace(call, request=dataclasses.replace(request, uri=uri))
    path = path_of(uri)
    order = order_for(
        rule=request.rule or "",
        line=request.line,
        finding=finding,
        target=request.target,
        backend=request.backend or _compared(server, path, finding),
        memo=str(cache_folder() / "repro"),
    )
    refusal = refused(order)
    if refusal is not None:
        known = OrderOutcome(uri=uri, status="clean", reason=None, notes=[], artifacts=[])
        return _answer(known, refusal.document, None)
    made: list[ArtifactMade] = []

    def note(event: Event) -> None:
        if isinstance(event, ArtifactMade):
            made.append(event)

    try:
        performed = await perform(call, order, title=TITLE, on_event=note)
        found = await proved(performed, server.configuration.settings_for(path))
    except asyncio.CancelledError:
        best = _best(server, uri, made)
        if best is None:
            raise
        return best
    known = outcome(uri, performed)
    answered = bool(performed.answers or found.script)
    document = found.document if answered else ReproDocument.without_script(known.reason or "")
    return _answer(known, document, found.script)


def _compared(server: Server, path: str, finding: Finding | None) -> str:
    """The backend whose numbers a finding is about; "" for other findings."""
    measured = server.numerics.of(path, finding.target) if finding is not None and finding.rule == NUMERICS else None
    return measured.backend if measured is not None else ""


def _best(server: Server, uri: str, made: Sequence[ArtifactMade]) -> ReproAnswer | None:
    """The answer of a search that was cancelled: the smallest script until then; None where there was none yet."""
    script, _ = made_of(made)
    if script is None:
        return None
    kept = server.engine.keep(path_of(uri), made)
    nothing = ReproDocument.without_script("the search was cancelled")
    document = dataclasses.replace(nothing, script=script_of(kept.references))
    known = OrderOutcome(uri=uri, status="cancelled", reason=None, notes=kept.notes, artifacts=kept.references)
    return _answer(known, document, script)


def _answer(known: OrderOutcome, document: ReproDocument, script: str | None) -> ReproAnswer:
    """The result, with the script itself where no file has it, unless a message could not carry it."""
    fits = script is not None and document.script is None and len(json.dumps(script)) <= _LONGEST_TEXT
    said = {field.name: getattr(document, field.name) for field in dataclasses.fields(document)}
    return extended(ReproAnswer, known, **said, text=script if fits else None)


def actions(server: Server, findings: Sequence[Finding], uri: str) -> Iterator[tuple[types.Command, Finding]]:
    """The command for each finding that something can be cut out for."""
    for finding in findings:
        if not_cut_out(finding.rule) is None:
            known = CLIENT_COMMAND in server.client.commands
            asked = {"uri": uri, "fingerprint": finding.fingerprint, "target": finding.target, "rule": finding.rule}
            title = f"{TITLE} ({finding.rule})"
            yield types.Command(title, CLIENT_COMMAND if known else COMMAND, arguments=[asked]), finding


def shown_finding(server: Server, about: str, fingerprint: str) -> tuple[str, Finding | None]:
    """The finding that is shown with a `fingerprint`, and the URI of the document whose analysis found it.

    Without a fingerprint that is the document `about`, and no finding.

    The finding may stand in another file than the one that is run: a module that it imports.

    Raises:
        RequestError: none of them has it.
    """
    if not fingerprint:
        return about, None
    for uri in (about, *server.documents):
        latest = server.engine.latest(uri)
        found = list(latest.report.findings) if latest is not None else []
        for finding in found + server.numerics.findings(path_of(uri) or ""):
            if finding.fingerprint == fingerprint:
                return uri, finding
    raise RequestError("The finding is not there any more.")
