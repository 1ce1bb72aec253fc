"""Which stated shapes are wrong: those that no run bears out, where nothing about the statement is in doubt.

What has to be so (jaxtyping) is judged by every call; comments and docstrings are for people, who leave out batches,
mean what is broadcast, and use a letter twice: of these only what cannot be read in another way is told.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from inductor_debug_schema import Finding, Severity, ShapeFault, Stage, StatedBy, StatedShape

from inductor_debug.capture.annotations.shape_watch import ShapeSeen
from inductor_debug.rules.words.shape_words import sentence_of
from inductor_debug.source.shape_notes import ANY_NUMBER, ShapeNote

_RULE = "shape-annotation"
_BATCH = frozenset({"b", "n", "bs", "bsz", "bz", "batch", "batch_size", "batchsize", "num"})
_AGREEING = 2
"""Statements that have to hold in a function, or in its call, before one is doubted in a run on guessed inputs."""
_WHOLE = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
_CLASSES: dict[str, Callable[[torch.dtype], bool]] = {
    "Float": lambda dtype: dtype.is_floating_point,
    "Int": lambda dtype: dtype in _WHOLE and dtype.is_signed,
    "UInt": lambda dtype: dtype in _WHOLE and not dtype.is_signed,
    "Integer": lambda dtype: dtype in _WHOLE,
    "Bool": lambda dtype: dtype is torch.bool,
    "Complex": lambda dtype: dtype.is_complex,
    "Inexact": lambda dtype: dtype.is_floating_point or dtype.is_complex,
    "Float16": lambda dtype: dtype is torch.float16,
    "BFloat16": lambda dtype: dtype is torch.bfloat16,
    "Float32": lambda dtype: dtype is torch.float32,
    "Float64": lambda dtype: dtype is torch.float64,
    "Int32": lambda dtype: dtype is torch.int32,
    "Int64": lambda dtype: dtype is torch.int64,
}
_OPERATORS: dict[type[ast.operator], Callable[[int, int], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
}


def shape_findings(seen: Sequence[ShapeSeen]) -> list[Finding]:
    """What is wrong with the statements of a file's functions, from what was seen of all its targets."""
    misled = {one.target for one in seen if one.entered and one.guessed and _fault_of(one) is not None}
    kept = [one for one in seen if not (one.guessed and (one.target in misled or one.entered))]
    found = [finding for calls in _by(kept, _call_of).values() for finding in _annotated(calls)]
    for of_note in _by(kept, lambda one: (one.path, one.note)).values():
        first = of_note[0]
        if first.note.stated_by is StatedBy.ANNOTATION:
            continue
        faults = [_fault_of(one) for one in of_note]
        if (
            all(faults)
            and faults[0] is not None
            and not (first.guessed and _may_be_the_guess(first, faults[0][0], kept))
        ):
            found.append(_finding(first, *faults[0]))
    return list({(one.path, one.range): one for one in found}.values())


def _by(seen: Iterable[ShapeSeen], key: Callable[[ShapeSeen], Any]) -> dict[Any, list[ShapeSeen]]:
    groups: dict[Any, list[ShapeSeen]] = {}
    for one in seen:
        groups.setdefault(key(one), []).append(one)
    return groups


def _call_of(one: ShapeSeen) -> Any:
    return one.target, one.path, one.line, one.call


def _may_be_the_guess(one: ShapeSeen, fault: ShapeFault, every: Sequence[ShapeSeen]) -> bool:
    """Whether too little else holds in the function to doubt a statement rather than the inputs that were guessed."""
    agreeing = _agreeing(one, every)
    if fault is ShapeFault.RANK and one.note.stated_by is StatedBy.COMMENT:
        # The input may have the wrong number of dimensions, which comes right later on.
        return len(agreeing) < _AGREEING or all(note.range.start > one.note.range.start for note in agreeing)
    return len(agreeing) < _AGREEING


def _agreeing(one: ShapeSeen, every: Sequence[ShapeSeen]) -> list[ShapeNote]:
    """The other statements in the same function that hold."""
    same = {other.note: other for other in every if (other.path, other.line) == (one.path, one.line)}
    return [note for note, other in same.items() if note != one.note and _fault_of(other) is None]


def _fault_of(one: ShapeSeen) -> tuple[ShapeFault, dict[str, int]] | None:
    """What is wrong with one statement by itself, and the sizes that show it."""
    dims, shape = one.note.dims, one.shape
    if one.note.stated_by is StatedBy.ANNOTATION:
        return _against(dims, shape, {})
    if ANY_NUMBER in dims:
        return (ShapeFault.RANK, {}) if len(shape) < len(dims) - 1 else None
    if len(dims) != len(shape):
        return None if _leaves_out_batch(dims, shape) else (ShapeFault.RANK, {})
    if one.note.stated_by is StatedBy.DOCSTRING:
        return None
    wrong: dict[str, int] = {}
    for dim, size in zip(dims, shape, strict=True):
        stated = _value(dim, one.sizes)
        # A size of one may be stated as what it is broadcast to.
        if stated is not None and type(size) is int and size != 1 and stated != size:
            wrong |= {name: value for name, value in one.sizes.items() if name in _names(dim)}
    return (ShapeFault.SIZE, wrong) if wrong else None


