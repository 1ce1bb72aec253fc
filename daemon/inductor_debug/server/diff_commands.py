"""The command `inductorDebug.diff`: compares a backend with a reference and answers with verdicts and references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.engine.comparing import OPTIONS, diff_order
from inductor_debug.server.ordering import Token, options_of, outcome, perform
from inductor_debug.server.protocol import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from inductor_debug.server.server import Server

_MOST_BLAMED = 10


async def diff(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Compares: `{uri, target?, reference?, backend?, atol?, rtol?, seed?, runs?, gradients?, inject?, maps?}`.

    The result has the outcome of the order and, for each target, `{target, reference, backend, verdict, why, blame}`.
    The whole document is an artifact: it may be larger than a message should be. With `maps` the errors of outputs are
    one, too. The findings become diagnostics of the file, beside those of its analysis.
    """
    options = options_of(arguments)
    target = options.get("target") or ""
    if not isinstance(target, str):
        raise RequestError("`target` must be the name of a target.", INVALID_PARAMS)
    for name, types in OPTIONS.items():
        value = options.get(name)
        if value is not None and (not isinstance(value, types) or (isinstance(value, bool) and bool not in types)):
            raise RequestError(
                f"`{name}` must be of type {' or '.join(kind.__name__ for kind in types)}.", INVALID_PARAMS
            )
    try:
        order = diff_order(options, target=target)
    except ProfileError as error:
        raise RequestError(str(error), INVALID_PARAMS) from error
    performed = await perform(server, arguments, order, token=token, title="Comparing")
    server.numerics.take(performed.report.path, performed)
    return {
        **outcome(options, performed.report, performed),
        "comparisons": [_short(answer.document) for answer in performed.answers],
    }


def _short(document: dict[str, Any]) -> dict[str, Any]:
    names = ("target", "reference", "backend", "verdict", "why")
    return {**{name: document[name] for name in names}, "blame": document["blame"][:_MOST_BLAMED]}
