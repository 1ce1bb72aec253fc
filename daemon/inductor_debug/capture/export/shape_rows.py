"""What each dimension of the inputs became in an export, from the program and what was seen on the way."""

from __future__ import annotations

import re
from typing import Any

import torch
from inductor_debug_schema import Location
from inductor_debug_schema.answers.shapes_document import (
    DimensionState,
    InputDimension,
    ShapesDocument,
    UnbackedSymbol,
)
from torch.utils import _pytree as pytree

from inductor_debug.capture.export.export_run import ExportAttempt, tensors_of
from inductor_debug.capture.export.symbol_watch import Replaced
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import describe, innermost
from inductor_debug.capture.running.call_arguments import named_arguments, signature_of
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.tensors.size_symbols import finite
from inductor_debug.rules.recording.ops import Frame

_SOURCE = re.compile(r"L\['tensors'\]\[(?P<leaf>\d+)\]\.size\(\)\[(?P<dim>\d+)\]$")
_REMAINDER = re.compile(r"Mod\((.+), (\d+)\)")
"""By which torch writes the remainder of a division."""
_PARENTHESES = re.compile(r"^\((.+)\)$")
Place = tuple[int, int]
"""The number of a tensor among the inputs, and a dimension of it."""


def shapes_document(
    target: BuiltTarget, attempt: ExportAttempt, sources: SourceMap, stopped: BaseException | None
) -> ShapesDocument:
    """The document of a target that was exported, or of what was seen of it where that `stopped`."""
    names = names_of_inputs(target)
    rows = _Rows(attempt, names, sources)
    dimensions = [
        rows.row((leaf, dim), int(size))
        for leaf, tensor in enumerate(tensors_of(target))
        for dim, size in enumerate(tensor.shape)
    ]
    taken = attempt.program is not None and stopped is None
    return ShapesDocument(
        schema=1,
        target=target.name,
        exported=taken,
        dimensions=dimensions if attempt.program is not None else [],
        unbacked=[_unbacked(symbol, frames, sources) for symbol, frames in attempt.events.made.items()],
        dynamic_shapes=_dynamic_shapes(target, dimensions) if taken else "",
        marks=_marks(dimensions) if taken else "",
        why=describe(stopped) if stopped is not None else "",
        path=target.location.path,
    )


class _Rows:
    def __init__(self, attempt: ExportAttempt, names: list[str], sources: SourceMap) -> None:
        self._names, self._sources = names, sources
        self._made = _sizes_of(attempt)
        self._ranges = attempt.program.range_constraints if attempt.program is not None else {}
        self._decided: dict[Place, Replaced] = {}
        for event in attempt.events.replaced:
            place = _place_of(event.source)
            if place is not None:
                known = self._decided.get(place)
                # Sizes that are one first became the same, and then a number: what made it a number decided.
                if known is None or (known.number is None and event.number is not None):
                    self._decided[place] = event
        self._follow()
        self._first: dict[str, Place] = {}

    def _follow(self) -> None:
        """A size that must equal another became a number when that one did."""
        for place, event in list(self._decided.items()):
            other = _place_of(event.other)
            after = self._decided.get(other) if other is not None and event.number is None else None
            if after is not None and after.number is not None:
                self._decided[place] = after

    def row(self, place: Place, size: int) -> InputDimension:
        """What the dimension at `place` became, which was `size` in the example."""
        name, (_, dim) = self._names[place[0]], place
        now = self._made.get(place)
        event = self._decided.get(place)
        expression = getattr(getattr(now, "node", None), "expr", None)
        if event is not None and event.number is not None:
            state = DimensionState.SPECIALISED
            return InputDimension(input=name, dimension=dim, size=size, state=state, **self._because(event))
        if expression is None or getattr(expression, "is_number", False):
            state = DimensionState.STATIC if now is not None or size in (0, 1) else DimensionState.DYNAMIC
            return InputDimension(input=name, dimension=dim, size=size, state=state)
        symbol = str(expression)
        first = self._first.setdefault(symbol, place)
        lower, upper = self._range(expression)
        tied = f"{self._names[first[0]]}.shape[{first[1]}]" if first != place else ""
        event = (event or self._decided.get(first)) if tied else None
        return InputDimension(
            input=name,
            dimension=dim,
            size=size,
            asked=_asked(now, expression, f"{name}.shape[{dim}]"),
            state=DimensionState.TIED if tied else DimensionState.DYNAMIC,
            symbol=symbol,
            minimum=lower,
            maximum=upper,
            tied_to=tied,
            **self._because(event),
        )

    def _because(self, event: Replaced | None) -> dict[str, Any]:
        """The fields that say which expression decided."""
        where = _location(event.frames) if event is not None else None
        if where is None:
            return {}
        return {"because": self._sources.excerpt(where), "path": where.path, "range": where.range}

    def _range(self, expression: Any) -> tuple[int | None, int | None]:
        limits = self._ranges.get(expression)
        return finite(getattr(limits, "lower", None)), finite(getattr(limits, "upper", None))


