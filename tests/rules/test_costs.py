"""What a run costs at least: no guess, and never more than what any compiler must do."""

from __future__ import annotations

from inductor_debug.accelerators.profile import read_profile
from inductor_debug.rules.captures.costs import costs_of
from recordings import Tape, symbol

KIB = 1024
SILENT = read_profile({"schema": 1, "name": "silent"})


def fast(**speed: object) -> dict[str, object]:
    return {"schema": 1, "name": "fast", "speed": speed}


def product() -> Tape:
    """X [16, 16] times a weight of 1 KiB, then two ops that a compiler would fuse."""
    tape = Tape()
    weight, x = tape.parameter("weight", 16, 16), tape.input("x", 16, 16)
    y = tape.op("mm.default", [x, weight], tape.tensor(16, 16))
    z = tape.op("relu.default", [y], tape.tensor(16, 16))
    tape.op("neg.default", [z], tape.tensor(16, 16))
    return tape


def test_what_lies_between_need_not_cross_the_memorys_border() -> None:
    costs = costs_of(product().recording, SILENT)
    assert costs.moved_bytes == 3 * KIB  # weight, x and the result
    assert (costs.ops, costs.operations, costs.exact) == (3, 2 * 16**3, True)
    assert (costs.seconds, costs.limited_by) == (None, "")


def test_the_time_is_the_longer_of_the_two_bounds() -> None:
    slow_memory = read_profile(fast(bytes_per_second=1024, operations_per_second={"float32": 1e12}))
    assert (costs_of(product().recording, slow_memory).seconds, 3.0) == (3.0, 3.0)
    slow_arithmetic = read_profile(fast(bytes_per_second="1 TB", operations_per_second={"float32": 8192}))
    costs = costs_of(product().recording, slow_arithmetic)
    assert (costs.seconds, costs.limited_by) == (1.0, "compute")


def test_operations_of_a_dtype_whose_rate_nobody_names_take_no_time() -> None:
    other = read_profile(fast(operations_per_second={"float16": 1.0}))
    assert costs_of(product().recording, other).seconds == 0.0


def test_of_a_table_perhaps_one_row_is_read() -> None:
    tape = Tape()
    table, indices = tape.parameter("table", 1024, 16), tape.input("indices", 8, dtype="int64")
    tape.op("embedding.default", [table, indices], tape.tensor(8, 16))
    assert costs_of(tape.recording, SILENT).moved_bytes == 8 * 8 + 8 * 16 * 4


def test_sizes_that_are_not_known_count_with_their_smallest_value_and_are_told() -> None:
    tape = Tape()
    weight, x = tape.parameter("weight", 16, 16), tape.input("x", symbol("batch"), 16)
    tape.op("mm.default", [x, weight], tape.tensor(symbol("batch"), 16))
    assert not costs_of(tape.recording, SILENT).exact


def test_a_product_of_an_unknown_batch_counts_with_the_smallest_batch() -> None:
    tape = Tape()
    batch = symbol("s0", minimum=2)
    x, weight = tape.input("x", batch, 16), tape.parameter("weight", 16, 8)
    tape.op("mm.default", [x, weight], tape.tensor(batch, 8))
    costs = costs_of(tape.recording, SILENT)
    assert (costs.operations, costs.exact) == (2 * 2 * 16 * 8, False)


def test_ops_that_the_accelerator_has_no_kernel_for_are_counted() -> None:
    document = {"schema": 1, "name": "no-relu", "operators": [{"match": ["aten.relu"]}]}
    assert costs_of(product().recording, read_profile(document)).unsupported_ops == 1
