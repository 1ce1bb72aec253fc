"""Rules of GPUs: each speaks where another way would save a part of the run, says how much, and is silent elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from inductor_debug.accelerators.profile import load_document
from inductor_debug.rules.captures.codec import packed, unpacked
from inductor_debug.rules.recording.ops import HostRead, Origin, Product, TensorMeta
from inductor_debug_schema import Misalignment, PricedRun, Severity
from recordings import FALLBACK, Tape, at, lines, only

RULES = {"slow-dtype", "tf32", "matrix-padding", "launch-bound", "channels-last"}


def product(tape: Tape, m: int, k: int, n: int, dtype: str, *, weight: TensorMeta | None = None) -> TensorMeta:
    """`x @ weight.T`, the weight a parameter as a linear layer has it."""
    weight = weight or tape.parameter("head.weight", n, k, dtype=dtype)
    turned = tape.tensor(k, n, dtype=dtype, stride=(1, k), base=weight)
    tape.op("t.default", [weight], turned, view=True)
    return tape.op("mm.default", [tape.input("x", m, k, dtype=dtype), turned], tape.tensor(m, n, dtype=dtype))


def told(tape: Tape, accelerator: Any) -> set[str]:
    return {finding.rule for finding in tape.judge(accelerator)} & RULES


def language_model_head(vocabulary: int, dtype: str = "bfloat16") -> Tape:
    tape = Tape()
    product(tape, 8192, 768, vocabulary, dtype)
    return tape


def test_a_vocabulary_that_matrix_units_cannot_read_in_whole_pieces() -> None:
    finding = only(language_model_head(50257).judge("h100"), "matrix-padding")
    assert (finding.severity, finding.range.start.line) == (Severity.INFORMATION, 800)
    assert isinstance(finding.facts, Misalignment)
    assert (finding.facts.odd_sizes[0].odd_size, finding.facts.odd_sizes[0].next_size) == (50257, 50304)
    assert finding.facts.multiple == 8
    assert "73.62 MiB, 46.1 µs beside a run of at least" in finding.message
    assert finding.message.endswith("50304 is 0.094 % more memory.")


@pytest.mark.parametrize(
    ("vocabulary", "dtype", "accelerator"),
    [(50304, "bfloat16", "h100"), (50264, "bfloat16", "h100"), (50257, "float32", "h100"), (50257, "bfloat16", "cuda")],
)
def test_no_padding_is_asked_for(vocabulary: int, dtype: str, accelerator: str) -> None:
    assert "matrix-padding" not in told(language_model_head(vocabulary, dtype), accelerator)


def test_with_tf32_float32_has_pieces_of_four() -> None:
    tape = language_model_head(50257, "float32")
    tape.recording.tf32 = frozenset(Product)
    assert "is no multiple of 4, as" in only(tape.judge("h100"), "matrix-padding").message


def test_a_small_classifier_beside_a_large_product_is_left_alone() -> None:
    tape = Tape()
    product(tape, 8192, 8192, 8192, "bfloat16")
    product(tape, 8192, 8192, 10, "bfloat16", weight=tape.parameter("classes.weight", 10, 8192, dtype="bfloat16"))
    assert told(tape, "h100") == set()


def test_products_in_float32_are_told_once_with_what_tf32_saves() -> None:
    tape = Tape()
    for _ in range(3):
        product(tape, 4096, 4096, 4096, "float32")
    finding = only(tape.judge("h100"), "tf32")
    assert (finding.count, finding.severity) == (3, Severity.INFORMATION)
    assert (finding.path, finding.range) == (FALLBACK.path, FALLBACK.range)
    assert isinstance(finding.facts, PricedRun)
    operations = 3 * 2 * 4096**3
    assert finding.facts.bound_seconds == pytest.approx(operations / 66.9e12)
    assert finding.facts.saved_seconds == pytest.approx(operations / 66.9e12 - operations / 494.7e12)
    tape.recording.tf32 = frozenset({Product.MATMUL})
    assert told(tape, "h100") == set()


def test_nothing_is_said_of_tf32_where_it_is_no_faster_or_the_memory_is_slower() -> None:
    tape = Tape()
    product(tape, 4096, 4096, 4096, "float32")
    assert told(tape, "rtx-4090") == told(tape, "t4") == told(tape, "mps") == set()
    thin = Tape()
    product(thin, 1, 4096, 4096, "float32")
    assert told(thin, "h100") == set()


def test_float64_has_a_price_where_it_is_slow() -> None:
    tape = Tape()
    product(tape, 1024, 1024, 1024, "float64")
    finding = only(tape.judge("rtx-4090"), "slow-dtype")
    assert (
        "1 product in float64, which accelerator 'rtx-4090' computes at 1/64 of the rate of float32" in finding.message
    )
    assert lines(tape.judge("rtx-4090"), "slow-dtype") == [1]
    assert told(tape, "h100") == set(), "as fast as float32, on its matrix units"


def test_bfloat16_on_turing() -> None:
    tape = Tape()
    x = tape.input("x", 64, dtype="bfloat16")
    tape.op("relu.default", [x], tape.tensor(64, dtype="bfloat16"))
    tape.op("relu.default", [x], tape.tensor(64, dtype="bfloat16"))
    finding = only(tape.judge("t4"), "slow-dtype")
    assert finding.count == 2
    assert "torch.compile leaves the graph to eager mode; products in float16 run at 65 TFLOP/s" in finding.message
    assert told(tape, "rtx-3090") == set()
    moved = Tape()
    moved.op("clone.default", [moved.input("x", 64, dtype="bfloat16")], moved.tensor(64, dtype="bfloat16"))
    assert told(moved, "t4") == set(), "what is only kept in it is not computed in it"


def test_what_emulating_a_dtype_costs() -> None:
    tape = Tape()
    made = product(tape, 1024, 1024, 1024, "bfloat16")
    tape.op("relu.default", [made], tape.tensor(1024, 1024, dtype="bfloat16"))
    finding = only(tape.judge("t4"), "slow-dtype")
    assert isinstance(finding.facts, PricedRun)
    # A multiplication and an addition for each of 1024^3 pairs at 8.1 TFLOP/s; then the product is read and written.
    now = 2 * 1024**3 / 8.1e12 + 2 * 2 * 1024**2 / 320e9
    assert finding.facts.bound_seconds == pytest.approx(now, rel=0.01)
    # In float16 at 65 TFLOP/s, and the rest is computed with it.
    assert finding.facts.saved_seconds == pytest.approx(now - 2 * 1024**3 / 65e12, rel=0.01)
    assert finding.message.endswith("65 TFLOP/s, 245 µs less of a run of at least 278 µs.")
    assert told(tape, "rtx-3090") == set()


def chain(length: int, width: int, batch: int = 1) -> Tape:
    tape = Tape()
    for _ in range(length):
        product(tape, batch, width, width, "bfloat16")
    return tape


def test_many_small_kernels() -> None:
    finding = only(chain(24, 256).judge("h100"), "launch-bound")
    assert "launching 24 products one by one takes 78 µs on accelerator 'h100'" in finding.message
    assert isinstance(finding.facts, PricedRun)
    assert finding.facts.saved_seconds == pytest.approx(78e-6, rel=0.05)
    assert finding.count == 24


def test_few_kernels_or_large_ones_are_not_bound_by_launches() -> None:
    assert told(chain(4, 256), "h100") == set()
    assert told(chain(24, 4096, batch=4096), "h100") == set()


def test_a_library_that_multiplies_at_each_step_of_a_sequence_is_one_call() -> None:
    tape = Tape()
    weight = tape.parameter("gru.weight_hh", 256, 256, dtype="bfloat16")
    for _ in range(512):
        h = tape.tensor(1, 256, dtype="bfloat16")
        tape.op("mm.default", [h, weight], tape.tensor(1, 256, dtype="bfloat16"), at(7), module="gru")
    assert told(tape, "h100") == set()


def convolution(*, last: bool, dtype: str = "float16", window: int = 3, batch: int = 1) -> Tape:
    tape = Tape()
    stride = (window * window * 512, 1, window * 512, 512) if last else None
    weight = tape.parameter("conv.weight", 512, 512, window, window, dtype=dtype, stride=stride)
    image = tape.input("image", batch, 512, 28, 28, dtype=dtype)
    tape.op("convolution.default", [image, weight], tape.tensor(batch, 512, 28, 28, dtype=dtype), transposed=False)
    return tape


def test_weights_that_are_copied_in_every_run() -> None:
    finding = only(convolution(last=False).judge("h100"), "channels-last")
    assert isinstance(finding.facts, PricedRun)
    assert finding.facts.saved_seconds == pytest.approx(2 * 512 * 512 * 9 * 2 / 3352e9)


@pytest.mark.parametrize(
    "said",
    [{"last": True}, {"last": False, "dtype": "float32"}, {"last": False, "window": 1}, {"last": False, "batch": 512}],
)
def test_weights_that_need_no_copy_or_cost_little(said: dict[str, Any]) -> None:
    assert "channels-last" not in told(convolution(**said), "h100")


def test_without_a_gpu_none_of_them_speaks() -> None:
    for tape in (language_model_head(50257), chain(24, 256), convolution(last=False)):
        for accelerator in ("none", "mock", "spyre", "cuda", "rocm"):
            assert told(tape, accelerator) == set()


def test_of_a_gpu_that_nobody_chose_only_what_is_slow_by_far_is_told() -> None:
    def unchosen(name: str) -> dict[str, Any]:
        document = load_document(name)
        return {**document, "source": {**document["source"], "seen": True}}

    for tape in (chain(24, 256), convolution(last=False), language_model_head(50257)):
        assert told(tape, "h100") != set()
        assert told(tape, unchosen("h100")) == set()
    tape = Tape()
    product(tape, 1024, 1024, 1024, "float64")
    assert told(tape, unchosen("t4")) == {"slow-dtype"}


def test_a_tensor_that_the_code_makes_on_the_cpu() -> None:
    tape = Tape()
    tape.op("arange.default", [], tape.tensor(1024, dtype="int64"), at(3), device="cpu", end=1024)
    tape.op("arange.default", [], tape.tensor(1024, dtype="int64"), at(4), device="cpu", end=1024)
    tape.recording.on_host = frozenset({0})
    for accelerator in ("cuda", "rocm", "mps", "h100"):
        assert lines(tape.judge(accelerator), "host-tensor") == [3]
    assert "made on the CPU (8 KiB)" in only(tape.judge("mps"), "host-tensor").message
    assert tape.judge("none") == []
    kept = unpacked(packed(tape.recording))
    assert (kept.on_host, kept.tf32) == (frozenset({0}), frozenset())


def waiting(*reads: HostRead, width: int = 256) -> Tape:
    """Two products, a number asked for between them, and what the code reads by name."""
    tape = Tape()
    first = product(tape, 64, width, width, "float32")
    number = tape.op("max.default", [first], tape.tensor(), at(5))
    tape.op("_local_scalar_dense.default", [number], None, at(6))
    product(tape, 64, width, width, "float32")
    tape.recording.host_reads = list(reads)
    return tape


def test_the_host_waits_for_the_gpu_in_the_middle_of_a_run() -> None:
    found = only(waiting().judge("h100"), "host-sync")
    price = 3.25e-6 + 8 / 64e9
    assert (found.range.start.line, found.severity) == (6, Severity.INFORMATION)
    assert found.facts == PricedRun(pytest.approx(6.5e-6 + price), pytest.approx(price))
    assert "the host fetches 8 B from the GPU here (1 time in a run)" in found.message


def test_what_is_copied_by_name_has_its_bytes_in_the_price() -> None:
    tape = waiting()
    first = tape.recording.ops[1].outputs[0]
    tape.recording.host_reads = [HostRead(2, first, at(7))]
    copied = next(finding for finding in tape.judge("h100") if finding.range.start.line == 7)
    assert isinstance(copied.facts, PricedRun)
    assert copied.facts.saved_seconds == pytest.approx(3.25e-6 + 64 * 256 * 4 / 64e9)
    kept = unpacked(packed(tape.recording))
    assert kept.host_reads == tape.recording.host_reads


def test_nothing_is_said_of_waits_that_cost_nothing_or_are_none() -> None:
    at_the_end = waiting()
    del at_the_end.recording.ops[4:]
    given = waiting()
    given.recording.origins = {
        key: Origin("constant", "", (), one.meta) for key, one in given.recording.origins.items()
    }
    unknown = waiting()
    unknown.recording.host_reads = None
    for tape in (at_the_end, given, unknown, waiting(width=65536)):
        assert lines(tape.judge("h100"), "host-sync") == []
    assert lines(waiting().judge("cuda"), "host-sync") == []
