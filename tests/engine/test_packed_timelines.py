"""What is kept of the tensors of runs is what came, in little memory."""

from __future__ import annotations

import tracemalloc

import pytest
from inductor_debug.engine.results.merge import Results
from inductor_debug.engine.results.packed_timelines import PackedTimelines
from inductor_debug_schema import Location, Position, Range, TensorsSeen, TensorTimeline, TimelineStatement
from inductor_debug_schema.tensors import TimelineCall


def timeline(layers: int) -> TensorTimeline:
    """One of equal layers."""
    return TensorTimeline(
        operations=layers,
        places=[Location("/project/model.py", Range(Position(line, 4), Position(line, 9))) for line in range(layers)],
        calls=[
            TimelineCall(number - 1, "/project/model.py", "forward", f"layers.{number}", 10, 20, number, number + 1)
            for number in range(layers)
        ],
        statements=[TimelineStatement(number, 11, 12, number, number + 1) for number in range(layers)],
        symbols={"batch": 4},
    )


def test_a_timeline_is_given_as_it_came() -> None:
    kept = PackedTimelines()
    kept.keep("Model", timeline(3))
    kept.keep("Other", timeline(5))
    assert dict(kept) == {"Model": timeline(3), "Other": timeline(5)}
    kept.keep("Model", timeline(4))
    assert len(kept) == 2
    assert kept["Model"] == timeline(4)
    with pytest.raises(KeyError):
        kept["Absent"]


def test_results_of_many_texts_take_little_memory() -> None:
    tracemalloc.start()
    try:
        plain = timeline(4000)
        large = tracemalloc.get_traced_memory()[0]
        del plain
        before = tracemalloc.get_traced_memory()[0]
        kept = []
        for _ in range(5):
            results = Results("/project/model.py", "text")
            results.accept(TensorsSeen("Model", timeline(4000)))
            kept.append(results)
        assert tracemalloc.get_traced_memory()[0] - before < large
        assert all("Model" in results.timelines for results in kept)
    finally:
        tracemalloc.stop()
