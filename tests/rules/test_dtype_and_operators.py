"""`dtype` beyond folding, and `unsupported-op`: every overload that an entry means, and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from inductor_debug_schema import CpuFallback, Severity
from recordings import Tape, lines, only


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_mock_refuses(dtype: str) -> None:
    tape = Tape()
    tape.op("relu.default", [tape.input("x", 4, dtype=dtype)], tape.tensor(4, dtype=dtype))
    assert lines(tape.judge(), "dtype") == [900]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int32", "bool"])
def test_mock_accepts(dtype: str) -> None:
    tape = Tape()
    tape.op("relu.default", [tape.input("x", 4, dtype=dtype)], tape.tensor(4, dtype=dtype))
    assert tape.judge() == []


def test_spyre_says_that_it_stores_int64_as_int32() -> None:
    tape = Tape()
    ids = tape.input("input_ids", 1, 128, dtype="int64")
    tape.op("embedding.default", [tape.parameter("weight", 64, 64, dtype="float16"), ids], tape.tensor(1, 128, 64))
    finding = only(tape.judge("spyre"), "dtype")
    assert finding.severity is Severity.INFORMATION
    assert finding.message.startswith("accelerator 'spyre' stores int64 as int32: values outside")


def test_a_forbidden_dtype_made_from_a_stored_one_is_not_hidden_by_it() -> None:
    tape = Tape()
    ids = tape.input("ids", 64, dtype="int64")
    tape.op("div.Tensor", [ids], tape.tensor(64, dtype="float64"))
    findings = tape.judge("spyre")
    assert {
        finding.range.start.line: finding.message.split()[0] for finding in findings if finding.rule == "dtype"
    } == {
        900: "accelerator",
        0: "float64",
    }


def run(overload: str, rank: int = 1, accelerator: Any = "mock", dtype: str = "float16", **arguments: Any) -> list[str]:
    tape = Tape()
    shape = (64,) * rank
    tape.op(overload, [tape.input("x", *shape, dtype=dtype)], tape.tensor(*shape, dtype=dtype), **arguments)
    return [finding.message for finding in tape.judge(accelerator) if finding.rule == "unsupported-op"]


DENIED_BY_MOCK: list[tuple[str, int, dict[str, Any]]] = [
    ("linalg_lu.default", 2, {}),
    ("linalg_lu.out", 2, {}),
    ("linalg_lu_factor_ex.default", 2, {}),
    ("linalg_lu_solve.default", 2, {}),
    ("lu_unpack.default", 2, {}),
    ("lu_solve.default", 2, {}),
    ("_linalg_solve_ex.default", 2, {}),
    ("_linalg_solve_ex.result", 2, {}),
    ("linalg_inv_ex.default", 2, {}),
    ("kthvalue.default", 1, {}),
    ("kthvalue.values", 1, {}),
    ("prelu.default", 1, {}),
    ("_prelu_kernel.default", 1, {}),
    ("convolution.default", 4, {"transposed": True}),
    ("convolution.default", 5, {"transposed": False}),
    ("_convolution_double_backward.default", 4, {}),
    ("relu_.default", 1, {}),
    ("leaky_relu_.default", 1, {}),
    ("silu_.default", 1, {}),
    ("hardtanh_.default", 1, {}),
    ("elu_.default", 1, {}),
]


@pytest.mark.parametrize(("overload", "rank", "arguments"), DENIED_BY_MOCK)
def test_mock_denies(overload: str, rank: int, arguments: dict[str, Any]) -> None:
    (message,) = run(overload, rank, **arguments)
    assert overload.split(".")[0] in message


def test_a_write_in_place_is_judged_as_functionalisation_leaves_it() -> None:
    tape = Tape()
    x = tape.input("x", 4)
    own = tape.op("mul.Tensor", [x], tape.tensor(4))
    tape.op("relu_.default", [own], own)
    assert tape.judge() == []
    tape.op("relu_.default", [tape.view("view.default", x, 2, 2)], None)
    assert "relu_ with a write into an input, a parameter or a buffer" in only(tape.judge(), "unsupported-op").message


@pytest.mark.parametrize(
    ("overload", "rank", "arguments"),
    [
        ("convolution.default", 4, {"transposed": False}),
        ("convolution.default", 3, {"transposed": False}),
        ("convolution_backward.default", 4, {"transposed": False}),
        ("relu.default", 1, {}),
        ("leaky_relu.default", 1, {}),
        ("add_.Tensor", 1, {}),
        ("cholesky_solve.default", 2, {}),
        ("linalg_cholesky_ex.default", 2, {}),
        ("topk.default", 1, {}),
        ("_prelu_kernel_backward.default", 1, {}),
    ],
)
def test_mock_admits(overload: str, rank: int, arguments: dict[str, Any]) -> None:
    assert run(overload, rank, **arguments) == []


@pytest.mark.parametrize(
    ("overload", "dtype", "denied"),
    [
        ("rsqrt.default", "float32", False),
        ("rsqrt_.default", "float32", False),
        ("log.default", "float32", True),
        ("log.default", "float16", False),
        ("tanh_.default", "float32", True),
        ("gelu.default", "float32", True),
        ("mm.default", "float32", True),
        ("addmm.default", "float32", True),
        ("mean.dim", "float32", False),
        ("sub.Tensor", "int32", True),
        ("add.Tensor", "int64", False),
        ("mm.default", "bfloat16", False),
        ("add.Tensor", "float8_e4m3fn", True),
        ("_scaled_mm.default", "float8_e4m3fn", False),
        ("clone.default", "float8_e4m3fn", False),
        ("all.out", "bool", True),
        ("all.default", "bool", False),
        ("any.all_out", "bool", True),
        ("any.default", "bool", False),
        ("scatter.src", "float16", True),
        ("scatter_add_.default", "float16", True),
        ("index_put_.default", "float16", False),
        ("index.Tensor", "float16", False),
        ("native_layer_norm_backward.default", "float16", True),
        ("embedding.default", "float16", False),
    ],
)
def test_spyre_denies_what_its_users_ran_into(overload: str, dtype: str, denied: bool) -> None:
    assert bool(run(overload, accelerator="spyre", dtype=dtype)) is denied


@pytest.mark.parametrize(
    ("overload", "dtype", "rule"),
    [
        ("sin.default", "float16", None),
        ("sin.default", "float32", None),
        ("eq.Scalar", "int64", "cpu-fallback"),
        ("eq.Scalar", "int32", None),
        ("sub.Tensor", "int64", "cpu-fallback"),
        ("floor_divide.default", "float16", "unsupported-op"),
        ("cumsum_.default", "float16", "cpu-fallback"),
        ("argmax.default", "float16", "cpu-fallback"),
        ("bitwise_or.Tensor", "bool", "cpu-fallback"),
        ("bitwise_and.Tensor", "int32", "cpu-fallback"),
        ("bitwise_and.Tensor", "bool", None),
        ("triu.default", "float16", None),
        ("triu.default", "int64", "cpu-fallback"),
        ("tril.default", "float16", "cpu-fallback"),
        ("max.dim", "int64", "cpu-fallback"),
        ("max.dim", "float16", None),
        ("where.default", "bool", "cpu-fallback"),
        ("where.self", "float16", None),
        ("fft_fft.default", "float16", "unknown-operator"),
        ("_native_batch_norm_legit_no_training.default", "float16", None),
    ],
)
def test_where_spyre_runs_an_operator(overload: str, dtype: str, rule: str | None) -> None:
    tape = Tape()
    tape.op(overload, [tape.input("x", 64, dtype=dtype)], tape.tensor(64, dtype=dtype))
    about_operators = {"cpu-fallback", "unknown-operator", "unsupported-op"}
    assert {finding.rule for finding in tape.judge("spyre")} & about_operators == ({rule} if rule else set())


def test_a_chain_on_the_host_is_told_once_with_all_that_crosses() -> None:
    tape = Tape()
    angles = tape.op("arange.default", [], tape.tensor(64, dtype="float16"))
    shown = tape.view("view.default", angles, 8, 8)
    turned = tape.op("tril.default", [shown], tape.tensor(8, 8, dtype="float16"))
    tape.op("mul.Tensor", [turned, turned], tape.tensor(8, 8, dtype="float16"))
    finding = only(tape.judge("spyre"), "cpu-fallback")
    assert finding.facts == CpuFallback(["aten.arange", "aten.tril"], 3, 128, 256, 1)
    assert "128 B go to the host and 256 B come back, in 3 transfers; 1 operation of this run" in finding.message


@pytest.mark.parametrize(
    ("match", "more", "overload", "denied"),
    [
        ("aten.foo", {}, "foo.default", True),
        ("aten.foo", {}, "foo.Scalar_out", True),
        ("aten.foo", {}, "foo_.default", False),
        ("aten.foo", {"inplace": True}, "foo_.default", True),
        ("aten.foo.Scalar", {"inplace": True}, "foo_.Scalar", True),
        ("aten.foo.Scalar", {"inplace": True}, "foo_.Tensor", False),
        ("aten.foo", {"inplace": True}, "foo__.default", False),
        ("aten.foo.Scalar", {}, "foo.Tensor", False),
        ("aten.fo*", {}, "foo.Tensor", True),
        ("aten.*.out", {}, "foo.out", True),
        ("aten.foo", {"output_ranks": 2}, "foo.default", False),
        ("aten.foo", {"arguments": {"dim": [0, 1]}}, "foo.default", True),
        ("aten.foo", {"arguments": {"dim": [1]}}, "foo.default", False),
        ("aten.foo", {"arguments": {"other": 1}}, "foo.default", False),
    ],
)
def test_an_entry_matches_every_overload_it_means(
    match: str, more: dict[str, Any], overload: str, denied: bool
) -> None:
    document = {"name": "mine", "operators": [{"match": match, **more}]}
    assert bool(run(overload, accelerator=document, dim=[0, 1])) is denied


def test_an_exception_admits_what_a_pattern_denies() -> None:
    document = {"name": "mine", "operators": [{"match": "aten.foo*"}], "allow": ["aten.foo.Tensor"]}
    assert run("foo.default", accelerator=document)
    assert not run("foo.Tensor", accelerator=document)


def test_the_message_says_why_and_what_to_use_instead() -> None:
    assert run("kthvalue.default") == [
        "aten.kthvalue is not supported by accelerator 'mock': there is no kernel that selects by rank; "
        "instead, use torch.topk or torch.sort followed by an index."
    ]


@pytest.mark.parametrize(
    ("node", "denied"), [("ConvolutionBackwardBackward0", True), ("ConvolutionBackward0", False), ("", False)]
)
def test_a_convolution_is_denied_inside_a_double_backward_only(node: str, denied: bool) -> None:
    tape = Tape()
    tape.op("convolution.default", [tape.input("x", 4, 4, 4, 4)], tape.tensor(4, 4, 4, 4), transposed=False)
    tape.recording.ops[0] = replace(tape.recording.ops[0], autograd_node=node)
    assert bool(lines(tape.judge(), "unsupported-op")) is denied
