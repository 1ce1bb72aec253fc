"""The command `inductorDebug.compareAccelerators`: one capture, judged for several accelerators.

The answer holds as many findings as a message may carry, and says how many it left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import AcceleratorComparison, to_wire

from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands.ordering import Bar, Token, options_of, target_of
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

OPTIONS = ("uri", "target", "accelerators")
BUDGET = 40 << 10
"""Bytes of JSON that the findings of one answer may have."""


async def compare_accelerators(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Compares: `{uri, target?, accelerators?}` in, `{uri, status, reason, place, comparison}` out.

    `accelerators` are names and paths of profiles; where there are none, it is all that come with the tool and the
    chosen one. `comparison` is an `AcceleratorComparison`, null where the capture failed; `reason` then says why.
    """
    from inductor_debug.engine.whatif.accelerators import shortened, usual_accelerators

    options = options_of(arguments)
    path, target = path_of(options["uri"]), target_of(options)
    if not path:
        raise RequestError(f"{options['uri']} is not the URI of a file.", INVALID_PARAMS)
    bar = Bar(server, token, "Comparing accelerators")
    try:
        names = _names(options) or usual_accelerators(server.configuration.settings_for(path))
        alternatives = [server.configuration.for_accelerator(path, name) for name in names]
        compared = await server.engine.compare_accelerators(path, target, alternatives, bar.hear)
    except ConfigurationError as error:
        raise RequestError(str(error), INVALID_PARAMS) from error
    finally:
        bar.end()
    if isinstance(compared, AcceleratorComparison):
        comparison = to_wire(shortened(compared, BUDGET))
        return {"uri": options["uri"], "status": "done", "reason": None, "place": None, "comparison": comparison}
    worst = min(compared.findings, key=lambda finding: finding.severity.rank, default=None)
    return {
        "uri": options["uri"],
        "status": compared.status.value,
        "reason": worst.message if worst is not None else None,
        "place": {"path": worst.path, "range": to_wire(worst.range)} if worst is not None else None,
        "comparison": None,
    }


def _names(options: dict[str, Any]) -> list[str]:
    """The accelerators that are asked for.

    Raises:
        RequestError: they are no list of names.
    """
    names = options.get("accelerators") or []
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise RequestError("`accelerators` must be a list of names or paths.", INVALID_PARAMS)
    return list(dict.fromkeys(names))
