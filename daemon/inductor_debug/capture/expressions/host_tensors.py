"""Which tensors the user's code makes on the CPU whatever device the model runs on: factories that name no device.

Here everything runs on one device, so an operation alone does not tell; the expression that runs it does. Tensors
without dimensions are left out: they go along with tensors of any device.
"""

from __future__ import annotations

import ast

from inductor_debug_schema import Location

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.rules.recording.ops import Op, Recording

_FACTORIES = frozenset({
    "arange", "zeros", "ones", "full", "empty", "eye", "linspace", "logspace", "rand", "randn", "randint", "randperm",
    "tensor", "as_tensor", "from_numpy", "tril_indices", "triu_indices", "hann_window",
})  # fmt: skip
_LONGEST = 400
"""Characters of an expression that is looked at."""


def made_on_host(recording: Recording, sources: SourceMap) -> frozenset[int]:
    """The indexes of the ops that make such a tensor in an expression of the project's."""
    known: dict[Location, bool] = {}
    found: set[int] = set()
    for op in recording.ops:
        if op.frames and op.frames[0].in_project and _may_make(op):
            place = op.frames[0].location
            if place not in known:
                known[place] = _names_no_device(place, sources)
            if known[place]:
                found.add(op.index)
    return frozenset(found)


def _may_make(op: Op) -> bool:
    """Whether the op makes a tensor of numbers alone: with a device among its arguments, or of a Python list."""
    made = (not op.inputs and "device" in op.arguments) or op.packet.startswith("aten.lift_fresh")
    return made and any(meta.shape and meta.device == "cpu" for meta in op.outputs)


def _names_no_device(place: Location, sources: SourceMap) -> bool:
    text = sources.text(place.path)
    try:
        call = ast.parse(text.excerpt(place.range, at_most=_LONGEST), mode="eval").body if text is not None else None
    except (SyntaxError, ValueError):
        return False
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in _FACTORIES:
        return False
    # `None` is the name of `**options`, among which there may be a device.
    named = {keyword.arg for keyword in call.keywords}
    return isinstance(call.func.value, ast.Name) and call.func.value.id == "torch" and not named & {"device", None}
