"""How two tensors are compared: tolerances, what else must agree, and how much is reported.

This is plain data. It compares nothing, and it never decides what a difference means: see `tensors` and the verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

TOLERANCES: dict[torch.dtype, tuple[float, float]] = {
    torch.float16: (1e-5, 1e-3),
    torch.bfloat16: (1e-5, 1.6e-2),
    torch.float32: (1e-5, 1.3e-6),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (1e-5, 1e-3),
    torch.complex64: (1e-5, 1.3e-6),
    torch.complex128: (1e-7, 1e-7),
    torch.quint8: (1e-5, 1.3e-6),
    torch.qint8: (1e-5, 1.3e-6),
    torch.qint32: (1e-5, 1.3e-6),
    torch.float8_e4m3fn: (0.0, 2**-3),
    torch.float8_e4m3fnuz: (0.0, 2**-3),
    torch.float8_e5m2: (0.0, 2**-2),
    torch.float8_e5m2fnuz: (0.0, 2**-2),
}
"""`(atol, rtol)` of each dtype that is not compared exactly.

Those of `torch.testing.assert_close` (its table "default tolerances"). It has none for float8: one step, `finfo.eps`.
"""


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Two elements agree where `|actual - reference| <= atol + rtol * |reference|`, as in `torch.isclose`."""

    atol: float
    rtol: float


@dataclass(frozen=True, slots=True)
class ComparisonConfig:
    """What a comparison asks for.

    `atol` and `rtol` default to those of the dtypes. `max_mismatch` is the share of elements, in percent, that may lie
    outside of them, for results that are compared by hand: a verdict on a backend does not depend on it. `worst` bounds
    the list of the worst elements. With `equal_nan` two NaN agree. Different dtypes are a problem unless `check_dtype`
    is off. Different devices are one if `check_device` is on; left alone, it is on for what two backends make of one
    model, and off for any two tensors. The values are compared all the same. `block_elements` is how many elements are
    looked at together.

    Raises:
        ValueError: a tolerance is negative or NaN, or a size is too small.
    """

    atol: float | None = None
    rtol: float | None = None
    worst: int = 10
    equal_nan: bool = True
    check_dtype: bool = True
    check_device: bool | None = None
    block_elements: int | None = None
    max_mismatch: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("atol", self.atol), ("rtol", self.rtol)):
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be 0 or more, not {value}")
        if not 0 <= self.max_mismatch <= 100:
            raise ValueError(f"max_mismatch is a share in percent, from 0 to 100, not {self.max_mismatch}")
        if self.worst < 0:
            raise ValueError(f"worst must be 0 or more, not {self.worst}")
        if self.block_elements is not None and self.block_elements < 1:
            raise ValueError(f"block_elements must be at least 1, not {self.block_elements}")

    def tolerances(self, *dtypes: torch.dtype) -> Tolerances:
        """What is asked for, else the larger of the defaults of `dtypes`."""
        defaults = [TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes] or [(0.0, 0.0)]
        atol = max(default[0] for default in defaults) if self.atol is None else float(self.atol)
        rtol = max(default[1] for default in defaults) if self.rtol is None else float(self.rtol)
        return Tolerances(atol, rtol)

    def checks_device(self, default: bool) -> bool:
        """Whether different devices are a problem; `default` where that was left alone."""
        return default if self.check_device is None else self.check_device

    @property
    def exact(self) -> bool:
        """Whether nothing but equality was asked for."""
        return self.atol == 0 and self.rtol == 0


def number_for_json(value: float | None) -> float | None:
    """`value`, or None where JSON has no such number (NaN and the infinities)."""
    return None if value is None or not math.isfinite(value) else value
