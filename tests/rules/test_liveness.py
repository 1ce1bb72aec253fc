"""How much memory a model needs at once, when, and what the user is told where it is too much."""

from __future__ import annotations

import dataclasses

import pytest
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.rules.recording.flops import flops_of
from inductor_debug.rules.recording.liveness import peak_of, total_of
from inductor_debug.rules.recording.statistics import statistics_of
from inductor_debug_schema import Finding, MemoryOverrun, Stage
from inductor_debug_schema.answers.statistics_document import TensorTotal
from recordings import Tape, only, symbol

KIB = 1024


def chain(tape: Tape) -> None:
    """X (1 KiB) → a (4 KiB) → b (2 KiB) → c (1 KiB), with a weight of 8 KiB."""
    weight, x = tape.parameter("weight", 2048), tape.input("x", 256)
    a = tape.op("mm.default", [x, weight], tape.tensor(1024))
    b = tape.op("relu.default", [a], tape.tensor(512))
    tape.op("neg.default", [b], tape.tensor(256))


def small(size: str) -> dict[str, object]:
    return {"name": "small", "memory": {"device_bytes": size}}


def test_the_peak_is_where_the_most_is_alive_and_everything_alive_is_named() -> None:
    tape = Tape()
    chain(tape)
    peak = peak_of(tape.recording)
    assert peak.op is not None
    assert (peak.op.overload, peak.bytes) == ("aten.relu.default", (8 + 1 + 4 + 2) * KIB)
    assert peak.by_kind() == {"parameter": 8 * KIB, "activation": 6 * KIB, "input": KIB}
    assert [holding.bytes for holding in peak.holdings] == [8 * KIB, 4 * KIB, 2 * KIB, KIB]
    assert peak.exact


def test_views_and_writes_in_place_count_as_nothing_new_and_keep_their_base_alive() -> None:
    tape = Tape()
    a = tape.op("neg.default", [tape.input("x", 256)], tape.tensor(256))
    view = tape.view("view.default", a, 16, 16)
    tape.op("relu_.default", [view], view)
    tape.op("exp.default", [view], tape.tensor(1024))
    assert peak_of(tape.recording).bytes == (1 + 1 + 4) * KIB
    assert statistics_of(tape.recording, target="M", stage=Stage.MOCK, path="").memory["activation"].tensors == 2


def test_results_live_to_the_end() -> None:
    tape = Tape()
    x = tape.input("x", 256)
    tape.op("neg.default", [x], tape.tensor(1024))
    tape.op("exp.default", [x], tape.tensor(2048))
    assert peak_of(tape.recording).bytes == (1 + 4 + 8) * KIB


def test_a_result_that_is_handed_out_as_a_view_lives_to_the_end_too() -> None:
    tape = Tape()
    x = tape.input("x", 256)
    made = tape.op("mm.default", [x, x], tape.tensor(1024))
    tape.view("t.default", made, 1024)
    tape.op("exp.default", [x], tape.tensor(2048))
    assert peak_of(tape.recording).bytes == (1 + 4 + 8) * KIB


def test_what_an_op_makes_besides_and_nobody_uses_is_dropped_at_once() -> None:
    tape = Tape()
    pooled, indices = tape.tensor(256), tape.tensor(256, dtype="int64")
    tape.op("max_pool2d_with_indices.default", [tape.input("x", 256)], pooled)
    tape.recording.ops[-1] = dataclasses.replace(tape.recording.ops[-1], outputs=(pooled, indices))
    tape.op("neg.default", [pooled], tape.tensor(256))
    assert peak_of(tape.recording).bytes == (1 + 1 + 2) * KIB, "the indices are gone when neg runs"
    assert peak_of(tape.recording).op is tape.recording.ops[0]


def test_training_holds_what_the_forward_saves_and_every_gradient() -> None:
    tape = Tape()
    weight, x = tape.parameter("weight", 256), tape.input("x", 256)
    saved = tape.op("mm.default", [x, weight], tape.tensor(1024))
    loss = tape.op("sum.default", [saved], tape.tensor(256))
    forward_peak = peak_of(tape.recording).bytes
    grad = tape.op("mul.Tensor", [loss, saved], tape.tensor(1024))
    tape.op("mm.default", [grad, x], tape.tensor(256))
    tape.recording.ops[2:] = [dataclasses.replace(op, autograd_node="MmBackward0") for op in tape.recording.ops[2:]]
    peak = peak_of(tape.recording)
    assert forward_peak == (1 + 1 + 4 + 1) * KIB
    assert (peak.bytes, peak.op) == ((1 + 1 + 4 + 1 + 4) * KIB, tape.recording.ops[2])


def test_tied_weights_count_once() -> None:
    tape = Tape()
    embedding = tape.parameter("embedding", 1024)
    head = tape.origin("parameter", "head", tape.tensor(1024, base=embedding))
    tape.op("mm.default", [embedding, head], tape.tensor(256))
    assert peak_of(tape.recording).by_kind()["parameter"] == 4 * KIB


def test_no_peak_exceeds_the_total() -> None:
    tape = Tape()
    chain(tape)
    assert peak_of(tape.recording).bytes < total_of(tape.recording) == (8 + 1 + 4 + 2 + 1) * KIB


def test_a_recording_without_ops_needs_nothing() -> None:
    assert (peak_of(Tape().recording).bytes, peak_of(Tape().recording).op) == (0, None)


def judged(size: str) -> list[Finding]:
    tape = Tape()
    chain(tape)
    return [finding for finding in tape.judge(small(size)) if finding.rule == "peak-memory"]


