"""What must cross the memory's border however well ops are fused, and how long a run takes at least."""

from __future__ import annotations

from typing import Any

import pytest
from inductor_debug.accelerators.profile import read_profile
from inductor_debug.rules.costing.bounds import RunBounds, bounds_of
from inductor_debug.rules.costing.cost_sums import by_expression, by_line, by_module, whole_run
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.recording.ops import TensorMeta
from inductor_debug_schema import Roof
from recordings import Tape, at, frame

KIB = 1024


def bounds(tape: Tape, *, cache: str = "1 KiB", launch: float | None = None, rate: float = 1e18) -> RunBounds:
    """On an accelerator that moves one KiB a second."""
    gpu: dict[str, Any] = {"platform": "cuda", "l2_bytes": cache}
    if launch is not None:
        gpu["launch_seconds"] = launch
    speed = {"bytes_per_second": KIB, "operations_per_second": {"float32": rate}}
    run = JudgedRun(tape.recording, read_profile({"schema": 1, "name": "slow", "speed": speed, "gpu": gpu}))
    return bounds_of(run.recording, run.profile, run.measure)


def crossing(found: RunBounds) -> list[tuple[int, int]]:
    return [(op.crossing.read // KIB, op.crossing.written // KIB) for op in found.ops]


def product(tape: Tape, x: TensorMeta, name: str, **more: Any) -> TensorMeta:
    """X [64, 64], 16 KiB, times a weight of its size."""
    return tape.op("mm.default", [x, tape.parameter(name, 64, 64)], tape.tensor(64, 64), **more)


def test_what_one_product_makes_and_another_reads_crosses_but_for_what_the_cache_holds() -> None:
    tape = Tape()
    product(tape, product(tape, tape.input("x", 64, 64), "first"), "second")
    assert crossing(bounds(tape)) == [(32, 15), (16 + 15, 16)]
    assert crossing(bounds(tape, cache="15 KiB")) == [(32, 1), (16 + 1, 16)]
    assert crossing(bounds(tape, cache="16 MiB")) == [(32, 0), (16, 16)]


def test_fusible_ops_between_products_cost_no_more_than_the_smallest_tensor_on_the_way() -> None:
    tape = Tape()
    y = product(tape, tape.input("x", 64, 64), "first")
    mask = tape.op("gt.Scalar", [y], tape.tensor(64, 64, dtype="bool"))
    product(tape, tape.op("_to_copy.default", [mask], tape.tensor(64, 64)), "second")
    assert crossing(bounds(tape)) == [(32, 3), (0, 0), (0, 0), (16 + 3, 16)]


def test_attention_that_is_written_out_may_become_one_kernel() -> None:
    tape = Tape()
    query, key, value = (tape.input(name, 4, 64, 64) for name in ("query", "key", "value"))
    scores = tape.op("bmm.default", [query, key], tape.tensor(4, 64, 64))
    weights = tape.op("_softmax.default", [scores], tape.tensor(4, 64, 64))
    tape.op("bmm.default", [weights, value], tape.tensor(4, 64, 64))
    assert crossing(bounds(tape)) == [(128, 0), (0, 0), (64, 64)]


def test_what_one_tensor_may_have_brought_counts_once() -> None:
    tape = Tape()
    y = product(tape, tape.input("x", 64, 64), "first")
    left, right = (tape.op(name, [y], tape.tensor(64, 64)) for name in ("relu.default", "neg.default"))
    tape.op("mm.default", [left, right], tape.tensor(64, 64))
    assert crossing(bounds(tape))[-1] == (15, 16)
    other = Tape()
    y, z = (product(other, other.input("x", 64, 64), name) for name in ("first", "second"))
    left, right = (other.op("relu.default", [made], other.tensor(64, 64)) for made in (y, z))
    other.op("mm.default", [left, right], other.tensor(64, 64))
    assert crossing(bounds(other))[-1] == (31, 16)


def test_nobody_knows_what_crosses_between_kernels_where_nobody_knows_the_cache() -> None:
    tape = Tape()
    product(tape, product(tape, tape.input("x", 64, 64), "first"), "second")
    profile = read_profile({"schema": 1, "name": "silent"})
    run = JudgedRun(tape.recording, profile)
    assert crossing(bounds_of(run.recording, profile, run.measure)) == [(32, 0), (16, 16)]


def test_tensors_from_outside_that_are_written_end_up_in_memory() -> None:
    tape = Tape()
    seen, x = tape.input("seen", 64, 64), tape.input("x", 64, 64)
    tape.op("add_.Tensor", [seen, x], None)
    tape.op("copy_.default", [tape.input("kept", 64, 64), x], None)
    found = bounds(tape)
    assert [(op.cost.bytes_read // KIB, op.cost.bytes_written // KIB) for op in found.ops] == [(32, 16), (16, 16)]
    assert crossing(found) == [(32, 16), (0, 16)]


def test_halves_of_one_tensor_are_read_as_two_and_views_of_the_same_as_one() -> None:
    tape = Tape()
    x = tape.input("x", 64, 64)
    start, end = (
        tape.op("slice.Tensor", [x], tape.tensor(32, 64, base=x), view=True, dim=0, start=first, end=first + 32)
        for first in (0, 32)
    )
    turned = tape.view("t.default", start, 64, 32, stride=(1, 64))
    tape.op("mul.Tensor", [start, end], tape.tensor(32, 64))
    tape.op("mm.default", [start, turned], tape.tensor(32, 32))
    assert [op.cost.bytes_read // KIB for op in bounds(tape).ops[-2:]] == [16, 8]


def test_bytes_of_other_ops_may_be_moved_while_products_compute() -> None:
    tape = Tape()
    y = product(tape, tape.input("x", 64, 64), "weight")
    tape.op("add.Tensor", [y, tape.input("z", 64, 64)], tape.tensor(64, 64))
    busy = bounds(tape, rate=2 * 64**3 / 100)
    assert (busy.seconds, busy.parts, busy.limited_by) == (100.0, 100.0 + 32.0, Roof.COMPUTE)
    idle = bounds(tape)
    assert (idle.seconds, idle.parts, idle.by_roof) == (64.0, 64.0, {Roof.MEMORY: 64.0})


def test_a_table_names_the_roof_that_the_run_as_a_whole_has() -> None:
    tape = Tape()
    y = product(tape, tape.input("x", 64, 64), "weight")
    for name in ("z", "w"):
        y = tape.op("add.Tensor", [y, tape.input(name, 64, 64)], tape.tensor(64, 64))
    found = bounds(tape, rate=2 * 64**3 / 45)
    assert found.by_roof == {Roof.COMPUTE: 45.0, Roof.MEMORY: 80.0 - 45.0}
    whole = by_module(tape.recording, found)[""]
    assert whole.seconds == found.parts == 45.0 + 48.0, "though bytes of other ops would take longer than the product"
    assert whole.limited_by is found.limited_by is Roof.COMPUTE


def test_kernels_take_no_less_than_their_launches_which_go_on_while_others_compute() -> None:
    tape = Tape()
    product(tape, product(tape, tape.input("x", 64, 64), "first"), "second")
    assert bounds(tape).seconds == 32 + 15 + 31 + 16
    found = bounds(tape, launch=40.0)
    assert found.seconds == 32 + 15 + 31 + 16
    found = bounds(tape, launch=100.0)
    assert (found.seconds, found.by_roof) == (200.0, {Roof.MEMORY: 94.0, Roof.LAUNCH: 106.0})
    assert found.limited_by is Roof.LAUNCH


def test_views_and_what_looks_at_sizes_alone_are_free() -> None:
    tape = Tape()
    x = tape.input("x", 64, 64)
    tape.view("t.default", x, 64, 64, stride=(1, 64))
    tape.op("zeros_like.default", [x], tape.tensor(64, 64))
    tape.op("empty_like.default", [x], tape.tensor(64, 64))
    costs = [op.cost for op in bounds(tape).ops]
    assert [(cost.bytes_read, cost.bytes_written // KIB) for cost in costs] == [(0, 0), (0, 16), (0, 0)]


def test_sums_of_expressions_lines_and_modules_are_those_of_their_ops() -> None:
    tape = Tape()
    x = tape.input("x", 64, 64)
    y = product(tape, x, "first", frames=at(5, 20), module="block.0.fc")
    z = product(tape, y, "second", frames=at(6, 20), module="block.1.fc")
    tape.op("relu.default", [z], tape.tensor(64, 64), frames=at(20), module="block")
    found = bounds(tape)
    expressions = by_expression(tape.recording, found)
    assert {place.range.start.line: bound.ops for place, bound in expressions.items()} == {5: 1, 20: 3, 6: 1}
    assert expressions[frame(20).location].share == pytest.approx(1.0)
    lines = by_line(tape.recording, found)
    assert sum(bound.seconds or 0 for bound in lines.values()) == pytest.approx(found.parts)
    modules = by_module(tape.recording, found)
    assert set(modules) == {"", "block", "block.0", "block.0.fc", "block.1", "block.1.fc"}
    assert modules["block"] == modules[""]
    total = whole_run(tape.recording, found, "slow", 0)
    assert total.total.seconds == found.seconds == sum(total.by_roof.values())
    assert (total.total.operations, total.total.crossing_bytes) == (2 * 2 * 64**3, found.moved_bytes)
