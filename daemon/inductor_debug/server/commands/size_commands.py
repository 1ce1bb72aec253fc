"""The commands `inductorDebug.sizes` and `inductorDebug.setSizes`: sizes of inputs, set for a session, in no file.

An answer says what is known at once; what the code then does with the sizes comes as any analysis does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import to_wire

from inductor_debug.server.commands.ordering import Token, options_of, target_of
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

LARGEST = 1 << 31
"""No dimension that anybody has is larger; products of such sizes still have bytes that can be told."""


async def sizes(server: Server, arguments: Sequence[Any], token: Token | None = None) -> list[dict[str, Any]]:
    """The free sizes of an open document's targets: `{uri}` in, a list of `TargetSizes` out."""
    return [to_wire(known) for known in await server.engine.sizes(options_of(arguments)["uri"])]


async def set_sizes(server: Server, arguments: Sequence[Any], token: Token | None = None) -> dict[str, Any]:
    """Sets sizes: `{uri, target, sizes}` in, `TargetSizes` out. Sizes that are not named are as usual again."""
    from inductor_debug.engine.size_questions import UnknownSizeNameError

    options = options_of(arguments)
    said = options.get("sizes")
    if not isinstance(said, dict) or not all(_is_size(value) for value in said.values()):
        raise RequestError(f"`sizes` must map names to whole numbers from 1 to {LARGEST}.", INVALID_PARAMS)
    try:
        return dict(to_wire(await server.engine.set_sizes(options["uri"], target_of(options), said)))
    except UnknownSizeNameError as error:
        raise RequestError(f"{error}.", INVALID_PARAMS) from error


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST
