"""Functions that silently run in eager: their operations ran although no captured graph has them.

A run that is recorded anyway tells it at no cost: whatever was recorded outside of the graphs ran as plain Python. What
a graph break says itself (the operation that broke, a function that Dynamo gave up on at the break) is not said again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
from inductor_debug_schema import EagerFunction, Finding, Location, Related, Severity
from torch.fx import GraphModule

from inductor_debug.capture.failures.failures import innermost
from inductor_debug.capture.graphs.graph_runner import GraphRunner
from inductor_debug.capture.stages.dynamo_run import Callers, DynamoRun
from inductor_debug.rules.recording.guard_facts import EagerFact
from inductor_debug.rules.recording.ops import Frame, Op

_MOST_RELATED = 8
_READ = frozenset({"aten._local_scalar_dense", "aten.is_nonzero", "aten.item"})
"""Operations that read a value out of a tensor: what breaks a graph at a branch, and nothing that is compiled."""

_TAKEN_IN = "aten.lift_fresh"
"""What numbers and NumPy arrays become tensors by: Dynamo does it outside of the graph that is given them."""


class WatchedRunner:
    """Runs the graphs as they are, and notes which of the recorded operations were in one."""

    def __init__(self, run: DynamoRun) -> None:
        self._run = run
        self._eager = GraphRunner(run.recorder, run.attribution, run.origins)
        self._captured: list[range] = []

    def compiled(self, graph_module: GraphModule, callers: Callers) -> Callable[..., tuple[Any, ...]]:
        """The compiled form of the graph."""
        inner = self._eager.compiled(graph_module, callers)
        ops = self._run.recorder.recording.ops

        def run(*args: Any) -> tuple[Any, ...]:
            before = len(ops)
            try:
                return inner(*args)
            finally:
                self._captured.append(range(before, len(ops)))

        return run

    def whole(self, graph_module: GraphModule, arguments: list[torch.Tensor]) -> None:
        """A graph that is all of the target."""
        self.compiled(graph_module, lambda _: ())(*arguments)

    def functions(self) -> list[EagerFact]:
        """The user's functions with operations outside of every graph, but for those that broke one."""
        inside = {index for captured in self._captured for index in captured}
        broken = [Location(found.path, found.range) for found in self._run.breaks.findings]
        found: dict[tuple[str, str], list[tuple[Frame, ...]]] = {}
        for op in self._run.recorder.recording.ops:
            passed_over = op.index in inside or op.is_view or op.packet == _TAKEN_IN  # a view computes nothing
            frames = () if passed_over else _frames(op)
            # What broke the graph is told as such.
            if frames and not any(_tells(place, op, frames[0].location) for place in broken):
                found.setdefault((frames[0].location.path, frames[0].function), []).append(frames)
        return [
            EagerFact(function, len(ran), ran[0][0].location, tuple(frame.location for frame in ran[0][1:]))
            for (_, function), ran in found.items()
        ]


def untold(run: DynamoRun, eager: Sequence[EagerFact]) -> list[EagerFact]:
    """Those functions of which no finding about a graph break or a recompilation says already that they run eagerly."""
    return [
        fact
        for fact in eager
        if fact.place is not None and not run.breaks.explains(fact.function, fact.place, fact.called_from)
    ]


def eager_findings(run: DynamoRun, eager: Sequence[EagerFact], explained: Sequence[Finding]) -> list[Finding]:
    """`eager-fallback` for each function; `explained` are findings that may say why."""
    why = [
        Related(found.path, found.range, found.message)
        for found in explained
        if found.rule in ("graph-break", "recompile")
    ]
    # What the first break leaves in eager is one thing to learn, however many functions it leaves there.
    cause = f"{why[0].path}:{why[0].range.start.line}" if why else ""
    return [
        Finding(
            rule="eager-fallback",
            severity=Severity.WARNING,
            message=(
                f"`{fact.function}` runs eagerly: {fact.operations} of its operations "
                f"{'is' if fact.operations == 1 else 'are'} in no graph, and no compiler sees them."
            ),
            path=fact.place.path,
            range=fact.place.range,
            stage=run.stage,
            target=run.target.name,
            count=fact.operations,
            related=[related for related in why if related.path == fact.place.path][:_MOST_RELATED],
            cause=cause,
            facts=EagerFunction(fact.function, fact.operations),
        )
        for fact in eager
        if fact.place is not None
    ]


def _frames(op: Op) -> tuple[Frame, ...]:
    """The user's innermost frame and all that led to it; nothing where there is none."""
    index = innermost(op.frames)
    return op.frames[index:] if index is not None else ()


def _tells(broken: Location, op: Op, ran: Location) -> bool:
    """Whether what ran is what broke, as far as is known of the code that Dynamo has rewritten.

    Python 3.10 shows the whole line, and Python 3.13.0 with torch 2.11 puts the read of a branch at the function.
    """
    if _within(ran, broken) or (sys.version_info < (3, 11) and _within(broken, ran)):
        return True
    return op.packet in _READ and ran.path == broken.path


def _within(inner: Location, outer: Location) -> bool:
    return inner.path == outer.path and outer.range.encloses(inner.range)
