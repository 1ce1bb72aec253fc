"""Cuts a recording into runs of the user's expressions, from the outermost frame inwards.

Neighbouring ops under the same expression are one run of it, unless a loop around the expression repeats them. A run of
an expression that calls the user's own functions gives what those return (`source.flow`); any other gives
what the last op under it made. Both are read off the order of the ops and the source: nothing here knows what Python
really did, so `exact` says where the answer is more than a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from inductor_debug_schema import Location

from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Frame, Op, Recording, TensorMeta
from inductor_debug.source.flow import Flow

MOST_VARIANTS = 4
MOST_FRAMES = 64
"""Expressions of one stack that are followed, from the outermost on: user code may recurse."""

_RECURRENT = ("rnn", "lstm", "gru")
"""Marks of the operators of modules that give a sequence and a state."""
Metas = tuple[TensorMeta, ...]


@dataclass(slots=True)
class Expression:
    """What is gathered about one expression. `outputs` are those of its last run."""

    location: Location
    looped: bool
    flow: Flow
    outputs: Metas = ()
    exact: bool = True
    runs: int = 0
    op_count: int = 0
    ops: dict[str, int] = field(default_factory=dict)
    modules: dict[str, None] = field(default_factory=dict)
    variants: dict[object, Metas] = field(default_factory=dict)


def expressions_of(recording: Recording, flow_of: Callable[[str], Flow]) -> list[Expression]:
    """Every expression in the project's files under the ops of `recording`, in the order in which they first ran.

    Args:
        recording: the ops of one stage of one target.
        flow_of: where the functions of the file at a path loop, and what they return.
    """
    walk = _Walk(flow_of)
    walk.segment([(op, path) for op in recording.ops if (path := walk.path(op.frames))], 0)
    return list(walk.expressions.values())


_Step = tuple[Op, tuple[Expression, ...]]
"""An op and the project's expressions it ran under, outermost first."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of an expression and what came of it; `expression` is None for ops that ran there directly."""

    expression: Expression | None
    outputs: Metas
    exact: bool


class _Walk:
    """One pass over the ops."""

    def __init__(self, flow_of: Callable[[str], Flow]) -> None:
        self.expressions: dict[Location, Expression] = {}
        self._flow_of = flow_of
        self._by_frame: dict[int, Expression] = {}
        self._paths: dict[int, tuple[Expression, ...]] = {}

    def path(self, frames: tuple[Frame, ...]) -> tuple[Expression, ...]:
        """The expressions of a stack, outermost first. Stacks are interned, so each is looked at once."""
        known = self._paths.get(id(frames))
        if known is None:
            outwards = [frame for frame in frames if frame.in_project]
            known = tuple(self._expression(frame) for frame in reversed(outwards[-MOST_FRAMES:]))
            known = known[:MOST_FRAMES]
            self._paths[id(frames)] = known
        return known

    def _expression(self, frame: Frame) -> Expression:
        known = self._by_frame.get(id(frame))
        if known is None:
            known = self.expressions.get(frame.location)
            if known is None:
                flow = self._flow_of(frame.location.path)
                looped = flow.loops_around(frame.location.range)
                known = Expression(frame.location, looped, flow)
                self.expressions[frame.location] = known
            self._by_frame[id(frame)] = known
        return known

    def segment(self, steps: Sequence[_Step], depth: int) -> list[_Run]:
        """Cuts steps with the same outer `depth` expressions into runs of what is inside those."""
        runs: list[_Run] = []
        start = 0
        while start < len(steps):
            expression = _at(steps[start], depth)
            end = start + 1
            while end < len(steps) and _at(steps[end], depth) is expression:
                end += 1
            part = steps[start:end]
            if expression is None:
                last = _last_of(part)
                # What a library's function or a recurrent module makes of its last op, nobody knows.
                sure = last.frames[0].in_project and not any(map(_is_recurrent, part))
                runs.append(_Run(None, _made_by(last), sure))
            else:
                pieces = _pieces(part, depth) if expression.looped else [part]
                runs += [self._run(expression, piece, depth) for piece in pieces]
            start = end
        return runs

    def _run(self, expression: Expression, steps: Sequence[_Step], depth: int) -> _Run:
        inner = self.segment(steps, depth + 1)
        outputs, exact = _outcome(inner)
        expression.runs += 1
        expression.outputs, expression.exact = outputs, exact and expression.exact
        if len(expression.variants) < MOST_VARIANTS:
            expression.variants.setdefault(_identity(outputs), outputs)
        expression.op_count += len(steps)
        ops = expression.ops
        for op, _ in steps:
            ops[op.overload] = ops.get(op.overload, 0) + 1
        expression.modules[_around({op.module for op, _ in steps})] = None
        return _Run(expression, outputs, exact)


