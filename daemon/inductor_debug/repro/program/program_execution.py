"""Runs programs: on seeded or recorded tensors, or on fake ones that only tell shapes.

The one place where a step's target becomes a function. It isolates nothing: attempts that may crash or hang are run by
`attempts`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.repro.program.from_recording import operator
from inductor_debug.repro.program.program import (
    Body,
    CodeText,
    Input,
    Program,
    ProgramStep,
    Ref,
    Spec,
    StepKind,
    mapped,
    row_major,
)
from inductor_debug.repro.program.sharing import view_of

Recorded = Mapping[str, torch.Tensor]
"""Values that were seen, by the name they had in the whole program."""


class StepError(Exception):
    """A step raised; `index` says which, and the cause is what it raised."""

    def __init__(self, index: int, step: ProgramStep) -> None:
        super().__init__(f"step {index} ({step.target}) raised")
        self.index = index
        self.step = step


def dtype_of(name: str) -> torch.dtype:
    """`torch.float32` for `float32`."""
    found = getattr(torch, name)
    assert isinstance(found, torch.dtype)
    return found


@functools.lru_cache(maxsize=4096)
def evaluated(text: str) -> Any:
    """What a `CodeText` stands for. Its text is ours: names of torch, slices, numbers."""
    return eval(text, {"torch": torch, "math": math, "inf": math.inf, "nan": math.nan})


@functools.lru_cache(maxsize=4096)
def named(dotted: str) -> Any:
    """The function of that dotted name.

    Raises:
        LookupError: there is none.
    """
    parts = dotted.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        try:
            return functools.reduce(getattr, parts[length:], found)
        except AttributeError:
            continue
    raise LookupError(dotted)


def function_of(step: ProgramStep) -> Callable[..., Any]:
    """What carries a step out.

    Raises:
        LookupError: this torch has no such function.
    """
    if step.kind is StepKind.METHOD:
        return _Method(step.target)
    found = operator(step.target) if step.kind is StepKind.OPERATOR else named(step.target)
    if found is None:
        raise LookupError(step.target)
    return found  # type: ignore[no-any-return]


class _Method:
    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, this: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(this, self._name)(*args, **kwargs)


def run(
    program: Program, values: dict[str, Any], *, observe: Callable[[int, dict[str, Any]], None] | None = None
) -> list[Any]:
    """Carries the steps out in order and returns the outputs; `values` are those of the inputs and is filled.

    Raises:
        StepError: a step raised.
    """
    for index, step in enumerate(program.steps):
        try:
            args = mapped(step.args, lambda item: _given(item, values))
            kwargs = {name: mapped(item, lambda leaf: _given(leaf, values)) for name, item in step.kwargs}
            result = function_of(step)(*args, **kwargs)
        except Exception as error:
            raise StepError(index, step) from error
        _bind(step, result, values)
        if observe is not None:
            observe(index, values)
    return [values[name] for name in program.outputs]


def _given(item: Any, values: dict[str, Any]) -> Any:
    if isinstance(item, Ref):
        return values[item.name]
    if isinstance(item, Body):
        return _Function(item)
    return evaluated(item.text) if isinstance(item, CodeText) else item


class _Function:
    """A body as something to call."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def __call__(self, *args: Any) -> Any:
        values = dict(zip((item.name for item in self._body.program.inputs), args, strict=True))
        run(self._body.program, values)
        return mapped(self._body.result, lambda leaf: _given(leaf, values))


def _bind(step: ProgramStep, result: Any, values: dict[str, Any]) -> None:
    if step.single:
        if step.outputs and step.outputs[0]:
            values[step.outputs[0]] = result
        return
    for name, index in zip(step.outputs, step.indexes or range(len(step.outputs)), strict=False):
        if name:
            values[name] = result[index]


def tensors_of(program: Program, recorded: Recorded | None = None, *, seed: int = 0) -> dict[str, Any]:
    """Values for all inputs: the recorded ones where an input wants them and they are known, else seeded ones.

    Memory that inputs lie in has a value, too (`Input.hidden`).
    """
    torch.manual_seed(seed)
    values: dict[str, Any] = {}
    for item in program.inputs:
        values[item.name] = _made(item, values, recorded or {})
    return values


def _made(item: Input, values: dict[str, Any], recorded: Recorded) -> Any:
    if item.spec is None:
        return item.literal
    if item.base and isinstance(values.get(item.base), torch.Tensor):
        return view_of(values[item.base], item)
    seen = recorded.get(item.source)
    if item.values.value == "recorded" and seen is not None and tuple(seen.shape) == item.spec.shape:
        made = placed(seen.detach().to(dtype_of(item.spec.dtype)), item.spec)
    else:
        made = placed(seeded(item), item.spec)
    return made.requires_grad_(item.spec.requires_grad) if item.spec.requires_grad else made


def seeded(item: Input) -> torch.Tensor:
    """A row-major tensor of the input's shape, dtype and statistics, from torch's own generator."""
    assert item.spec is not None
    dtype = dtype_of(item.spec.dtype)
    if dtype is torch.bool:
        return torch.rand(item.spec.shape) < 0.5
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.randint(0, max(item.bound, 1), item.spec.shape, dtype=dtype)
    if item.deviation == 0:
        return torch.full(item.spec.shape, item.mean, dtype=dtype)
    made = torch.randn(item.spec.shape, dtype=dtype if dtype.itemsize > 1 else torch.float32)
    if (item.mean, item.deviation) != (0.0, 1.0):
        made = made * item.deviation + item.mean
    return made.to(dtype)


def placed(tensor: torch.Tensor, spec: Spec) -> torch.Tensor:
    """The same values in memory of these strides. Always a new tensor."""
    if tuple(spec.stride) == row_major(spec.shape):
        return tensor.clone(memory_format=torch.contiguous_format)
    made = torch.empty_strided(spec.shape, spec.stride, dtype=tensor.dtype, device=tensor.device)
    with contextlib.suppress(RuntimeError):  # dimensions of stride 0 hold one value for all places
        made.copy_(tensor)
        return made
    return tensor.as_strided(spec.shape, spec.stride) if tensor.numel() else made


def respecified(program: Program) -> Program | None:
    """The program with the specs that its steps really give, or None where it cannot run at all.

    Runs on fake tensors: no memory, no arithmetic. Private `FakeTensorMode` as in `capture.tensors.fake_mode`, torch
    2.11 to 2.13.
    """
    made: dict[tuple[int, int], Spec | None] = {}

    def observe(index: int, values: dict[str, Any]) -> None:
        step = program.steps[index]
        for place, name in enumerate(step.outputs):
            value = values.get(name)
            made[index, place] = spec_of(value) if isinstance(value, torch.Tensor) else None

    try:
        with quiet(), FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
            run(program, tensors_of(program), observe=observe)
    except Exception:
        return None
    steps = [
        dataclasses.replace(step, specs=tuple(made.get((index, place)) for place in range(len(step.outputs))))
        for index, step in enumerate(program.steps)
    ]
    return dataclasses.replace(program, steps=tuple(steps))


def spec_of(tensor: torch.Tensor) -> Spec | None:
    """What a tensor looks like; None where it has no strides or symbolic sizes."""
    try:
        shape, stride = tuple(map(int, tensor.shape)), tuple(map(int, tensor.stride()))
    except (RuntimeError, NotImplementedError, TypeError):
        return None
    dtype = str(tensor.dtype).removeprefix("torch.")
    return Spec(shape, stride, dtype, str(tensor.device), bool(tensor.requires_grad and tensor.is_leaf))