def _leaves_out_batch(dims: Sequence[str], shape: Sequence[Any]) -> bool:
    """Whether a statement may be about one example of a batch."""
    return len(shape) == len(dims) + 1 and dims[0].lower() not in _BATCH


def _annotated(calls: Sequence[ShapeSeen]) -> Iterable[Finding]:
    """What is wrong with jaxtyping's annotations in one call, in which a name stands for one size."""
    known: dict[str, int] = {}
    for one in calls:
        if one.note.stated_by is not StatedBy.ANNOTATION:
            continue
        fits = _CLASSES.get(one.note.dtype)
        if fits is not None and not fits(one.dtype):
            yield _finding(one, ShapeFault.DTYPE, {})
            continue
        fault = _against(one.note.dims, one.shape, known)
        if fault is not None:
            yield _finding(one, *fault)


def _against(
    dims: Sequence[str], shape: Sequence[Any], known: dict[str, int]
) -> tuple[ShapeFault, dict[str, int]] | None:
    """What is wrong with a shape by the rules of jaxtyping; names that are new are learnt."""
    open_at = [index for index, dim in enumerate(dims) if dim == ANY_NUMBER or "*" in _marks(dim)]
    if len(open_at) > 1:
        return None
    if open_at:
        if len(shape) < len(dims) - 1:
            return ShapeFault.RANK, {}
        at = open_at[0]
        left = list(zip(dims[:at], shape[:at], strict=True))
        rest = len(dims) - at - 1
        pairs = left + list(zip(dims[at + 1 :], shape[len(shape) - rest :], strict=True))
    elif len(dims) != len(shape):
        return ShapeFault.RANK, {}
    else:
        pairs = list(zip(dims, shape, strict=True))
    for dim, size in pairs:
        name = dim.rpartition("=")[2].lstrip("*#?_")
        if type(size) is not int or "?" in _marks(dim) or not name or "_" in _marks(dim):
            continue
        if "#" in _marks(dim) and size == 1:
            continue
        if name.isdigit():
            if int(name) != size:
                return ShapeFault.SIZE, {}
        elif name.isidentifier() and known.setdefault(name, size) != size and "#" not in _marks(dim):
            return ShapeFault.SIZE, {name: known[name]}
    return None


def _marks(dim: str) -> str:
    return dim[: len(dim) - len(dim.lstrip("*#?_"))]


def _value(dim: str, sizes: Mapping[str, int]) -> int | None:
    """What a stated size comes to; None where it is a number alone, or has a name that is not known."""
    names = _names(dim)
    if not names or not names <= sizes.keys():
        return None
    try:
        value = _computed(ast.parse(dim, mode="eval").body, sizes)
    except (SyntaxError, ValueError, ZeroDivisionError, KeyError):
        return None
    return int(value) if value == int(value) else None


def _names(dim: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(dim, mode="eval")) if isinstance(node, ast.Name)}


def _computed(node: ast.expr, sizes: Mapping[str, int]) -> float:
    if isinstance(node, ast.Name):
        return sizes[node.id]
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.BinOp):
        return float(_OPERATORS[type(node.op)](_computed(node.left, sizes), _computed(node.right, sizes)))  # type: ignore[arg-type]
    raise ValueError(ast.dump(node))


def _instead(one: ShapeSeen) -> str:
    """What a comment had to say, where each size is that of one name of the function's alone."""
    note = one.note
    if note.stated_by is not StatedBy.COMMENT or not all(type(size) is int for size in one.shape):
        return ""
    names = [[name for name, value in one.sizes.items() if value == size] for size in one.shape]
    if any(len(found) != 1 and size != 1 for found, size in zip(names, one.shape, strict=True)):
        return ""
    dims = [found[0] if len(found) == 1 else str(size) for found, size in zip(names, one.shape, strict=True)]
    if note.written[0] in "([":
        return f"{note.written[0]}{', '.join(dims)}{note.written[-1]}"
    return " x ".join(dims)


def _finding(one: ShapeSeen, fault: ShapeFault, sizes: dict[str, int]) -> Finding:
    note: ShapeNote = one.note
    dtype = str(one.dtype).removeprefix("torch.")
    facts = StatedShape(
        stated_by=note.stated_by,
        shape_fault=fault,
        named=note.named,
        in_function=one.function,
        written=note.dtype if fault is ShapeFault.DTYPE else note.written,
        shape=[str(size) for size in one.shape],
        dtype=dtype,
        sizes=sizes,
        instead=_instead(one),
    )
    return Finding(
        rule=_RULE,
        severity=Severity.WARNING if note.stated_by is StatedBy.ANNOTATION else Severity.INFORMATION,
        message=sentence_of(facts),
        path=one.path,
        range=note.range,
        stage=Stage.PREVIEW,
        target=one.target,
        facts=facts,
    )