def test_too_much_at_once_is_found_at_the_op_where_it_peaks_with_what_it_consists_of() -> None:
    finding = only(judged("12 KiB"), "peak-memory")
    assert (finding.range.start.line, finding.op, finding.count) == (1, "aten.relu.default", 1)
    assert "at least 15 KiB" in finding.message
    assert "more than the 12 KiB of accelerator 'small'" in finding.message
    assert "8 KiB of parameters, 6 KiB of 2 other tensors and 1 KiB of inputs" in finding.message
    assert isinstance(finding.facts, MemoryOverrun)
    assert (finding.facts.bytes_needed, finding.facts.bytes_available) == (15 << 10, 12 << 10)
    assert sum(share.storage_bytes for share in finding.facts.shares) == finding.facts.bytes_needed
    assert (finding.facts.largest[0].kind, finding.facts.largest[0].name) == ("parameter", "weight")
    assert ["`weight`: 8 KiB" in related.message for related in finding.related] == [True, False]


@pytest.mark.parametrize("size", ["15 KiB", "1 GiB"])
def test_what_fits_is_not_mentioned(size: str) -> None:
    assert judged(size) == []


def test_sizes_that_are_not_known_count_with_the_least_they_can_be() -> None:
    tape = Tape()
    x = tape.input("x", symbol("s0", minimum=2), storage_bytes=symbol("4*s0", minimum=8))
    tape.op("neg.default", [x], tape.tensor(symbol("s0"), storage_bytes=symbol("4*s0", minimum=8)))
    peak = peak_of(tape.recording)
    assert (peak.bytes, peak.exact) == (16, False)
    assert tape.judge(small("16 B")) == []


def test_a_dtype_that_the_device_keeps_narrower_counts_as_narrow() -> None:
    tape = Tape()
    tape.op("neg.default", [tape.input("x", 1024, dtype="int64")], tape.tensor(1024, dtype="int64"))
    narrow = {"dtypes": {"supported": ["int32"], "stored_as": {"int64": {"dtype": "int32"}}}}
    assert "peak-memory" not in [finding.rule for finding in tape.judge({**small("8 KiB"), **narrow})]
    assert "peak-memory" in [finding.rule for finding in tape.judge(small("8 KiB"))]


def test_the_built_in_accelerators_say_how_much_they_have() -> None:
    assert read_profile(load_document("mock")).memory_bytes == 512 << 30
    assert read_profile(load_document("spyre")).memory_bytes == 128 * 10**9


@pytest.mark.parametrize(
    ("overload", "shapes", "result", "arguments", "count"),
    [
        ("mm.default", [(2, 3), (3, 5)], (2, 5), {}, 2 * 2 * 3 * 5),
        ("addmm.default", [(5,), (2, 3), (3, 5)], (2, 5), {}, 2 * 2 * 3 * 5),
        ("bmm.default", [(4, 2, 3), (4, 3, 5)], (4, 2, 5), {}, 2 * 4 * 2 * 3 * 5),
        ("baddbmm.default", [(4, 2, 5), (4, 2, 3), (4, 3, 5)], (4, 2, 5), {}, 2 * 4 * 2 * 3 * 5),
        ("convolution.default", [(2, 3, 8, 8), (4, 3, 3, 3)], (2, 4, 6, 6), {}, 2 * 2 * 36 * 4 * 3 * 9),
        ("convolution.default", [(2, 4, 6, 6), (4, 3, 3, 3)], (2, 3, 8, 8), {"transposed": True}, 2 * 2 * 36 * 108),
        (
            "convolution_backward.default",
            [(2, 4, 6, 6), (2, 3, 8, 8), (4, 3, 3, 3)],
            (2, 3, 8, 8),
            {"output_mask": [True, True, False]},
            2 * 2 * 2 * 36 * 108,
        ),
        (
            "_scaled_dot_product_flash_attention.default",
            [(2, 4, 8, 16), (2, 4, 10, 16), (2, 4, 10, 16)],
            (2, 4, 8, 16),
            {},
            2 * 2 * (2 * 4) * 8 * 10 * 16,
        ),
        (
            "_scaled_dot_product_flash_attention_backward.default",
            [(2, 4, 8, 16), (2, 4, 8, 16), (2, 4, 10, 16), (2, 4, 10, 16)],
            (2, 4, 8, 16),
            {},
            5 * 2 * (2 * 4) * 8 * 10 * 16,
        ),
        ("addmv.default", [(2,), (2, 3), (3,)], (2,), {}, 2 * 2 * 3),
        ("relu.default", [(2, 3)], (2, 3), {}, 0),
    ],
)
def test_operations_are_counted_by_the_known_formulas(
    overload: str, shapes: list[tuple[int, ...]], result: tuple[int, ...], arguments: dict[str, object], count: int
) -> None:
    tape = Tape()
    tape.op(overload, [tape.tensor(*shape) for shape in shapes], tape.tensor(*result), **arguments)
    assert flops_of(tape.recording.ops[0]) == count


def test_statistics_sum_a_recording_up() -> None:
    tape = Tape()
    chain(tape)
    tape.op("mm.default", [tape.input("y", 4, symbol("s0")), tape.input("z", symbol("s0"), 4)], tape.tensor(4, 4))
    tape.recording.ops[0] = dataclasses.replace(tape.recording.ops[0], overload="aten.neg.default")
    found = statistics_of(tape.recording, target="Model", stage=Stage.AOT, path="/project/model.py")
    assert found.by_op == {"aten.neg.default": 2, "aten.relu.default": 1, "aten.mm.default": 1}
    assert (found.ops, found.backward_ops, found.flops, found.uncounted) == (4, 0, 0, 1)
    assert found.memory["parameter"] == TensorTotal(1, 8 * KIB)
    assert found.dtypes == {"float32": 4}
    assert found.peak.op == "aten.relu.default"
    assert found.peak.range is not None
    assert found.peak.range.start.line == 1
    assert found.peak.largest[0].name == "weight"
