"""Inputs that a script makes have the shape, strides and dtype that were recorded, whatever they are."""

from __future__ import annotations

import pytest
import torch
from inductor_debug.repro.program.program import Input, Spec
from inductor_debug.repro.script.writing import constructor

pytestmark = pytest.mark.torch

DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "float8_e5m2",
    "float8_e4m3fn",
    "complex64",
    "bool",
    "int64",
    "int8",
    "uint8",
]
LAYOUTS = {
    "contiguous": ((2, 3), (3, 1)),
    "transposed": ((2, 3), (1, 2)),
    "expanded": ((2, 3), (0, 1)),
    "scalar": ((), ()),
    "empty": ((0, 3), (3, 1)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("statistics", [(0.0, 1.0), (0.5, 2.0)])
def test_a_constructor_makes_what_it_says(dtype: str, layout: str, statistics: tuple[float, float]) -> None:
    shape, stride = LAYOUTS[layout]
    mean, deviation = statistics
    item = Input("x", Spec(shape, stride, dtype), mean=mean, deviation=deviation)
    made = eval(constructor(item, {}, False), {"torch": torch})
    assert (tuple(made.shape), made.dtype) == (shape, getattr(torch, dtype))
    assert made.stride() == stride
