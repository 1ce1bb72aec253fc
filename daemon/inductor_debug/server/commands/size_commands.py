"""The commands `inductorDebug.sizes` and `inductorDebug.setSizes`: sizes of inputs, set for a session, in no file.

An answer says what is known at once; what the code then does with the sizes comes as any analysis does.
"""

from __future__ import annotations

from inductor_debug_schema import TargetSizes
from inductor_debug_schema.commands.command_requests import FileRequest, SetSizesRequest

from inductor_debug.server.commands.calls import Call
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError

LARGEST = 1 << 31
"""No dimension that anybody has is larger; products of such sizes still have bytes that can be told."""


async def sizes(call: Call[FileRequest]) -> list[TargetSizes]:
    """The free sizes of an open document's targets."""
    return await call.server.engine.sizes(call.request.uri)


async def set_sizes(call: Call[SetSizesRequest]) -> TargetSizes:
    """Sets sizes; those that are not named are as usual again."""
    from inductor_debug.engine.size_questions import UnknownSizeNameError

    request = call.request
    if not all(1 <= size <= LARGEST for size in request.sizes.values()):
        raise RequestError(f"`sizes` must map names to whole numbers from 1 to {LARGEST}.", INVALID_PARAMS)
    try:
        return await call.server.engine.set_sizes(request.uri, request.target, request.sizes)
    except UnknownSizeNameError as error:
        raise RequestError(f"{error}.", INVALID_PARAMS) from error
