"""What the dimensions of tensors are called: as the code calls them, carried from one operation to the next.

`B, T, C = x.shape` names the dimensions of `x`, `q.view(B, T, n_head, -1)` those of its result. From there a name goes
where its size goes: through views exactly, along equal shapes, and elsewhere only where no other size of the operation
could be meant. A dimension without a sure name has none. A size that is a symbol
is called as the symbol where the code says nothing else.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from inductor_debug.capture.inference.specs.size_names import named_dimensions
from inductor_debug.capture.liveness.activations import Activations, StatementRun
from inductor_debug.capture.liveness.bindings import TensorBinding
from inductor_debug.capture.liveness.code import Function
from inductor_debug.rules.recording.ops import Op, Recording, Size, SymbolicSize, TensorMeta

Names = tuple[str, ...]
_RESHAPING = frozenset({"aten.view", "aten._unsafe_view", "aten.reshape", "aten.unflatten"})
_SIZED_BY_ARGUMENTS = frozenset(
    {"view", "reshape", "zeros", "ones", "empty", "rand", "randn", "new_zeros", "new_empty"}
)
_JOINED = "·"


class DimensionNames:
    """The names of the dimensions of every value of a recording.

    Args:
        recording: what ran.
        activations: the calls and statements that it was cut into.
        bindings: which variables hold which values.
    """

    def __init__(self, recording: Recording, activations: Activations, bindings: Sequence[TensorBinding]) -> None:
        self._activations = activations
        self._names: dict[int, Names] = {}
        self._joined: dict[str, list[tuple[str, int]]] = {}
        spoken = _unpacked(activations, bindings)
        shapes = {meta.value: meta.shape for op in recording.ops for meta in (*op.inputs, *op.outputs)}
        for index, op in enumerate(recording.ops):
            for value, said in spoken.get(index, ()):
                self._say(value, said, shapes.get(value, ()))
            self._follow(index, op)

    def of(self, meta: TensorMeta) -> Names:
        """The names of a tensor's dimensions, empty ones where a dimension has none."""
        known = self._names.get(meta.value)
        return known if known is not None and len(known) == len(meta.shape) else _symbols(meta)

    def _say(self, value: int, said: dict[int, str], shape: tuple[Size, ...]) -> None:
        """The code names dimensions of a value."""
        rank = len(shape)
        names = list(self._names.get(value, ("",) * rank))
        for index, name in said.items():
            if -rank <= index < rank:
                names[index] = name
        if any(names):
            self._names[value] = tuple(names)

    def _follow(self, index: int, op: Op) -> None:
        for meta in op.outputs:
            if meta.value in op.mutates:
                continue
            names = self._made(op, meta)
            written = self._written(index, op, meta)
            known = zip(written, names, _symbols(meta), strict=True)
            found = tuple(said or carried or symbol for said, carried, symbol in known)
            if any(found):
                self._names[meta.value] = found

    def _made(self, op: Op, meta: TensorMeta) -> Names:
        if op.packet in _RESHAPING and op.inputs:
            return self._reshaped(op.inputs[0], meta)
        if op.is_view and op.inputs:
            return self._viewed(op.inputs[0], meta)
        same = [self.of(one) for one in op.inputs if one.shape == meta.shape]
        if same:
            return tuple(next((name for name in dimension if name), "") for dimension in zip(*same, strict=True))
        return tuple(self._only_one(size, op) for size in meta.shape)

    def _only_one(self, size: Size, op: Op) -> str:
        """The name of the one dimension of an op's inputs that has this size."""
        found = {
            name for one in op.inputs for name, other in zip(self.of(one), one.shape, strict=True) if other == size
        }
        return found.pop() if len(found) == 1 and size != 1 else ""

    def _viewed(self, base: TensorMeta, meta: TensorMeta) -> Names:
        """A view that keeps strides: a dimension is the one of its base that has the same size and stride."""
        known = self.of(base)
        steps = list(zip(base.shape, base.stride, strict=True))
        wanted = list(zip(meta.shape, meta.stride, strict=True))
        return tuple(
            known[steps.index(step)] if steps.count(step) == wanted.count(step) == 1 else "" for step in wanted
        )

    def _reshaped(self, base: TensorMeta, meta: TensorMeta) -> Names:
        """Dimensions that were joined keep both names, and give them back where they are cut again."""
        parts: list[tuple[str, int]] = []
        for name, size in zip(self.of(base), map(_number, base.shape), strict=True):
            if size is None:
                return ("",) * len(meta.shape)
            parts += self._joined.get(name, [(name, size)]) if _JOINED in name else [(name, size)]
        parts = [part for part in parts if part[1] != 1]
        names: list[str] = []
        for size in map(_number, meta.shape):
            if size is None:
                return (*names, *[""] * (len(meta.shape) - len(names)))
            taken: list[tuple[str, int]] = []
            while parts and math.prod(part for _, part in taken) * parts[0][1] <= size and size != 1:
                taken.append(parts.pop(0))
            product = math.prod(part for _, part in taken)
            fits = product > 0 and size > product and size % product == 0
            if fits and parts and parts[0][1] % (size // product) == 0:
                # Only a piece of a dimension is taken, which has no name; nor has the rest of it.
                parts[0] = ("", parts[0][1] // (size // product))
                taken.append(("", size // product))
            elif product != size:
                return (*names, *[""] * (len(meta.shape) - len(names)))
            names.append(self._join(taken))
        return tuple(names)

    def _join(self, parts: list[tuple[str, int]]) -> str:
        if len(parts) == 1:
            return parts[0][0]
        if not parts or not all(name for name, _ in parts):
            return ""
        name = _JOINED.join(name for name, _ in parts)
        self._joined[name] = list(parts)
        return name

    def _written(self, index: int, op: Op, meta: TensorMeta) -> Names:
        """What the call that made a tensor says its sizes are: `x.view(B, T, n_head, -1)`."""
        nothing = ("",) * len(meta.shape)
        path = self._activations.paths[index]
        if not path or path[-1] is not op.frames[0]:
            return nothing
        code = self._activations.code_of(path[-1].location.path)
        node = None if code is None else code.expression(path[-1].location.range)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return nothing
        sizes = node.args
        if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
            sizes = sizes[0].elts
        if node.func.attr not in _SIZED_BY_ARGUMENTS or len(sizes) != len(meta.shape):
            return nothing
        return tuple(_name_of(size) for size in sizes)


def _unpacked(
    activations: Activations, bindings: Sequence[TensorBinding]
) -> dict[int, list[tuple[int, dict[int, str]]]]:
    """What statements like `B, T, C = x.shape` call the dimensions of values, by the op before which they do."""
    spoken: dict[int, list[tuple[int, dict[int, str]]]] = {}
    held: dict[int, dict[str, list[TensorBinding]]] = {}
    for binding in bindings:
        held.setdefault(binding.call, {}).setdefault(binding.name, []).append(binding)
    runs: dict[int, list[StatementRun]] = {}
    for run in activations.runs:
        runs.setdefault(run.call, []).append(run)
    said: dict[int, list[tuple[int, str, dict[int, str]]]] = {}
    for number, call in enumerate(activations.calls):
        function = call.function
        if function is None or number not in held:
            continue
        if id(function) not in said:
            said[id(function)] = _sayings(function)
        for line, variable, dimensions in said[id(function)]:
            moment = next(
                (run.first for run in runs.get(number, ()) if run.frame.location.range.start.line > line), None
            )
            holding = [one for one in held[number].get(variable, ()) if moment is not None and one.since <= moment]
            if moment is not None and holding:
                spoken.setdefault(moment, []).append((holding[-1].value, dimensions))
    return spoken


def _sayings(function: Function) -> list[tuple[int, str, dict[int, str]]]:
    """The lines of a function that name dimensions of a variable."""
    return [(node.lineno - 1, variable, names) for node, variable, names in named_dimensions(function)]


def _symbols(meta: TensorMeta) -> Names:
    """Symbols are called what they are called; numbers, and what was computed of symbols, are not called anything."""
    return tuple(
        str(size) if isinstance(size, SymbolicSize) and str(size).isidentifier() else "" for size in meta.shape
    )


def _number(size: Size) -> int | None:
    return size if isinstance(size, int) else size.example


def _name_of(size: ast.expr) -> str:
    """A size as the code writes it, where that is a name for it."""
    if isinstance(size, ast.Name):
        return size.id
    if isinstance(size, ast.Attribute):
        return size.attr
    if isinstance(size, ast.BinOp):
        left, right = _name_of(size.left), _name_of(size.right)
        signs = {ast.FloorDiv: "/", ast.Mult: _JOINED, ast.Div: "/"}
        sign = signs.get(type(size.op))
        return f"{left}{sign}{right}" if left and right and sign else ""
    return ""
