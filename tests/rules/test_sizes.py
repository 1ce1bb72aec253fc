"""`alignment`, `memory` and `rank`: where an odd, huge or many-dimensional shape comes from."""

from __future__ import annotations

from typing import Any

import pytest
from inductor_debug.accelerators.profile import load_document, with_environment
from inductor_debug.rules.recording.symbolic_sizes import misaligned
from inductor_debug_schema import Misalignment, OddSize
from recordings import Tape, at, inside_library, lines, only, symbol


def aligned(amount: int) -> dict[str, Any]:
    return with_environment(load_document("mock"), {"MOCK_ALIGNMENT": str(amount)})


@pytest.mark.parametrize(
    ("size", "unit", "wrong"),
    [
        (64, 64, False),
        (63, 64, True),
        (1, 64, False),
        (0, 64, False),
        (symbol("s0"), 8, False),
        (symbol("64*s0", divisor=64), 64, False),
        (symbol("8*s0", divisor=8), 64, False),
        (symbol("8*s0 + 4", divisor=4), 8, True),
        (symbol("2*s0 + 1"), 2, True),
        (symbol("s0*s1"), 8, False),
        (symbol("8*s0*s1 + 4", divisor=4), 8, True),
        (symbol("8*(s0 + 1) - 2", divisor=2), 4, True),
        (symbol("(s0 + 1)//2"), 8, False),
        (symbol("s0", maximum=7), 8, True),
        (symbol("s0", minimum=0, maximum=7), 8, False),
    ],
)
def test_a_size_is_odd_only_if_no_value_can_make_it_even(size: Any, unit: int, wrong: bool) -> None:
    assert misaligned(size, unit) is wrong


def linear(tape: Tape, x: Any, inputs: int, outputs: int, declared: int, **more: Any) -> Any:
    weight = tape.parameter(f"fc{declared}.weight", outputs, inputs, line=declared)
    bias = tape.parameter(f"fc{declared}.bias", outputs, line=declared)
    turned = tape.view("t.default", weight, inputs, outputs, stride=(1, inputs), **more)
    return tape.op("addmm.default", [bias, x, turned], tape.tensor(x.shape[0], outputs), **more)


def test_the_line_that_declares_an_odd_layer_is_told_once_for_all_that_follows() -> None:
    tape = Tape()
    x = linear(tape, tape.input("x", 8, 64), 64, 63, declared=12)
    for _ in range(3):
        x = tape.op("relu.default", [x], tape.tensor(8, 63))
    finding = only(tape.judge(aligned(8)), "alignment")
    assert (finding.range.start.line, finding.count, finding.module) == (12, 4, "fc12")
    assert finding.message == (
        "size 63 is not a multiple of 8 elements (next: 64), as accelerator 'mock' requires of every dimension; "
        "parameters `fc12.weight` and `fc12.bias` bring it in and 4 ops carry it on."
    )


def test_each_odd_layer_is_its_own_root() -> None:
    tape = Tape()
    x = linear(tape, tape.input("x", 8, 64), 64, 63, declared=12)
    x = linear(tape, x, 63, 62, declared=13)
    linear(tape, x, 62, 64, declared=14)
    assert lines(tape.judge(aligned(8)), "alignment") == [12, 13, 14]


def test_mock_aligns_nothing_unless_it_is_told_to() -> None:
    tape = Tape()
    linear(tape, tape.input("x", 3, 5), 5, 7, declared=12)
    assert tape.judge() == []
    assert tape.judge(aligned(1)) == []


def test_an_odd_batch_is_the_inputs_fault_also_after_it_was_merged_and_taken_apart() -> None:
    tape = Tape()
    x = tape.input("x", 2, 8, 64, line=3)
    flat = tape.view("view.default", x, 16, 64)
    flat = tape.op("mm.default", [flat], tape.tensor(16, 64))
    y = tape.view("view.default", flat, 2, 8, 64)
    tape.op("relu.default", [y], tape.tensor(2, 8, 64))
    mask = tape.op("full.default", [], tape.tensor(2, 8))
    tape.op("relu.default", [mask], tape.tensor(2, 8))
    finding = only(tape.judge(aligned(8)), "alignment")
    assert (finding.range.start.line, finding.count) == (3, 3)


def test_a_slice_that_makes_an_odd_size_is_the_root() -> None:
    tape = Tape()
    x = tape.input("x", 8, 64)
    y = tape.view("slice.Tensor", x, 8, 63, stride=(64, 1))
    tape.op("relu.default", [y], tape.tensor(8, 63))
    assert lines(tape.judge(aligned(8)), "alignment") == [0]


def test_a_view_of_odd_size_that_nobody_computes_on_is_no_finding() -> None:
    tape = Tape()
    tape.view("slice.Tensor", tape.input("x", 8, 64), 8, 63, stride=(64, 1))
    assert tape.judge(aligned(8)) == []


def test_sizes_that_follow_from_odd_ones_inherit_their_root() -> None:
    tape = Tape()
    x = tape.input("x", 8, 63, line=3)
    y = tape.op("cat.default", [x, x], tape.tensor(8, 126))
    tape.op("max_pool2d.default", [y], tape.tensor(8, 31))
    assert lines(tape.judge(aligned(8)), "alignment") == [3]


