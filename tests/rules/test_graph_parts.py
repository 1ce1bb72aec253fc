"""What graph breaks cost at least: what passes from graph to graph is written and read, once, beyond the cache."""

from __future__ import annotations

from itertools import pairwise
from itertools import product as pairs
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.rules.recording.graph_parts import joined
from inductor_debug.rules.recording.ops import PartBorder, Recording
from inductor_debug_schema import Roof
from recordings import Tape, location
from test_bounds import KIB, bounds, crossing, product

PRINT, ITEM = location(5), location(7)


def broken(tape: Tape, *parts: int, causes: dict[tuple[int, int], Any] | None = None) -> Tape:
    """The run in parts, each border made by the break at PRINT unless others are named."""
    tape.recording.parts = parts
    pairs_of = dict.fromkeys((one, other) for one, other in pairwise(parts) if one != other)
    tape.recording.borders = tuple(PartBorder(*pair, frozenset((causes or {}).get(pair, [PRINT]))) for pair in pairs_of)
    return tape


def pointwise() -> Tape:
    """Three ops on 16 KiB that one kernel would do."""
    tape = Tape()
    x = tape.input("x", 64, 64)
    for name in ("exp.default", "neg.default", "tanh.default"):
        x = tape.op(name, [x], tape.tensor(64, 64))
    return tape


def test_what_one_graph_makes_and_the_next_one_needs_is_written_and_read_but_for_what_the_cache_holds() -> None:
    assert crossing(bounds(pointwise())) == [(16, 0), (0, 0), (0, 16)]
    whole, split = bounds(pointwise()), bounds(broken(pointwise(), 0, 0, 1))
    assert crossing(split) == [(16, 0), (0, 15), (15, 16)]
    assert (whole.seconds, split.seconds) == (32.0, 62.0)
    assert crossing(bounds(broken(pointwise(), 0, 1, 2))) == [(16, 15), (15, 15), (15, 16)]
    assert bounds(broken(pointwise(), 0, 1, 2), cache="16 KiB").seconds == 32.0
    assert joined(broken(pointwise(), 0, 0, 1).recording, [PRINT]) == pointwise().recording


def test_a_border_goes_when_all_that_make_it_go() -> None:
    causes = {(0, 1): [PRINT], (1, 2): [PRINT, ITEM]}
    recording = broken(pointwise(), 0, 1, 2, causes=causes).recording
    assert joined(recording, [ITEM]) == recording
    once = joined(recording, [PRINT])
    assert (once.parts, once.borders) == ((0, 0, 2), (PartBorder(0, 2, frozenset({PRINT, ITEM})),))
    assert joined(recording, [PRINT, ITEM]).parts == ()
    nobodys = broken(pointwise(), 0, 1, 2, causes={(0, 1): [], (1, 2): []}).recording
    assert joined(nobodys, [PRINT, ITEM]) == nobodys


def test_products_of_two_graphs_take_no_more_for_the_bytes_that_cross_anyway() -> None:
    def two() -> Tape:
        tape = Tape()
        product(tape, product(tape, tape.input("x", 64, 64), "first"), "second")
        return tape

    assert crossing(bounds(two())) == crossing(bounds(broken(two(), 0, 1))) == [(32, 15), (16 + 15, 16)]


def test_parts_that_run_one_after_the_other_do_not_move_bytes_while_others_compute() -> None:
    def run() -> Tape:
        tape = Tape()
        y = product(tape, tape.input("x", 64, 64), "weight")
        tape.op("sum.default", [tape.input("z", 64, 64)], tape.tensor())
        assert y.shape == (64, 64)
        return tape

    whole, split = (bounds(tape, rate=2 * 64**3 / 100) for tape in (run(), broken(run(), 0, 1)))
    assert (whole.seconds, whole.by_roof) == (100.0, {Roof.COMPUTE: 100.0})
    assert split.seconds == pytest.approx(100 + 16, abs=0.01)


def test_a_graph_and_its_backward_pass_are_one_part_and_weights_are_read_by_each_graph() -> None:
    tape = Tape()
    weight = tape.parameter("weight", 64, 64)
    y = tape.op("mul.Tensor", [tape.input("x", 64, 64), weight], tape.tensor(64, 64))
    z = tape.op("mul.Tensor", [y, weight], tape.tensor(64, 64))
    gradient = tape.op("neg.default", [z], tape.tensor(64, 64))
    tape.op("mul.Tensor", [gradient, y], tape.tensor(64, 64))
    broken(tape, 0, 1, 1, 0)
    # The second part reads `y` and the weight again, of which the cache holds 1 KiB; its gradient comes back.
    assert crossing(bounds(tape)) == [(32, 15), (31, 0), (0, 15), (15, 16)]


OPS = st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=9)


@given(OPS, st.data(), st.sampled_from(["1 KiB", "20 KiB", "1 MiB"]))
def test_a_run_never_takes_longer_for_having_fewer_breaks(
    ops: list[tuple[bool, int, int]], data: st.DataObject, cache: str
) -> None:
    def run(parts: list[int]) -> Recording:
        tape = Tape()
        made = [tape.input("x", 64, 64), tape.parameter("w", 64, 64)]
        for multiplies, *operands in ops:
            name = "mm.default" if multiplies else "add.Tensor"
            made.append(tape.op(name, [made[each % len(made)] for each in operands], tape.tensor(64, 64)))
        return broken(tape, *parts).recording

    parts = data.draw(st.lists(st.integers(0, 3), min_size=len(ops), max_size=len(ops)))
    removed = {(a, b) for a, b in pairs(range(4), repeat=2) if data.draw(st.booleans())}
    recording = run(parts)
    recording.borders = tuple(
        PartBorder(one.first, one.second, frozenset([PRINT if (one.first, one.second) in removed else ITEM]))
        for one in recording.borders
    )

    def seconds(recording: Recording) -> float:
        found = bounds(Tape(recording), cache=cache).seconds
        assert found is not None
        return found

    fewer = joined(recording, [PRINT])
    assert seconds(joined(recording, [PRINT, ITEM])) <= seconds(fewer) + 1e-9
    assert seconds(joined(recording, [PRINT, ITEM])) <= seconds(recording) + 1e-9
    assert seconds(recording) <= 4 * KIB
