"""The clock of compilations: own times add up to the whole, however events and instructions lie in each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from inductor_debug.measuring import compile_clock
from inductor_debug.measuring.compile_clock import CompileClock, Interval, TorchEvent, Work


@pytest.fixture(autouse=True)
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which every look takes one second."""
    ticks: Iterator[int] = iter(range(1000))
    monkeypatch.setattr(compile_clock, "seconds_now", lambda: float(next(ticks)))


def told(interval: Interval) -> dict[str, tuple[float, int, dict[str, object]]]:
    def name(work: Work) -> str:
        assert isinstance(work, TorchEvent)
        return work.name

    return {name(work): (inner.own, inner.count, dict(told(inner))) for work, inner in interval.inner.items()}


def whole(interval: Interval) -> float:
    return interval.own + sum(whole(inner) for inner in interval.inner.values())


def test_an_interval_has_what_is_not_in_those_inside_it() -> None:
    clock = CompileClock()
    with clock.during("dynamo"):
        for _ in range(2):
            begun = clock.begin()
            clock.end(begun, TorchEvent("step"))
    assert told(clock.root) == {"dynamo": (3.0, 1, {"step": (2.0, 2, {})})}
    assert whole(clock.root) == 5.0


def test_an_event_that_ends_inside_of_a_step_takes_the_step_with_it_and_nothing_else() -> None:
    clock = CompileClock()
    with clock.during("dynamo"):
        clock.begin("bytecode_tracing")
        step = clock.begin()
        clock.end_event("bytecode_tracing")
        clock.end(step, TorchEvent("step"))
        with clock.during("backend_compile"):
            pass
    assert list(told(clock.root)) == ["dynamo"]
    assert list(told(clock.root)["dynamo"][2]) == ["bytecode_tracing", "backend_compile"]
    assert whole(clock.root) == 7.0


def test_what_an_exception_leaves_open_ends_with_what_it_was_in() -> None:
    clock = CompileClock()
    with clock.during("dynamo"):
        clock.begin("backend_compile")
    clock.end_event("backend_compile")
    assert list(told(clock.root)) == ["dynamo"]
    assert whole(clock.root) == 3.0