def _at(step: _Step, depth: int) -> Expression | None:
    path = step[1]
    return path[depth] if depth < len(path) else None


def _last_of(steps: Sequence[_Step]) -> Op:
    """The last op that made what is given: not the copies and views of what is kept for the backward pass."""
    asides: set[int] | None = None
    for op, _ in reversed(steps):
        if op.packet == "aten.detach":
            continue
        if not op.is_view:
            return op
        if asides is None:
            made = [other for other, _ in steps if len(other.outputs) > 1 and operators.has_notes(other.packet)]
            asides = {meta.value for other in made for meta in other.outputs[1:]}
        if not asides.intersection(meta.value for meta in op.inputs):
            return op
    return steps[-1][0]


def _made_by(op: Op) -> Metas:
    """The tensors an op gave its caller; those of a backward pass go to nobody in the source."""
    if op.autograd_node:
        return ()
    return op.outputs[:1] if operators.has_notes(op.packet) else op.outputs


def _is_recurrent(step: _Step) -> bool:
    return any(mark in step[0].overload for mark in _RECURRENT)


def _outcome(inner: Sequence[_Run]) -> tuple[Metas, bool]:
    """What a run gave: what the functions it called returned, else what the last op under it made."""
    last = inner[-1]
    if last.expression is None:
        return last.outputs, last.exact
    parts: dict[int, Metas] = {}
    slots = 0
    for run in reversed(inner):
        for result in run.expression.flow.results.get(run.expression.location.range, ()) if run.expression else ():
            slots = slots or result.slots
            if result.slots != slots or result.slot in parts or not run.exact:
                continue
            if result.part is None:
                parts[result.slot] = run.outputs
            elif result.part < len(run.outputs):
                parts[result.slot] = run.outputs[result.part : result.part + 1]
        if slots and len(parts) == slots:
            return tuple(meta for slot in range(slots) for meta in parts[slot]), True
    return last.outputs, False


def _pieces(steps: Sequence[_Step], depth: int) -> list[Sequence[_Step]]:
    """Cuts neighbouring runs of a looped expression apart: where what ran first inside it begins again.

    Where nothing of the user's runs inside it, or only one thing, the ops themselves must repeat.
    """
    first = _at(steps[0], depth + 1)
    if first is not None and not first.looped:
        inner = [_at(step, depth + 1) for step in steps]
        starts = [0, *(i for i in range(1, len(inner)) if inner[i] is first and inner[i - 1] is not first)]
        if len(starts) > 1:
            return [steps[start:end] for start, end in zip(starts, [*starts[1:], len(steps)], strict=True)]
    elif first is not None:
        return [steps]
    length = period([(op.overload, *map(id, path[depth + 1 :])) for op, path in steps])
    return [steps[start : start + length] for start in range(0, len(steps), length)]


def period(items: Sequence[object]) -> int:
    """The length of the shortest sequence that `items` repeats a whole number of times (Knuth, Morris and Pratt)."""
    borders = [0] * len(items)
    border = 0
    for index in range(1, len(items)):
        while border and items[index] != items[border]:
            border = borders[border - 1]
        if items[index] == items[border]:
            border += 1
        borders[index] = border
    length = len(items) - border
    return length if len(items) % length == 0 else len(items)


def _around(modules: set[str]) -> str:
    """The innermost module around all of these: `layer.0` around `layer.0.query` and `layer.0.key`."""
    if len(modules) == 1:
        return next(iter(modules))
    paths = [module.split(".") for module in modules]
    first, last = min(paths), max(paths)
    length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
    return ".".join(first[:length])


def _identity(metas: Metas) -> object:
    return tuple((meta.shape, meta.dtype) for meta in metas)
