"""What operations ask of an accelerator in sticks, counted by hand from what Torch-Spyre's documentation says."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from inductor_debug.accelerators.guarded_adapter import AdapterProfile
from inductor_debug.accelerators.profile import Profile, load_document, read_profile
from inductor_debug.rules.derived_specs import LEFT_OUT, LoweredLoops, LoweredOperation, specs_of
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.recording.ops import TensorMeta
from inductor_debug.rules.words.spec_words import spec_text
from inductor_debug_schema import DeviceLayout, DeviceSpecs, InsertedKind, KernelSpec, SpecOrigin

from tests.rules.recordings import Tape, only, symbol

SPYRE = read_profile(load_document("spyre"))


class HalfTape(Tape):
    """All tensors are of 16 bits."""

    def half(self, *shape: int, stride: tuple[int, ...] | None = None) -> TensorMeta:
        return self.tensor(*shape, dtype="float16", stride=stride)

    def given(self, name: str, *shape: int) -> TensorMeta:
        return self.input(name, *shape, dtype="float16")


def specs(tape: Tape, profile: Profile = SPYRE, **changed: object) -> DeviceSpecs:
    """Every operation in the kernel `k`, with no loops of its own."""
    lowered = {
        op.index: LoweredOperation("g", f"n{op.index}", ("k",), tuple(f"n{op.index}" for _ in op.outputs))
        for op in tape.recording.ops
    }
    return specs_of(
        JudgedRun(tape.recording, profile),
        {index: dataclasses.replace(operation, **changed) for index, operation in lowered.items()},  # type: ignore[arg-type]
    )


def loops(spec: KernelSpec) -> list[tuple[int | str, int | str | None, bool]]:
    return [(loop.extent, loop.padded, loop.reduced) for loop in spec.loops]


def sizes(spec: KernelSpec) -> list[list[int]]:
    return [argument.layout.size for argument in spec.arguments if argument.layout is not None]


def test_loops_along_the_sticks_run_to_the_end_of_the_last_one() -> None:
    tape = HalfTape()
    tape.op("add.Tensor", [tape.given("x", 50, 65), tape.given("b", 65)], tape.half(50, 65))
    (spec,) = specs(tape).specs

    assert loops(spec) == [(50, 50, False), (65, 128, False)]
    assert [(each.name, each.output, each.device_dtype, each.stick_loop) for each in spec.arguments] == [
        ("x", False, "sen169_fp16", "d1"),
        ("b", False, "sen169_fp16", "d1"),
        ("n0", True, "sen169_fp16", "d1"),
    ]
    assert sizes(spec) == [[2, 50, 64], [2, 64], [2, 50, 64]]
    layout = spec.arguments[0].layout
    assert layout is not None
    assert (layout.stride_map, layout.stick_dimension, layout.bytes) == ([64, 65, 1], 1, 2 * 50 * 64 * 2)
    assert not spec.inserted


def test_a_sum_along_the_sticks_leaves_one_element_a_stick() -> None:
    tape = HalfTape()
    tape.op("sum.dim_IntList", [tape.given("x", 50, 65)], tape.half(50), dim=[1])
    (spec,) = specs(tape).specs

    assert loops(spec) == [(50, 50, False), (65, 128, True)]
    assert spec.reduction
    result = spec.arguments[1].layout
    assert result is not None
    assert result.sparse
    assert result.bytes == 50 * 128


def test_a_sum_across_the_sticks_keeps_them() -> None:
    tape = HalfTape()
    tape.op("sum.dim_IntList", [tape.given("x", 50, 65)], tape.half(65), dim=[0])
    (spec,) = specs(tape).specs

    assert loops(spec) == [(50, 50, True), (65, 128, False)]
    assert sizes(spec) == [[2, 50, 64], [2, 64]]


def test_the_weight_of_a_linear_layer_is_padded_and_laid_out_anew() -> None:
    """`C[m, n] = A[m, k] @ B[k, n]` wants `B` along `n`, and zeros behind `k` where the sticks of `A` are not full."""
    tape = HalfTape()
    weight = tape.parameter("weight", 63, 65, dtype="float16")
    turned = tape.view("t.default", weight, 65, 63, stride=(1, 65))
    tape.op("mm.default", [tape.given("x", 8, 65), turned], tape.half(8, 63))
    (spec,) = specs(tape).specs

    assert loops(spec) == [(8, 8, False), (63, 64, False), (65, 128, True)]
    told = [(each.kind, each.argument, each.dimension, each.layout and each.layout.size) for each in spec.inserted]
    assert told == [
        (InsertedKind.PADDING, 1, 0, [2, 63, 64]),
        (InsertedKind.RESTICKIFY, 1, 1, [1, 128, 64]),
    ]


def test_what_is_laid_out_anew_is_what_the_rule_tells_of() -> None:
    tape = HalfTape()
    turned = tape.view("t.default", tape.given("y", 65, 50), 50, 65, stride=(1, 50))
    tape.op("add.Tensor", [tape.given("x", 50, 65), turned], tape.half(50, 65))
    (spec,) = specs(tape).specs
    told = only(tape.judge("spyre"), "restickify")

    (insertion,) = spec.inserted
    assert (insertion.kind, spec.arguments[insertion.argument].name) == (InsertedKind.RESTICKIFY, "n0")
    assert told.facts is not None
    assert told.facts.restickified_tensors == 1  # type: ignore[union-attr]


def test_batches_of_products_have_a_loop_each() -> None:
    tape = HalfTape()
    tape.op("bmm.default", [tape.given("a", 6, 65, 64), tape.given("b", 6, 64, 65)], tape.half(6, 65, 65))
    (spec,) = specs(tape).specs

    assert loops(spec) == [(6, 6, False), (65, 65, False), (65, 128, False), (64, 64, True)]
    assert [each.stick_loop for each in spec.arguments] == ["d3", "d2", "d2"]


def test_a_tensor_without_dimensions_takes_a_stick_and_has_no_loop() -> None:
    tape = HalfTape()
    tape.op("mul.Tensor", [tape.given("x"), tape.given("y")], tape.half())
    (spec,) = specs(tape).specs

    assert loops(spec) == []
    assert sizes(spec) == [[1, 64]] * 3
    assert not spec.remarks


def test_sizes_with_symbols_are_padded_as_expressions() -> None:
    tape = Tape()
    rows, columns = symbol("s0"), symbol("s1")
    x = tape.input("x", rows, columns, dtype="float16", stride=(columns, 1))
    tape.op("relu.default", [x], tape.tensor(rows, columns, dtype="float16", stride=(columns, 1)))
    (spec,) = specs(tape).specs

    assert loops(spec) == [("s0", "s0", False), ("s1", "64*ceil((s1)/64)", False)]
    assert [each.layout for each in spec.arguments] == [None, None]
    assert spec.remarks == ["Device sizes depend on sizes that are not fixed."]


def test_what_is_looked_up_has_no_loop_along_it() -> None:
    tape = HalfTape()
    rows = tape.input("rows", 27, dtype="int64")
    tape.op("embedding.default", [tape.given("table", 8, 27), rows], tape.half(27, 27))
    (spec,) = specs(tape).specs

    assert loops(spec) == [(27, 27, False), (27, 64, False)]
    assert [each.stick_loop for each in spec.arguments] == ["", "", "d1"]
    assert spec.arguments[1].device_dtype == "int32"


def test_loops_that_inductor_lowered_otherwise_are_shown_as_they_are() -> None:
    tape = HalfTape()
    tape.op("avg_pool2d.default", [tape.given("x", 1, 1, 64, 64)], tape.half(1, 1, 1, 1))
    (spec,) = specs(tape, loops=LoweredLoops((1, 1, 1, 1), (64, 64))).specs

    assert loops(spec) == [(1, None, False)] * 4 + [(64, None, True)] * 2
    assert "not known" in spec.remarks[0]


def test_the_loops_of_a_librarys_kernel_are_not_guessed() -> None:
    tape = HalfTape()
    tape.op("grid_sampler_2d.default", [tape.given("x", 64), tape.given("grid", 64)], tape.half(64))
    (spec,) = specs(tape, external=True).specs

    assert not spec.loops
    assert "k for it" in spec.remarks[0]


def test_what_runs_on_the_host_says_so() -> None:
    tape = HalfTape()
    tape.op("cumsum.default", [tape.given("x", 64)], tape.half(64), dim=0)
    (spec,) = specs(tape).specs

    assert any("host" in remark for remark in spec.remarks)


def test_views_have_no_spec_and_what_is_computed_again_says_where_else() -> None:
    tape = HalfTape()
    turned = tape.view("t.default", tape.given("x", 8, 64), 64, 8, stride=(1, 64))
    tape.op("relu.default", [turned], tape.half(64, 8))
    found = specs(tape, kernels=("k", "l")).specs

    assert [(spec.op, spec.kernel) for spec in found] == [("aten.relu.default", "k"), ("aten.relu.default", "l")]
    assert not found[0].remarks
    assert "k as well" in found[1].remarks[0]


def test_what_comes_from_nowhere_is_called_as_the_graph_calls_it() -> None:
    tape = HalfTape()
    tape.op("relu.default", [tape.half(64)], tape.half(64))
    (spec,) = specs(tape, operands=("saved",)).specs

    assert [each.name for each in spec.arguments] == ["saved", "n0"]


def test_what_only_the_compiler_knows_is_named() -> None:
    tape = HalfTape()
    tape.op("relu.default", [tape.given("x", 65)], tape.half(65))
    found = specs(tape)
    text, places = spec_text(found, found.specs)

    assert found.origin is SpecOrigin.DERIVED
    assert found.left_out == list(LEFT_OUT)
    assert all(words in text for words in LEFT_OUT)
    assert "d0 = 65 (padded to 128)" in text
    assert "x: float16[65] -> sen169_fp16[2, 64], stride map [64, 1], sticks along dimension 0 (d0)" in text
    assert not places


@dataclasses.dataclass(frozen=True)
class _Tiled(Profile):
    """An accelerator of its own: 16 elements to a tile of the first dimension, whatever the profile says of sticks."""

    stick: int = 0

    @property
    def has_layouts(self) -> bool:
        return True

    def own_layout(
        self, shape: Sequence[int], stride: Sequence[int], dtype: str, element_bytes: int
    ) -> DeviceLayout | None:
        tiles = -(-shape[0] // 16) if shape else 1
        return DeviceLayout([tiles, 16], [16, 1], tiles * 16 * element_bytes, 0, self.stick)


@pytest.mark.parametrize(("stick", "padded"), [(0, 80), (7, 65)])
def test_the_layouts_are_those_that_an_adapter_gives(stick: int, padded: int) -> None:
    tape = HalfTape()
    turned = tape.view("t.default", tape.given("y", 8, 65), 65, 8, stride=(1, 65))
    tape.op("add.Tensor", [tape.given("x", 65, 8), turned], tape.half(65, 8))
    (spec,) = specs(tape, _Tiled("tiled", stick=stick)).specs

    assert sizes(spec) == [[5, 16]] * 3
    assert loops(spec) == [(65, padded, False), (8, 8, False)]
    assert not spec.inserted, "where there are no sticks nothing is known of restickifying"


class _Broken:
    """An adapter as its guard leaves it when its layout has raised."""

    problems = ("Adapter 'broken' raised.",)

    def has(self, hook: str) -> bool:
        return False


def test_an_adapter_that_raised_is_named_beside_the_specs() -> None:
    tape = HalfTape()
    tape.op("relu.default", [tape.given("x", 65)], tape.half(65))
    found = specs(tape, AdapterProfile("broken", adapter=_Broken()))  # type: ignore[arg-type]

    assert found.notes == ["Adapter 'broken' raised."]
    assert "note: Adapter 'broken' raised." in spec_text(found, found.specs)[0]
    assert "x: float16[65] -> float16, no layout of its own" in spec_text(found, found.specs)[0]