def test_scalars_and_sizes_of_one_are_exempt() -> None:
    tape = Tape()
    x = tape.op("mean.default", [tape.input("x", 8, 1, 8)], tape.tensor())
    tape.op("relu.default", [x], tape.tensor())
    assert tape.judge(aligned(8)) == []


IN_BYTES = {
    "name": "tiles",
    "dtypes": {"stored_as": {"int64": {"dtype": "int32"}}},
    "alignment": {"bytes": 128, "dimensions": "last"},
}


def test_sizes_in_bytes_are_those_of_the_innermost_dimension() -> None:
    tape = Tape()
    half = tape.op("relu.default", [tape.input("x", 3, 64, dtype="float16")], tape.tensor(3, 64, dtype="float16"))
    tape.op("relu.default", [tape.input("y", 3, 32)], tape.tensor(3, 32))
    assert lines(tape.judge(IN_BYTES), "alignment") == []
    turned = tape.view("transpose.int", half, 64, 3, stride=(1, 64))
    tape.op("relu.default", [turned], tape.tensor(64, 3, dtype="float16"), frames=at(50))
    finding = only(tape.judge(IN_BYTES), "alignment")
    assert "size 3 is not a multiple of 128 bytes (64 of float16; next: 64)" in finding.message
    assert finding.facts == Misalignment([OddSize(3, 64)], 64, "float16", declared=False)


def test_a_conversion_that_makes_a_full_stick_partial_is_the_root() -> None:
    tape = Tape()
    x = tape.op("relu.default", [tape.input("x", 4, 32)], tape.tensor(4, 32))
    tape.op("_to_copy.default", [x], tape.tensor(4, 32, dtype="float16"), dtype="float16")
    assert lines(tape.judge(IN_BYTES), "alignment") == [1]


def test_int64_counts_as_the_int32_that_is_kept() -> None:
    tape = Tape()
    tape.op("neg.default", [tape.input("x", 32, dtype="int64")], tape.tensor(32, dtype="int64"))
    assert lines(tape.judge(IN_BYTES), "alignment") == []


def test_unknown_sizes_are_judged_as_far_as_they_are_known() -> None:
    tape = Tape()
    x = tape.input("x", symbol("s0"), symbol("8*s1 + 4", divisor=4))
    tape.op("relu.default", [x], tape.tensor(*x.shape))
    assert "size 8*s1 + 4 is not" in only(tape.judge(aligned(8)), "alignment").message


GIB = 1 << 30


def test_a_tensor_over_the_limit_is_told_where_it_grows() -> None:
    tape = Tape()
    q = tape.input("q", 32, 32768, 128)
    scores = tape.op("bmm.default", [q, q], tape.tensor(32, 32768, 32768))
    tape.op("_softmax.default", [scores], tape.tensor(32, 32768, 32768))
    finding = only(tape.judge(), "memory")
    assert finding.message == (
        "128 GiB in one tensor of shape (32, 32768, 32768) is more than the 16 GiB that accelerator 'mock' allows; "
        "this expression introduces it and 1 more op carries it on."
    )


def test_memory_counts_what_a_tensor_really_holds() -> None:
    tape = Tape()
    scalar = tape.input("x", 1)
    tape.view("expand.default", scalar, 1 << 40, stride=(0,))
    big = tape.input("y", 4 * GIB)
    tape.view("slice.Tensor", big, 4)
    assert lines(tape.judge(), "memory") == []


def test_a_limit_from_the_environment() -> None:
    document = with_environment(load_document("mock"), {"MOCK_MAX_MEMORY": "100"})
    tape = Tape()
    tape.op("relu.default", [tape.input("x", 25)], tape.tensor(26))
    assert "104 B in one tensor of shape (26) is more than the 100 B" in only(tape.judge(document), "memory").message


@pytest.mark.parametrize(("minimum", "found"), [(2, False), (5 * GIB, True)])
def test_unknown_memory_counts_with_its_smallest_value(minimum: int, found: bool) -> None:
    tape = Tape()
    size = symbol("4*s0", minimum=4 * minimum)
    x = tape.op("relu.default", [tape.input("x", 1)], tape.tensor(symbol("s0"), storage_bytes=size))
    assert x.storage_bytes is size
    assert bool(lines(tape.judge(), "memory")) is found


def test_rank_is_judged_only_where_a_profile_bounds_it() -> None:
    tape = Tape()
    x = tape.view("view.default", tape.input("x", 64), 2, 2, 2, 2, 2, 2)
    x = tape.op("relu.default", [x], tape.tensor(2, 2, 2, 2, 2, 2), frames=inside_library(5, 10))
    assert tape.judge() == []
    finding = only(tape.judge({"name": "mine", "rank": {"maximum": 5}}), "rank")
    assert (finding.range.start.line, finding.count) == (0, 2)
    assert finding.message.startswith("a tensor with 6 dimensions has more than the 5 that accelerator 'mine' supports")
