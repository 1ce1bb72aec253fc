"""`layout` tells what a strict accelerator really has to copy, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from inductor_debug.rules.recording.ops import TensorMeta
from recordings import Tape, at, lines, only


def transposed(tape: Tape, *shape: int, **more: Any) -> TensorMeta:
    """The last two dimensions of an input of `shape` swapped."""
    x = tape.input("x", *shape)
    stride = (*x.stride[:-2], x.stride[-1], x.stride[-2])
    return tape.view("transpose.int", x, *shape[:-2], shape[-1], shape[-2], stride=stride, **more)


def compute(tape: Tape, *inputs: TensorMeta, overload: str = "relu.default", **more: Any) -> TensorMeta:
    first = inputs[0]
    return tape.op(overload, list(inputs), tape.tensor(*first.shape, stride=first.stride), **more)


def test_the_view_is_the_root_and_its_consumers_are_related() -> None:
    tape = Tape()
    x = transposed(tape, 8, 16, frames=at(10))
    y = compute(tape, x, frames=at(11))
    compute(tape, y, frames=at(12))
    finding = only(tape.judge(), "layout")
    assert (finding.range.start.line, finding.op, finding.count) == (10, "aten.transpose.int", 3)
    assert [(place.range.start.line, place.message) for place in finding.related] == [
        (11, "used by aten.relu here"),
        (12, "used by aten.relu here"),
    ]
    assert finding.message == (
        "aten.transpose gives a tensor that is not contiguous in memory, and 2 ops compute on it; "
        "accelerator 'mock' has to copy it first."
    )


def test_a_view_nobody_computes_on_is_no_finding() -> None:
    tape = Tape()
    x = transposed(tape, 8, 16)
    tape.view("transpose.int", x, 8, 16)
    assert tape.judge() == []


@pytest.mark.parametrize("overload", ["clone.default", "_to_copy.default", "cat.default", "constant_pad_nd.default"])
def test_a_copy_mends_it(overload: str) -> None:
    tape = Tape()
    x = transposed(tape, 8, 16)
    y = tape.op(overload, [x], tape.tensor(16, 8))
    tape.op("relu.default", [y], tape.tensor(16, 8))
    assert tape.judge() == []


def test_a_copy_that_keeps_the_order_mends_nothing() -> None:
    tape = Tape()
    x = transposed(tape, 8, 16)
    y = tape.op("clone.default", [x], tape.tensor(16, 8, stride=(1, 16)))
    compute(tape, y)
    finding = only(tape.judge(), "layout")
    assert (finding.range.start.line, finding.count) == (0, 2)


@pytest.mark.parametrize(
    "overload", ["mm.default", "bmm.default", "addmm.default", "_scaled_dot_product_flash_attention_for_cpu.default"]
)
def test_matrix_products_take_transposed_operands(overload: str) -> None:
    tape = Tape()
    x = transposed(tape, 4, 8, 16)
    tape.op(overload, [tape.input("y", 4, 8, 16), x], tape.tensor(4, 8, 8))
    assert tape.judge() == []


def test_the_transposed_weight_of_a_linear_layer_is_no_finding() -> None:
    tape = Tape()
    weight = tape.view("t.default", tape.parameter("fc.weight", 8, 16), 16, 8, stride=(1, 16))
    tape.op("addmm.default", [tape.parameter("fc.bias", 8), tape.input("x", 4, 16), weight], tape.tensor(4, 8))
    assert tape.judge() == []


def test_a_chunk_of_a_fused_projection_may_feed_attention() -> None:
    tape = Tape()
    chunk = tape.view("split.Tensor", tape.input("qkv", 2, 16, 96), 2, 16, 32, stride=(1536, 96, 1))
    heads = tape.view("view.default", chunk, 2, 16, 4, 8, stride=(1536, 96, 8, 1))
    query = tape.view("transpose.int", heads, 2, 4, 16, 8, stride=(1536, 8, 96, 1))
    tape.op("_scaled_dot_product_flash_attention_for_cpu.default", [query] * 3, tape.tensor(2, 4, 16, 8))
    assert tape.judge() == []


def test_every_second_column_is_copied_even_for_a_matrix_product() -> None:
    tape = Tape()
    columns = tape.view("slice.Tensor", tape.input("x", 8, 16), 8, 8, stride=(16, 2))
    tape.op("mm.default", [columns, tape.input("y", 8, 8)], tape.tensor(8, 8))
    assert lines(tape.judge(), "layout") == [0]


@pytest.mark.parametrize(("operands", "found"), [("strided", False), ("transposed", True), ("contiguous", True)])
def test_a_profile_says_which_operands_its_matrix_products_take(operands: str, found: bool) -> None:
    tape = Tape()
    rows = tape.view("slice.Tensor", tape.input("x", 8, 16), 8, 8, stride=(16, 1))
    tape.op("mm.default", [rows, tape.input("y", 8, 8)], tape.tensor(8, 8))
    document = {"name": "mine", "layout": {"contiguous": True, "matmul_operands": operands}}
    assert bool(tape.judge(document)) is found


def test_attention_that_torch_takes_apart_is_still_attention() -> None:
    tape = Tape()
    key = transposed(tape, 4, 8, 16, frames=at(1))
    scaled = tape.op("mul.Scalar", [key], tape.tensor(4, 16, 8, stride=(128, 1, 16)), frames=at(2))
    query = tape.input("q", 4, 8, 16)
    scores = tape.op("bmm.default", [query, scaled], tape.tensor(4, 8, 8), frames=at(2))
    weights = tape.op("_safe_softmax.default", [scores], tape.tensor(4, 8, 8), frames=at(2))
    tape.op("bmm.default", [weights, query], tape.tensor(4, 8, 16), frames=at(2))
    assert tape.judge() == []


def test_an_expanded_tensor_that_broadcasting_absorbs_is_no_finding() -> None:
    tape = Tape()
    full = tape.input("x", 64, 256, 256)
    mask = tape.view("expand.default", tape.input("mask", 1, 256, 256), 64, 256, 256, stride=(0, 256, 1))
    tape.op("add.Tensor", [full, mask], tape.tensor(64, 256, 256))
    assert tape.judge() == []


def test_an_expanded_tensor_of_a_few_bytes_is_no_finding() -> None:
    tape = Tape()
    expanded = tape.view("expand.default", tape.input("x", 1, 1), 4096, 4096, stride=(0, 0))
    tape.op("relu.default", [expanded], tape.tensor(4096, 4096))
    assert tape.judge() == []


def test_an_expanded_tensor_that_an_op_has_to_read_in_full_is_a_finding() -> None:
    tape = Tape()
    expanded = tape.view("expand.default", tape.input("x", 1, 256, 256), 64, 256, 256, stride=(0, 256, 1))
    tape.op("_softmax.default", [expanded], tape.tensor(64, 256, 256))
    assert lines(tape.judge(), "layout") == [0]


def test_what_torch_chose_for_an_ops_result_is_nobodys_fault() -> None:
    tape = Tape()
    made = tape.op("linalg_qr.default", [tape.input("x", 8, 8)], tape.tensor(8, 8, stride=(1, 8)))
    compute(tape, made)
    assert tape.judge() == []


def test_an_input_that_is_not_contiguous_is_told_where_it_was_written_down() -> None:
    tape = Tape()
    x = tape.input("x", 16, 8, stride=(1, 16), line=3)
    compute(tape, x)
    finding = only(tape.judge(), "layout")
    assert finding.range.start.line == 3
    assert finding.message.startswith("the input `x` is not contiguous in memory, and 1 op computes on it")


def test_sizes_of_one_have_no_order() -> None:
    tape = Tape()
    x = tape.view("transpose.int", tape.input("x", 1, 1), 1, 1, stride=(1, 7))
    compute(tape, x)
    assert tape.judge() == []


def test_a_sibling_that_nobody_computes_on_is_not_related() -> None:
    tape = Tape()
    x, y = tape.input("x", 8, 16), tape.input("y", 8, 16)
    used = tape.view("transpose.int", x, 16, 8, stride=(1, 16), frames=at(1))
    tape.view("transpose.int", y, 16, 8, stride=(1, 16), frames=at(2))
    compute(tape, used, frames=at(3))
    finding = only(tape.judge(), "layout")
    assert (finding.range.start.line, finding.count) == (1, 2)


def test_a_profile_without_layout_has_no_findings() -> None:
    tape = Tape()
    compute(tape, transposed(tape, 64, 64))
    assert lines(tape.judge("spyre"), "layout") == []
