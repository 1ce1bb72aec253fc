"""Which tensors the user's code makes on the CPU whatever device the model runs on: factories that name none, or "cpu".

Here everything runs on one device, so an operation alone does not tell; the expression that runs it does. Tensors
without dimensions go along with tensors of any device: of these only what the code copies there at once is told.
"""

from __future__ import annotations

import ast
import re

from inductor_debug_schema import Location, Position, Range

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.rules.recording.ops import Op, Recording

_FACTORIES = frozenset({
    "arange", "zeros", "ones", "full", "empty", "eye", "linspace", "logspace", "rand", "randn", "randint", "randperm",
    "tensor", "as_tensor", "from_numpy", "tril_indices", "triu_indices", "hann_window",
})  # fmt: skip
_CONSTRUCTORS = frozenset({
    "Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "LongTensor", "IntTensor", "ShortTensor",
    "CharTensor", "ByteTensor", "BoolTensor",
})  # fmt: skip
"""Classes of `torch` that are on the CPU whatever the default is, and take no other device."""
_COPIED = re.compile(r"\s*\.(?:cuda\(|to\((?!(?:dtype=)?(?:torch\.\w+|[\w.]*dtype)\)))")
"""What stands behind an expression that is copied to a device at once: `.to(device)`, not `.to(x.dtype)`."""
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
                known[place] = _is_of_the_cpu(place, sources)
            if known[place] and (any(meta.shape for meta in op.outputs) or _is_copied(place, sources)):
                found.add(op.index)
    return frozenset(found)


def _may_make(op: Op) -> bool:
    """Whether the op makes a tensor of numbers alone: with a device among its arguments, or of a Python list."""
    made = (not op.inputs and "device" in op.arguments) or op.packet.startswith("aten.lift_fresh")
    return made and any(meta.device == "cpu" for meta in op.outputs)


def _is_of_the_cpu(place: Location, sources: SourceMap) -> bool:
    text = sources.text(place.path)
    try:
        call = ast.parse(text.excerpt(place.range, at_most=_LONGEST), mode="eval").body if text is not None else None
    except (SyntaxError, ValueError):
        return False
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    if not isinstance(call.func.value, ast.Name) or call.func.value.id != "torch":
        return False
    if call.func.attr in _CONSTRUCTORS:
        return True
    # `None` is the name of `**options`, among which there may be a device.
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    device = named.get("device")
    says_cpu = isinstance(device, ast.Constant) and device.value == "cpu"
    return call.func.attr in _FACTORIES and None not in named and (device is None or says_cpu)


def _is_copied(place: Location, sources: SourceMap) -> bool:
    """Whether `.to(…)` or `.cuda()` stands right behind the expression."""
    text = sources.text(place.path)
    if text is None:
        return False
    end = place.range.end
    behind = Range(end, Position(end.line + 1, 0))
    return _COPIED.match(text.excerpt(behind, at_most=_LONGEST)) is not None
