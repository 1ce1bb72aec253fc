"""From an exception to typed facts: which operands of which call contradict each other, in the user's own expressions.

It reads what a watched run left behind (the traceback, the recording) and the source; nothing is run or worded here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from inductor_debug_schema import ConflictKind, ConflictSide, Location, OperandFact, ShapeConflict, TraceStep
from torch import nn

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.call_expressions import CallExpression, Written
from inductor_debug.capture.failures.conflicts import Conflict, Side, conflict_of, operands_of, sizes_of
from inductor_debug.capture.failures.failed_calls import FailedCall, FailedExpression, failed_expression
from inductor_debug.capture.failures.size_history import SizeHistory, place_of
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.tensors.recorder import Recorder
from inductor_debug.rules.recording.ops import Op, TensorMeta


def conflict_facts(
    error: BaseException, recorder: Recorder, target: BuiltTarget, sources: SourceMap
) -> ShapeConflict | None:
    """The contradiction for which a run under `CallWatch` raised; None where it is no contradiction that is known.

    Args:
        error: what the run raised, with its traceback.
        recorder: what recorded that run.
        target: what ran.
        sources: the texts that ran.
    """
    failed = failed_expression(error.__traceback__, sources)
    if failed is None:
        return None
    candidates = list(reversed(failed.calls))
    if recorder.failed is not None and recorder.failed.error is error:
        candidates.append(FailedCall(recorder.failed.function, recorder.failed.args, recorder.failed.kwargs))
    for call in candidates:
        conflict = conflict_of(call.function, call.args, call.kwargs)
        if conflict is not None:
            return _Reader(failed, recorder, target, sources).facts(call, conflict)
    return None


class _Reader:
    """Describes the operands of one call that failed."""

    def __init__(self, failed: FailedExpression, recorder: Recorder, target: BuiltTarget, sources: SourceMap) -> None:
        self._recorder = recorder
        self._outer = failed.calls[0] if failed.calls else None
        self._sources = sources
        self._expression = CallExpression(sources, failed.frame.location)
        self._written: dict[int, list[Written]] = {} if self._outer is None else self._expression.tensors(self._outer)
        result = target.inference.result if target.inference is not None else None
        self._guessed = result is not None and not result.kept_since
        self._inputs = {origin.name for origin in recorder.recording.origins.values() if origin.kind == "input"}
        self._declarations = target.declarations
        self._modules = {} if target.module is None else dict(target.module.named_modules())
        self._history = SizeHistory(recorder.recording, namer(target.module, sources))

    def facts(self, call: FailedCall, conflict: Conflict) -> ShapeConflict:
        """The contradiction, with every operand described."""
        operands = [
            self._operand(index, tensor, conflict) for index, tensor in enumerate(operands_of(call.args, call.kwargs))
        ]
        return ShapeConflict(
            conflict=conflict.kind,
            operation=_operation(call.function),
            call=self._callee(),
            operands=operands,
            left=_side(conflict.left),
            right=None if conflict.right is None else _side(conflict.right),
            wanted=conflict.wanted,
        )

    def _callee(self) -> str:
        called = self._expression.callee() if self._outer is not None and self._outer.is_module else None
        return "" if called is None else called.text

    def _operand(self, index: int, tensor: torch.Tensor, conflict: Conflict) -> OperandFact:
        meta = self._recorder.tensors.meta(tensor)
        named = self._written.get(id(tensor), [])
        written = named.pop(0) if len(named) > 1 else next(iter(named), None)
        trace = self._trace(index, meta, conflict)
        return OperandFact(
            expression="" if written is None else written.text,
            owner="" if written is not None else self._owner(tensor),
            shape=sizes_of(tensor),
            dtype=meta.dtype,
            device=tensor.device.type,
            made_by=self._made_by(meta.value),
            made_at=self._history.place(meta.value) or self._declared(tensor),
            place=None if written is None else written.location,
            trace=trace,
            guessed=self._guessed and bool(trace) and trace[-1].first and trace[-1].name in self._inputs,
        )

    def _owner(self, tensor: torch.Tensor) -> str:
        """The module whose parameter a tensor is, as the source reaches it: `self.net[3]`."""
        module = None if self._outer is None else self._outer.function
        called = self._callee()
        if not isinstance(module, nn.Module) or not called:
            return ""
        for path, part in module.named_modules():
            if any(item is tensor for item in (*part._parameters.values(), *part._buffers.values())):
                return _inside(called, path)
        return ""

    def _declared(self, tensor: torch.Tensor) -> Location | None:
        """Where a parameter or buffer was declared that no recorded op has met."""
        for path, part in self._modules.items():
            for name, item in (*part._parameters.items(), *part._buffers.items()):
                if item is tensor:
                    frames = self._declarations.get(f"{path}.{name}" if path else name, ())
                    return next((frame.location for frame in frames if frame.in_project), None)
        return None

    def _made_by(self, value: int) -> str:
        """What made a value; where that is a part of the module that was called, as the source reaches it."""
        name, called = self._history.made_by(value), self._callee()
        if name not in self._modules:
            place = self._history.place(value)
            return name and (CallExpression(self._sources, place).text() if place is not None else name)
        outer = self._outer.function if self._outer is not None else None
        path = next((path for path, part in self._modules.items() if part is outer), "")
        if path and name == path:
            return ""  # what the called module itself makes of its input is no result of it
        inside = name.removeprefix(f"{path}.")
        return _inside(called, inside) if called and path and inside != name else name

    def _trace(self, index: int, meta: TensorMeta, conflict: Conflict) -> list[TraceStep]:
        side = next((s for s in (conflict.left, conflict.right) if s is not None and s.operand == index), None)
        if side is None or conflict.kind in (ConflictKind.RANK, ConflictKind.DEVICE, ConflictKind.LAYOUT):
            return []
        if conflict.kind is ConflictKind.DTYPE:
            step = self._history.dtype_change(meta)
            return [] if step is None else [step]
        dims = tuple(range(len(meta.shape))) if side.dim is None else (side.dim,)
        return self._history.trace(meta, dims)


def namer(root: nn.Module | None, sources: SourceMap) -> Callable[[Op], str]:
    """One word for what an op does: torch's own module that ran it, else what the source calls there."""
    modules = {} if root is None else dict(root.named_modules())
    names: dict[Location, str] = {}

    def name_of(op: Op) -> str:
        module = modules.get(op.module)
        if op.module and type(module).__module__.startswith("torch.nn."):
            return op.module
        place = place_of(op)
        if place is not None and place not in names:
            names[place] = CallExpression(sources, place).name()
        return (names[place] if place is not None else "") or op.packet.rpartition(".")[2].strip("_")

    return name_of


def _inside(called: str, path: str) -> str:
    """A part of a module as the source reaches it: `self.net[3]`."""
    steps = path.split(".") if path else []
    return called + "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in steps)


def _side(side: Side) -> ConflictSide:
    return ConflictSide(side.operand, side.dim, side.size)


def _operation(function: Any) -> str:
    if isinstance(function, nn.Module):
        return type(function).__name__
    schema = getattr(function, "_schema", None)
    name = str(schema.name).rpartition("::")[2] if schema is not None else str(getattr(function, "__name__", ""))
    return name.strip("_")
