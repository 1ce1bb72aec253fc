"""Faults that are put in on purpose spoil what they say, where they say, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from inductor_debug.accelerators.number_formats import BFLOAT16, SEN169_FP16
from inductor_debug.kerneldiff.emulation.emulation import EmulatedArithmetic
from inductor_debug.kerneldiff.emulation.injected_faults import (
    ArithmeticFault,
    FaultyArithmetic,
    Injection,
    read_injection,
)
from inductor_debug.kerneldiff.execution.operation_arithmetic import Eager
from inductor_debug.kerneldiff.metrics.tensor_comparison import compare_tensors
from torch.fx import Graph, Node

pytestmark = pytest.mark.torch

aten = torch.ops.aten
UNIT = 2.0**-23


def node(func: Any, line: int = 0) -> Node:
    made = Graph().call_function(func)
    made.meta["line"] = line
    return made


def run(fault: str, func: Any, *args: Any, line: int = 0, emulated: bool = False, **kwargs: Any) -> Any:
    arithmetic = EmulatedArithmetic("169", SEN169_FP16) if emulated else Eager(UNIT)
    faulty = FaultyArithmetic(arithmetic, [read_injection(fault)], lambda found: found.meta["line"])
    return faulty.compute(node(func, line), args, kwargs)


def test_the_last_stick_of_a_result_is_lost() -> None:
    values = torch.ones(2, 70)
    found = run("drop-last-stick", aten.mul.Tensor, values, 3.0)
    assert found[:, :64].eq(3).all()
    assert found[:, 64:].eq(0).all()
    whole = run("drop-last-stick", aten.mul.Tensor, torch.ones(2, 64), 3.0)
    assert whole[0].tolist() == [3.0] * 32 + [0.0] * 32


def test_the_last_stick_of_what_is_added_is_lost() -> None:
    assert run("drop-last-stick", aten.sum.default, torch.ones(100)).item() == 96
    product = run("drop-last-stick", aten.addmm.default, torch.ones(3), torch.ones(2, 70), torch.ones(70, 3))
    assert product.eq(65).all()


def test_a_fallback_gives_zeros() -> None:
    assert run("zero-output", aten.relu.default, torch.ones(3)).tolist() == [0, 0, 0]
    values, indices = run("zero-output", aten.topk.default, torch.arange(5.0), 2)
    assert (values.tolist(), indices.tolist()) == ([0, 0], [0, 0])


def test_int64_loses_its_upper_half() -> None:
    assert run("downcast-int64", aten.add.Tensor, torch.tensor([2**40 + 3, 5]), 1).tolist() == [4, 6]


@pytest.mark.parametrize("emulated", [False, True])
def test_sums_in_the_wrong_order_are_clearly_worse(emulated: bool) -> None:
    torch.manual_seed(0)
    left, right = torch.rand(16, 768), torch.rand(768, 16)
    exact = left.double() @ right.double()
    good = (EmulatedArithmetic("169", SEN169_FP16) if emulated else Eager(UNIT)).compute(
        node(aten.mm.default), (left, right), {}
    )
    found = run("reduction-order", aten.mm.default, left, right, emulated=emulated)
    assert found.dtype is left.dtype
    errors = [compare_tensors(exact, side.double()).metrics.rmse or 0 for side in (good, found)]
    assert errors[1] > 8 * errors[0]


@pytest.mark.parametrize(("emulated", "unit"), [(False, UNIT), (True, SEN169_FP16.unit)])
def test_wrong_rounding_is_several_units_off_and_towards_zero(emulated: bool, unit: float) -> None:
    values = torch.rand(10_000) + 1
    found = run("wrong-rounding", aten.mul.Tensor, values, 1.0, emulated=emulated)
    off = (values - found) / unit
    assert off.min() >= -0.51
    assert 6 < off.max() <= 8.5


@pytest.mark.parametrize("fault", list(ArithmeticFault))
def test_a_line_keeps_a_fault_to_itself(fault: ArithmeticFault) -> None:
    values = torch.rand(4, 70)
    assert torch.equal(run(f"{fault.value}@12", aten.mul.Tensor, values, 3.0, line=10), values * 3.0)
    spoilt = run(f"{fault.value}@12", aten.sum.dim_IntList, values, [1], line=11)
    assert torch.equal(spoilt, values.sum(1)) == (fault is ArithmeticFault.DOWNCAST_INT64)


@pytest.mark.parametrize("fault", list(ArithmeticFault))
def test_views_and_the_best_result_are_never_spoilt(fault: ArithmeticFault) -> None:
    values = torch.rand(4, 70)
    assert torch.equal(run(fault.value, aten.t.default, values), values.t())
    faulty = FaultyArithmetic(EmulatedArithmetic("x", BFLOAT16), [Injection(fault)], lambda found: None)
    good = EmulatedArithmetic("x", BFLOAT16).ideal(node(aten.neg.default), (values,), {})
    assert torch.equal(faulty.ideal(node(aten.neg.default), (values,), {}), good)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("drop-last-stik", "did you mean 'drop-last-stick'"),
        ("nonsense", "there are downcast-int64, drop-last-stick"),
        ("zero-output@", "must end in a line number"),
        ("zero-output@x", "such as zero-output@12"),
        ("zero-output@0", "must end in a line number"),
    ],
)
def test_faults_that_do_not_exist_are_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_injection(text)


def test_lines_are_counted_as_editors_show_them() -> None:
    assert read_injection("zero-output@1") == Injection(ArithmeticFault.ZERO_OUTPUT, 0)
    assert read_injection("wrong-rounding") == Injection(ArithmeticFault.WRONG_ROUNDING, None)
