"""Smaller sizes and more ordinary dtypes for a program: candidates only, nothing is judged here.

A size may stand in several inputs and in literal arguments, and products of it elsewhere; a candidate changes all of
them together, and is offered only if its steps still fit each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from inductor_debug.repro.program.program import CodeText, Input, Program, Spec, mapped, row_major
from inductor_debug.repro.program.program_execution import respecified
from inductor_debug.repro.program.sharing import relinked

_MOST_SIZES = 12
_ORDINARY = "float32"
_UNUSUAL = ("float64", "bfloat16", "float16")


@dataclass(frozen=True)
class Shrunk:
    """A candidate, and what it changes: `the size 768 becomes 384`."""

    program: Program
    words: str


def shrinkings(program: Program) -> Iterator[Shrunk]:
    """Candidates, boldest first, each size from the largest; then dtypes."""
    sizes = sorted(
        {size for item in program.arguments if item.spec for size in item.spec.shape if size > 1}, reverse=True
    )
    for size in sizes[:_MOST_SIZES]:
        for smaller in dict.fromkeys((1, 2, size // 2)):
            if not 1 <= smaller < size:
                continue
            for found in _resized(program, size, smaller):
                yield Shrunk(found, f"the size {size} becomes {smaller}")
    for dtype in _UNUSUAL:
        retyped = _retyped(program, dtype)
        if retyped is not None:
            yield Shrunk(retyped, f"{dtype} becomes {_ORDINARY}")


def _resized(program: Program, old: int, new: int) -> Iterator[Program]:
    """The program with `old` replaced where that fits: with its multiples scaled, and with them as they are."""

    def alone(size: int) -> int:
        return new if size == old else size

    def scaled(size: int) -> int:
        return size // old * new if size % old == 0 else size

    for change in (scaled, alone):
        for literals in (True, False):
            candidate = _changed(program, change, literals)
            found = respecified(candidate) if candidate is not None else None
            if found is not None:
                yield found
                break


def _changed(program: Program, change: Callable[[int], int], literals: bool) -> Program | None:
    inputs = relinked([_input(item, change) for item in program.inputs])
    if inputs is None:
        return None

    def literal(value: Any) -> Any:
        return change(value) if type(value) is int and value > 1 else value

    steps = program.steps
    if literals:
        steps = tuple(
            dataclasses.replace(
                step,
                args=(*step.args[:1], *mapped(step.args[1:], literal)),
                kwargs=mapped(step.kwargs, literal),
            )
            for step in steps
        )
    candidate = dataclasses.replace(program, inputs=inputs, steps=steps)
    return None if candidate == program else candidate


def _input(item: Input, change: Callable[[int], int]) -> Input:
    if item.spec is None or item.hidden:
        return item
    if not item.base:
        return dataclasses.replace(item, spec=_spec(item.spec, change))
    # Where a view lies in its base is told by products of the base's sizes.
    spec = dataclasses.replace(
        item.spec, shape=tuple(map(change, item.spec.shape)), stride=tuple(map(change, item.spec.stride))
    )
    return dataclasses.replace(item, spec=spec, offset=change(item.offset))


def _spec(spec: Spec, change: Callable[[int], int]) -> Spec:
    shape = tuple(map(change, spec.shape))
    if shape == spec.shape:
        return spec
    return dataclasses.replace(spec, shape=shape, stride=_strides(spec, shape))


def _strides(spec: Spec, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of the new shape in the order that they had; repeated dimensions stay repeated, gaps are closed."""
    if spec.stride == row_major(spec.shape):
        return row_major(shape)
    order = sorted(range(len(shape)), key=lambda index: (spec.stride[index], -index))
    strides, step = [0] * len(shape), 1
    for index in order:
        if spec.stride[index] == 0:
            continue
        strides[index] = step
        step *= max(shape[index], 1)
    return tuple(strides)


def _retyped(program: Program, dtype: str) -> Program | None:
    """All of one dtype made ordinary: inputs and what the steps are told."""

    def change(value: Any) -> Any:
        return CodeText(f"torch.{_ORDINARY}") if value == CodeText(f"torch.{dtype}") else value

    def renamed(item: Input) -> Input:
        if item.spec is None or item.spec.dtype != dtype:
            return item
        return dataclasses.replace(item, spec=dataclasses.replace(item.spec, dtype=_ORDINARY))

    steps = tuple(
        dataclasses.replace(step, args=mapped(step.args, change), kwargs=mapped(step.kwargs, change))
        for step in program.steps
    )
    candidate = dataclasses.replace(program, inputs=tuple(map(renamed, program.inputs)), steps=steps)
    return None if candidate == program else respecified(candidate)
