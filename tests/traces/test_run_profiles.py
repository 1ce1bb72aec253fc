"""What is made of a trace: each time counts once, in its step, tied to what the target is known to call."""

from __future__ import annotations

from pathlib import Path

from inductor_debug.traces.chrome_trace import read_trace
from inductor_debug.traces.expected_calls import ExpectedRun
from inductor_debug.traces.run_profiles import empty_profile, with_times
from inductor_debug_schema import CostBound, Location, Position, Range, RunProfileDocument

from tests.traces.events import Event, written

NOTHING_EXPECTED = ExpectedRun()
Costs = dict[tuple[Location, bool], CostBound]
AUTOGRAD = "autograd::engine::evaluate_function"


def place(line: int) -> Location:
    return Location("/m.py", Range(Position(line, 4), Position(line, 9)))


def profiled(
    path: Path, events: list[Event], expected: ExpectedRun = NOTHING_EXPECTED, costs: Costs | None = None
) -> RunProfileDocument:
    trace = read_trace(written(path / "t.json", events))
    known = costs or {}
    return with_times(empty_profile(), trace, expected, known, lambda at: f"line {at.range.start.line}", fused=True)
