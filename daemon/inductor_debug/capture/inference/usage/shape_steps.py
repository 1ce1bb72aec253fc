"""What happened to an argument before a module took it, and how to undo that on the shape which the module wants.

A step is a shape change that syntax shows: `x.transpose(1, 2)`, `x.unsqueeze(1)`, `x.flatten(1)`, `x[:, 0]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug.capture.inference.specs.specs import Dimension, TensorSpec
from inductor_debug.capture.inference.usage.module_inputs import flattened

_FRESH: tuple[str, ...] = ("T", "S", "K", "M")


@dataclass(frozen=True, slots=True)
class ShapeStep:
    """One change of a shape: "swap" and "permute" put the dimensions in another order.

    "insert" adds a dimension at `dims[0]`, "squeeze" takes that away if there is one, "remove" takes those at `dims`
    away, "flatten" joins all from `dims[0]`, "fold" joins all but the last, "share" says that this argument is one of
    `dims[0]` parts of dimension `dims[1]`, "part" that it was cut into as many parts along that, "cut" that dimension
    `dims[0]` was made smaller, "mapped" that a module has changed sizes but not the rank, "embed" that each of its
    numbers was looked up and became a vector.
    """

    kind: str
    dims: tuple[int, ...] = ()


def added(steps: Sequence[ShapeStep]) -> int | None:
    """How many dimensions more a value has after `steps`; None where that cannot be said."""
    kinds = {"swap": 0, "permute": 0, "mapped": 0, "cut": 0, "share": 0, "part": 0, "insert": 1, "embed": 1}
    known = [-len(step.dims) if step.kind == "remove" else kinds.get(step.kind) for step in steps]
    return None if None in known else sum(number for number in known if number is not None)


def undone(spec: TensorSpec, steps: Sequence[ShapeStep]) -> list[TensorSpec]:
    """What the argument was before `steps`, if `spec` is what came out; empty where that cannot be said."""
    found = [spec]
    for step in reversed(steps):
        found = [earlier for item in found for earlier in _undo(item, step)]
    return found


def _undo(spec: TensorSpec, step: ShapeStep) -> list[TensorSpec]:
    dims, rank = list(spec.dims), len(spec.dims)
    try:
        if step.kind == "swap":
            first, second = step.dims
            dims[first], dims[second] = dims[second], dims[first]
        elif step.kind == "permute":
            if len(step.dims) != rank:
                return []
            before: list[Dimension] = [0] * rank
            for position, source in enumerate(step.dims):
                before[source] = dims[position]
            dims = before
        elif step.kind == "insert":
            del dims[step.dims[0]]
        elif step.kind == "squeeze":
            position = step.dims[0] % (rank + 1)
            return [spec, TensorSpec((*dims[:position], 1, *dims[position:]), spec.dtype)]
        elif step.kind == "remove":
            full = rank + len(step.dims)
            for position in sorted(dim % full for dim in step.dims):
                dims.insert(position, _fresh(dims))
        elif step.kind == "flatten":
            return _unflattened(spec, step.dims[0])
        elif step.kind == "share":
            count, position = step.dims
            whole = dims[position]
            if isinstance(whole, int):
                dims[position] = whole // count if whole % count == 0 else f"?{position % rank}"
        elif step.kind == "part":
            count, position = step.dims
            size = dims[position]
            dims[position] = size * count if isinstance(size, int) else f"?{position % rank}"
        elif step.kind == "cut":
            dims[step.dims[0]] = f"?{step.dims[0] % rank}"
        elif step.kind == "fold":
            return [spec, *_unflattened(spec, 1)]
        elif step.kind == "embed":
            return [TensorSpec(tuple(dims[:-1]), "int64")] if rank > 1 else []
        elif step.kind == "mapped":
            dims = [dim if index == 0 else f"?{index}" for index, dim in enumerate(dims)]
    except IndexError:
        return []
    return [TensorSpec(tuple(dims), spec.dtype)] if len(dims) <= 6 else []


def _unflattened(spec: TensorSpec, start: int) -> list[TensorSpec]:
    if len(spec.dims) != start + 1 or not isinstance(spec.dims[-1], int) or start != 1:
        return [spec]
    return [TensorSpec(item.dims, spec.dtype) for item in flattened(spec.dims[-1])]


def _fresh(dims: list[Dimension]) -> str:
    return next((name for name in _FRESH if name not in dims), f"?{len(dims)}")