def _asked(size: Any, symbol: Any, name: str) -> list[str]:
    """The conditions that the code has put on a size alone, but for its range."""
    environment = size.node.shape_env
    asked = []
    for guard in getattr(environment, "guards", ()):
        condition = environment.replace(guard.expr)
        if condition.free_symbols != {symbol} or getattr(condition, "rel_op", "") != "==":
            continue
        if not getattr(condition.rhs, "is_number", False) or str(condition.lhs).count(str(symbol)) > 1:
            continue  # what follows from the others
        written = _REMAINDER.sub(r"\1 % \2", str(condition.lhs)).replace(str(symbol), name)
        bare = _PARENTHESES.sub(r"\1", written)
        asked.append(f"{bare} == {condition.rhs}")
    return list(dict.fromkeys(asked))


def _sizes_of(attempt: ExportAttempt) -> dict[Place, Any]:
    """The sizes of the inputs in the exported program."""
    if attempt.program is None:
        return {}
    wanted = list(attempt.program.graph_signature.user_inputs)
    values = {node.name: node.meta.get("val") for node in attempt.program.graph.nodes if node.op == "placeholder"}
    found: dict[Place, Any] = {}
    for leaf, name in enumerate(wanted):
        value = values.get(str(name))
        if isinstance(value, torch.Tensor):
            found.update({(leaf, dim): size for dim, size in enumerate(value.shape)})
    return found


def names_of_inputs(target: BuiltTarget) -> list[str]:
    """What the code calls each input tensor: its argument, and the way to it where that holds several."""
    return [
        name + pytree.keystr(path)
        for name, value in named_arguments(target, "argument_{}").items()
        for path, leaf in pytree.tree_flatten_with_path(value)[0]
        if isinstance(leaf, torch.Tensor)
    ]


def _unbacked(symbol: str, frames: tuple[Frame, ...], sources: SourceMap) -> UnbackedSymbol:
    where = _location(frames)
    return UnbackedSymbol(
        symbol=symbol,
        expression=sources.excerpt(where) if where is not None else "",
        path=where.path if where is not None else None,
        range=where.range if where is not None else None,
    )


def _dynamic_shapes(target: BuiltTarget, dimensions: list[InputDimension]) -> str:
    """The argument of `torch.export.export`, where each argument of the target is a tensor or holds none."""
    free = _free(dimensions)
    if not free or any("[" in name or "." in name for name in free):
        return ""
    signature = signature_of(target)
    if signature is None:
        return ""
    try:
        bound = signature.bind(*target.args, **target.kwargs)
    except TypeError:
        return ""
    parts = []
    for name in bound.arguments:
        dims = ", ".join(f"{dim}: Dim.AUTO" for dim in free.get(name, ()))
        parts.append(f'"{name}": ' + (f"{{{dims}}}" if dims else "None"))
    return f"dynamic_shapes={{{', '.join(parts)}}}"


def _marks(dimensions: list[InputDimension]) -> str:
    return "\n".join(
        f"torch._dynamo.mark_dynamic({name}, {dim})" for name, dims in _free(dimensions).items() for dim in dims
    )


def _free(dimensions: list[InputDimension]) -> dict[str, list[int]]:
    free: dict[str, list[int]] = {}
    for each in dimensions:
        if each.state in (DimensionState.DYNAMIC, DimensionState.TIED):
            free.setdefault(each.input, []).append(each.dimension)
    return free


def _place_of(source: str) -> Place | None:
    found = _SOURCE.search(source)
    return (int(found["leaf"]), int(found["dim"])) if found is not None else None


def _location(frames: tuple[Frame, ...]) -> Location | None:
    index = innermost(frames)
    return frames[index].location if index is not None else None
