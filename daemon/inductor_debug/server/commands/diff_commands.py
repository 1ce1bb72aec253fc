"""The command `inductorDebug.diff`: compares a backend with a reference and answers with verdicts and references."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import ArtifactMade, Event

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.engine.orders.comparing import OPTIONS as COMPARISON
from inductor_debug.engine.orders.comparing import diff_order
from inductor_debug.engine.orders.partial_comparisons import PartialComparisons
from inductor_debug.server.commands.ordering import Token, options_of, outcome, perform, references
from inductor_debug.server.commands.partial_results import PartialResults
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

OPTIONS = ("uri", "target", *COMPARISON)
_MOST_BLAMED = 10


async def diff(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Compares: `{uri, target?, reference?, backend?, atol?, rtol?, seed?, runs?, gradients?, inject?, maps?}`.

    The result has the outcome of the order and, for each target, `{target, reference, backend, verdict, why, blame,
    partial}`. The whole document is an artifact: it may be larger than a message should be. With `maps` the errors of
    outputs are one, too. The findings become diagnostics of the file, beside those of its analysis.

    With `partialResultToken`, rows are told as they come (`partial_results`). A comparison that is cancelled, or whose
    worker dies, is answered with what had come, as a document with `partial` true.
    """
    options = options_of(arguments)
    target = options.get("target") or ""
    if not isinstance(target, str):
        raise RequestError("`target` must be the name of a target.", INVALID_PARAMS)
    for name, types in COMPARISON.items():
        value = options.get(name)
        if value is not None and (not isinstance(value, types) or (isinstance(value, bool) and bool not in types)):
            raise RequestError(
                f"`{name}` must be of type {' or '.join(kind.__name__ for kind in types)}.", INVALID_PARAMS
            )
    try:
        order = diff_order(options, target=target)
    except ProfileError as error:
        raise RequestError(str(error), INVALID_PARAMS) from error
    partial, results = PartialComparisons(), PartialResults(server, options)

    def hear(event: Event) -> None:
        partial.hear(event)
        results.hear(event)

    try:
        performed = await perform(server, arguments, order, token=token, title="Comparing", on_event=hear)
    except asyncio.CancelledError:
        unfinished = partial.documents("it was cancelled")
        if not unfinished:
            raise
        return {
            "uri": options["uri"],
            "status": "cancelled",
            "reason": None,
            **_kept(server, path_of(options["uri"]), partial.artifacts(unfinished)),
            "comparisons": [_short(document) for document in unfinished],
        }
    server.numerics.take(performed.report.path, performed)
    answer = outcome(options, performed.report, performed)
    unfinished = partial.documents(answer["reason"] or "its process ended") if performed.broken else []
    more = _kept(server, performed.report.path, partial.artifacts(unfinished))
    return {
        **answer,
        "notes": [*answer["notes"], *more["notes"]],
        "artifacts": [*answer["artifacts"], *more["artifacts"]],
        "comparisons": [*map(_short, [answered.document for answered in performed.answers]), *map(_short, unfinished)],
    }


def _kept(server: Server, path: str, artifacts: Sequence[ArtifactMade]) -> dict[str, Any]:
    """What there is of comparisons that did not end, as files."""
    if not artifacts:
        return {"notes": [], "artifacts": []}
    kept = server.engine.keep(path, artifacts)
    return {"notes": kept.notes, "artifacts": references(kept.references)}


def _short(document: dict[str, Any]) -> dict[str, Any]:
    names = ("target", "reference", "backend", "verdict", "why")
    short = {**{name: document[name] for name in names}, "blame": document["blame"][:_MOST_BLAMED]}
    return {**short, "partial": document.get("partial", False)}
