"""The events of a trace as trees: which call ran within which on a thread, and what each launched on a device."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from inductor_debug.traces.chrome_trace import ON_DEVICE, EventKind, Trace, TraceEvent

STEP = "ProfilerStep#"
"""How the annotation begins that `torch.profiler` puts around a step."""
_STEP = re.compile(rf"^{STEP}\d+$")


@dataclass(slots=True, eq=False)
class HostCall:
    """A call on the host: those that ran within it, in their order, and what it launched itself on a device."""

    event: TraceEvent
    parent: HostCall | None
    children: list[HostCall] = field(default_factory=list)
    launched: list[TraceEvent] = field(default_factory=list)

    def everything(self) -> Iterator[HostCall]:
        """The call and all within it, in the order in which they began."""
        pending = [self]
        while pending:
            call = pending.pop()
            yield call
            pending += reversed(call.children)

    def above(self) -> Iterator[HostCall]:
        """The calls around it, the innermost first."""
        call = self.parent
        while call is not None:
            yield call
            call = call.parent


@dataclass(slots=True)
class CallTrees:
    """The outermost calls of all threads, in the order in which they began; `stray` is what no known call launched."""

    outermost: list[HostCall]
    stray: list[TraceEvent]
    on_device: bool


def trees_of(trace: Trace) -> CallTrees:
    """The trees of a trace."""
    outermost: list[HostCall] = []
    open_calls: dict[tuple[str, str], list[HostCall]] = {}
    launching: dict[int, HostCall] = {}
    operators: dict[int, HostCall] = {}
    for event in trace.events:
        if event.kind in ON_DEVICE:
            continue
        around = open_calls.setdefault(event.lane, [])
        while around and around[-1].event.end <= event.start:
            around.pop()
        parent = around[-1] if around else None
        call = HostCall(event, parent)
        (parent.children if parent is not None else outermost).append(call)
        around.append(call)
        if event.kind is EventKind.RUNTIME and event.correlation is not None:
            launching[event.correlation] = call
        if event.kind is EventKind.OPERATOR and event.external is not None:
            operators[event.external] = call
    stray = []
    ran = [event for event in trace.events if event.kind in ON_DEVICE]
    for event in ran:
        launcher = launching.get(event.correlation) if event.correlation is not None else None
        if launcher is None and event.external is not None:
            launcher = operators.get(event.external)
        if launcher is None:
            stray.append(event)
        else:
            launcher.launched.append(event)
    return CallTrees(outermost, stray, bool(ran))


@dataclass(frozen=True, slots=True)
class Steps:
    """When steps began, and how long each lasted, in microseconds."""

    starts: list[float]
    lengths: list[float]

    def at(self, time: float) -> int | None:
        """The number of the step in which `time` lies."""
        number = bisect_right(self.starts, time) - 1
        return number if number >= 0 and time < self.starts[number] + self.lengths[number] else None


def steps_of(trace: Trace) -> Steps | None:
    """The annotated steps; None where there are none."""
    found = sorted(
        (event.start, event.end)
        for event in trace.events
        if event.kind is EventKind.ANNOTATION and _STEP.match(event.name)
    )
    if not found:
        return None
    return Steps([start for start, _ in found], [end - start for start, end in found])
