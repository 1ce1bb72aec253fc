"""A clock for compilations: a tree of what is worked on inside what, with the seconds that each took.

An interval's own time is what is not in one inside it, so all own times add up to the whole. What begins and ends an
interval is `compile_hooks`' business.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import NamedTuple, Union

from inductor_debug.capture.dynamo.dynamo_positions import TracedStack
from inductor_debug.capture.expressions.instruction_expressions import SourcePositions


class TorchEvent(NamedTuple):
    """A phase, as torch calls it."""

    name: str


class TracedInstruction(NamedTuple):
    """An instruction that Dynamo traced; those of the functions that it calls are inside it."""

    code: CodeType
    positions: SourcePositions
    module: str


class WorkedNode(NamedTuple):
    """A node of a graph, by the expressions that it was traced from."""

    stack: TracedStack
    module: str


seconds_now = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-4 else time.perf_counter
"""The processor's time where the system tells it finely: what else runs on the machine does not count."""

Work = Union[TorchEvent, TracedInstruction, WorkedNode]


@dataclass
class Interval:
    """All the times that one thing was done inside another: how often, and the seconds that were its own."""

    own: float = 0.0
    count: int = 0
    inner: dict[Work, Interval] = field(default_factory=dict)

    def add(self, other: Interval) -> None:
        """Counts another interval of the same work as one with this."""
        self.own += other.own
        self.count += other.count
        for work, interval in other.inner.items():
            self.inner.setdefault(work, Interval()).add(interval)


@dataclass(eq=False)
class Begun:
    """An interval that has not ended; `event` is what torch calls it, where torch says itself when it ends."""

    began: float
    event: str | None
    interval: Interval = field(default_factory=Interval)
    inside: float = 0.0


class CompileClock:
    """The tree of one compilation."""

    def __init__(self) -> None:
        self.root = Interval()
        self._open: list[Begun] = []

    def begin(self, event: str | None = None) -> Begun:
        """Begins an interval inside the one that is open."""
        begun = Begun(seconds_now(), event)
        self._open.append(begun)
        return begun

    def end(self, begun: Begun, work: Work) -> None:
        """Ends an interval, which is now known to have been `work`, and what is still open inside it.

        One that has ended already, with what it was in, is left alone.
        """
        if not any(each is begun for each in reversed(self._open)):
            return
        while self._open[-1] is not begun:
            self._close(work)
        self._close(work)

    def end_event(self, event: str) -> None:
        """Ends the innermost event of that name; nothing where none is open."""
        for begun in reversed(self._open):
            if begun.event == event:
                self.end(begun, TorchEvent(event))
                return

    @contextmanager
    def during(self, event: str) -> Iterator[None]:
        """One interval under the name of an event that torch has and that is not gone through here."""
        begun = self.begin(event)
        try:
            yield
        finally:
            self.end(begun, TorchEvent(event))

    def _close(self, work: Work) -> None:
        ended = self._open.pop()
        seconds = seconds_now() - ended.began
        ended.interval.own = seconds - ended.inside
        ended.interval.count = 1
        outer = self.root
        if self._open:
            self._open[-1].inside += seconds
            outer = self._open[-1].interval
        outer.inner.setdefault(work, Interval()).add(ended.interval)
